//! A column is not in its relation.
//!
//! # What it finds
//!
//! A name that no source in reach has.
//!
//! # Why it bites
//!
//! It fails when it first runs. On SQLite, in double quotes, it would even be taken for a text.
//!
//! # Write instead
//!
//! The right name, or the migration that adds it.
//!
//! # Example
//!
//! ```text
//! SELECT lease_epoch FROM ff_attempt
//! ```
