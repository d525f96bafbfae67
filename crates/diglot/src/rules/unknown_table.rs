//! A relation is not in the schema.
//!
//! # What it finds
//!
//! A table, view or CTE that neither the migrations nor the statement define.
//!
//! # Why it bites
//!
//! It fails when it first runs, on one database perhaps only.
//!
//! # Write instead
//!
//! The right name, or the migration that creates it.
//!
//! # Example
//!
//! ```text
//! SELECT 1 FROM ff_attempt
//! ```
