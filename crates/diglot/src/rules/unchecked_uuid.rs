//! An id may have any length on SQLite.
//!
//! # What it finds
//!
//! With `schema_lints = true`, or with `generate = false`, where no generated function binds what is right: a BLOB column of
//! SQLite beside a uuid of Postgres, without a CHECK that it has 16 bytes.
//!
//! # Why it bites
//!
//! Postgres refuses other lengths; SQLite stores them, and they match nothing. A text of an id finds its row on Postgres
//! alone.
//!
//! # Write instead
//!
//! `CHECK (length(id) = 16)`, and bind the 16 bytes on SQLite.
//!
//! # Example
//!
//! ```text
//! id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16)
//! ```
