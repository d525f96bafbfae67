//! A table has a column in one schema only.
//!
//! # What it finds
//!
//! A column of a table that both schemas have, which one of them does not have.
//!
//! # Why it bites
//!
//! Whoever adds it on one side forgets the other, and every INSERT that names it fails there.
//!
//! # Write instead
//!
//! The column in both schemas.
//!
//! # Example
//!
//! ```text
//! -- diverges(column.job.part): SQLite has no partitions
//! ```
