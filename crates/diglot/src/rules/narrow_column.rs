//! A number has fewer bits on Postgres than on SQLite.
//!
//! # What it finds
//!
//! With `schema_lints = true`, or with `generate = false`, where a program fills both with 64 bits and no generated function
//! asks for fewer: a smallint or integer column of Postgres beside an INTEGER of SQLite, which no CHECK bounds.
//!
//! # Why it bites
//!
//! A counter, a size or a time outgrows 32 bits on Postgres and fails there alone.
//!
//! # Write instead
//!
//! `bigint`, or a CHECK of the bounds in both schemas.
//!
//! # Example
//!
//! ```text
//! attempts bigint NOT NULL DEFAULT 0
//! ```
