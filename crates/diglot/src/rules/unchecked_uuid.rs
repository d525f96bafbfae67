//! An id may have any length on SQLite.
//!
//! # What it finds
//!
//! With `schema_lints = true`: a BLOB column of SQLite beside a uuid of Postgres, without a CHECK that it has 16 bytes.
//!
//! # Why it bites
//!
//! Postgres refuses other lengths; SQLite stores them, and they match nothing.
//!
//! # Write instead
//!
//! `CHECK (length(id) = 16)`.
//!
//! # Example
//!
//! ```text
//! id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16)
//! ```
