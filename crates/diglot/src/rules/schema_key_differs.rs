//! The primary keys differ.
//!
//! # What it finds
//!
//! Primary keys over different columns.
//!
//! # Why it bites
//!
//! Rows that one database takes are duplicates to the other.
//!
//! # Write instead
//!
//! The same key in both schemas.
//!
//! # Example
//!
//! ```text
//! PRIMARY KEY (namespace, worker_instance_id)
//! ```
