//! The pages put NULLs in different places.
//!
//! # What it finds
//!
//! A key of ORDER BY that may be NULL, where the effective place of NULLs differs. SQLite takes NULL for the
//! smallest value, Postgres for the largest.
//!
//! # Why it bites
//!
//! With LIMIT the one page takes the row without a deadline first, the other last.
//!
//! # Write instead
//!
//! NULLS FIRST or NULLS LAST, on both pages.
//!
//! # Example
//!
//! ```text
//! ORDER BY deadline_at_ms NULLS LAST, execution_id
//! ```
