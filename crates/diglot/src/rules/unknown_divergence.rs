//! A divergence names no kind of fact.
//!
//! # What it finds
//!
//! `-- diverges(WORD)` with a word that no fact has.
//!
//! # Why it bites
//!
//! It names no difference.
//!
//! # Write instead
//!
//! One of the words of the help line: `where`, `set.column`, `columns.name`, `lock`, …
//!
//! # Example
//!
//! ```text
//! -- diverges(where): SQLite has no array columns.
//! ```
