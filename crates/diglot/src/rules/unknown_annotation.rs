//! An annotation cannot be understood.
//!
//! # What it finds
//!
//! A comment that begins as an annotation does and is misspelled, has unreadable parts, or belongs to no statement.
//!
//! # Why it bites
//!
//! A declaration that is not read names no difference, and its author believes that it does.
//!
//! # Write instead
//!
//! One of `diverges(FACT)`, `only:`, `param:`, `column:`, `allow(rule)`, `returns`, beside the statement's header.
//!
//! # Example
//!
//! ```text
//! -- diverges(lock): SQLite has a single writer.
//! ```
