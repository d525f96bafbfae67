//! A step runs CONCURRENTLY inside of a transaction.
//!
//! # What it finds
//!
//! With `[migrations]` in the settings: CREATE INDEX, DROP INDEX, REINDEX or DETACH PARTITION with CONCURRENTLY in a file that a
//! migrator runs as one transaction: one without a mark such as `-- no-transaction`, or, behind that mark of sqlx and dbmate, one
//! with several statements, because both send a file as one message, which Postgres takes for one transaction.
//!
//! # Why it bites
//!
//! Postgres refuses it, and the upgrade stops.
//!
//! # Write instead
//!
//! A file with the mark and that statement alone.
//!
//! # Example
//!
//! ```text
//! -- no-transaction
//! CREATE INDEX CONCURRENTLY IF NOT EXISTS job_state ON job (state);
//! ```
