//! A statement's header cannot be read.
//!
//! # What it finds
//!
//! A `-- name:` line without a name, without a word for the number of rows, or with more behind it.
//!
//! # Why it bites
//!
//! The header names the generated function and says what it returns; without it there is nothing to generate.
//!
//! # Write instead
//!
//! `-- name: noun_verb :one`, or `:opt`, `:many`, `:exec`, `:rows`, `:stream`.
//!
//! # Example
//!
//! ```text
//! -- name: lease_renew :opt
//! ```
