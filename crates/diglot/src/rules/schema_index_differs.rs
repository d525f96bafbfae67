//! The indexes differ.
//!
//! # What it finds
//!
//! An index on one side only, or one of the same name with other keys or another predicate. An index by itself is
//! found by its keys, whatever its name. Of indexes that are not unique it is a warning.
//!
//! # Why it bites
//!
//! A statement that is quick on the one database reads the whole table on the other; a unique one refuses rows.
//!
//! # Write instead
//!
//! The same index in both schemas.
//!
//! # Example
//!
//! ```text
//! CREATE INDEX job_due_idx ON job (due_ms) WHERE due_ms IS NOT NULL
//! ```
