//! An ON CONFLICT names a constraint that does not exist.
//!
//! # What it finds
//!
//! `ON CONFLICT ON CONSTRAINT name` with a name that the table does not have.
//!
//! # Why it bites
//!
//! It fails when it first runs, and SQLite has no such clause.
//!
//! # Write instead
//!
//! The columns instead.
//!
//! # Example
//!
//! ```text
//! ON CONFLICT (partition_key, execution_id) DO NOTHING
//! ```
