//! A table of SQLite takes any value in any column.
//!
//! # What it finds
//!
//! With `schema_lints = true`: tables without STRICT.
//!
//! # Why it bites
//!
//! SQLite keeps a text in a column of numbers, where a CHECK such as `n > 0` lets it pass; Postgres refuses it.
//!
//! # Write instead
//!
//! STRICT behind the columns.
//!
//! # Example
//!
//! ```text
//! CREATE TABLE job (id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT;
//! ```
