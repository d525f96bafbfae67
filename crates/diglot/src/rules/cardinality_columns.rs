//! The header's promise does not fit what comes back.
//!
//! # What it finds
//!
//! `:one`, `:opt`, `:many` or `:stream` without result columns, `:exec` or `:rows` with some, or a unit in which
//! two statements return rows.
//!
//! # Why it bites
//!
//! The caller would get rows that nobody reads, or none where a row was promised.
//!
//! # Write instead
//!
//! The word that fits, or a RETURNING list.
//!
//! # Example
//!
//! ```text
//! -- name: lease_renew :opt
//! ```
