//! A statement is declared for the other dialect.
//!
//! # What it finds
//!
//! `-- only: pg` on a SQLite page, or the reverse.
//!
//! # Why it bites
//!
//! It would be generated for a database that it was not written for.
//!
//! # Write instead
//!
//! The page's own dialect, or move the statement.
//!
//! # Example
//!
//! ```text
//! -- only: sqlite — the pragma exists there alone
//! ```
