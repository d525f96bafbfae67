//! The primary keys differ.
//!
//! # What it finds
//!
//! Primary keys over different columns, and one that faces none. UNIQUE over columns that are NOT NULL is one.
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
