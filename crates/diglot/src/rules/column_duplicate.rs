//! Two result columns have one name.
//!
//! # What it finds
//!
//! Two outputs with the same name in one result.
//!
//! # Why it bites
//!
//! They would be one field.
//!
//! # Write instead
//!
//! Another alias for one of them.
//!
//! # Example
//!
//! ```text
//! SELECT a.id AS first_id, b.id AS second_id
//! ```
