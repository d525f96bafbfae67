//! A column of a primary key may be NULL on SQLite.
//!
//! # What it finds
//!
//! With `schema_lints = true`, or with `generate = false`, where no generated function keeps NULL out: columns of a primary
//! key without NOT NULL, in a table that is neither STRICT nor WITHOUT ROWID.
//!
//! # Why it bites
//!
//! SQLite lets rows without a key in, and any number of them; Postgres never does.
//!
//! # Write instead
//!
//! NOT NULL.
//!
//! # Example
//!
//! ```text
//! id BLOB NOT NULL PRIMARY KEY
//! ```
