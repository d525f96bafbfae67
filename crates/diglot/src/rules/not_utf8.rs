//! A file is not UTF-8.
//!
//! # What it finds
//!
//! A statement file or a migration with a byte that no UTF-8 text has.
//!
//! # Why it bites
//!
//! Spans, literals and comments would be guesses.
//!
//! # Write instead
//!
//! Save the file as UTF-8.
//!
//! # Example
//!
//! ```text
//! -- name: tag_set :exec
//! ```
