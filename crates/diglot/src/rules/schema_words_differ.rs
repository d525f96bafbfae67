//! The words of a column differ from those that `[words]` lists.
//!
//! # What it finds
//!
//! A CHECK that lets a column hold a list of words, or its ENUM on Postgres, where `[words]` of `diglot.toml` lists
//! others for that column.
//!
//! # Why it bites
//!
//! The Rust enum lacks a word that rows hold, which is then an error where one is read; or it has one that the database
//! refuses.
//!
//! # Write instead
//!
//! The same words in all places.
//!
//! # Example
//!
//! ```text
//! [words]
//! "task.state" = { enum = "TaskState", words = ["open", "done"] }
//!
//! CHECK (state IN ('open', 'done'))
//! ```
