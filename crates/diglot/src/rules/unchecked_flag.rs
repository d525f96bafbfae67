//! A flag may hold any number on SQLite.
//!
//! # What it finds
//!
//! With `schema_lints = true`: an integer column of SQLite beside a boolean of Postgres, without a CHECK that it is 0 or 1.
//!
//! # Why it bites
//!
//! `flag = 1` and the flag alone are two questions as soon as there is a 2.
//!
//! # Write instead
//!
//! `CHECK (flag IN (0, 1))`.
//!
//! # Example
//!
//! ```text
//! active INTEGER NOT NULL CHECK (active IN (0, 1))
//! ```
