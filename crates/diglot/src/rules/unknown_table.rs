//! A relation is not in the schema.
//!
//! # What it finds
//!
//! A table, view or CTE that neither the migrations nor the statement define, and one that migrations create in a schema
//! of Postgres where sessions do not look by themselves (`search_path` under `[prepare.pg_settings]` says that they do).
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
