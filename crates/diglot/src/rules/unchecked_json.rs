//! A column of JSON may hold any text on SQLite.
//!
//! # What it finds
//!
//! With `schema_lints = true`: a text column of SQLite beside a jsonb column of Postgres, without a CHECK of `json_valid`.
//! With `generate = false` too, a column without a type, unless a CHECK asks for its `typeof`.
//!
//! # Why it bites
//!
//! A text that is no JSON is found when it is read, far from where it was written; Postgres refuses it at once. A column
//! without a type keeps what a program binds as bytes as bytes, which equal no text.
//!
//! # Write instead
//!
//! TEXT, and `CHECK (json_valid(raw))`.
//!
//! # Example
//!
//! ```text
//! raw TEXT NOT NULL CHECK (json_valid(raw))
//! ```
