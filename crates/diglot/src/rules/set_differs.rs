//! The pages assign different values.
//!
//! # What it finds
//!
//! The value of an assigned column that differs, or an assignment that one page lacks.
//!
//! # Why it bites
//!
//! A state that is set on one database and forgotten on the other.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(set): reason` under either header.
//!
//! # Example
//!
//! ```text
//! SET outcome = NULL, lease_epoch = lease_epoch + 1
//! ```
