//! A declaration has no reason.
//!
//! # What it finds
//!
//! `-- diverges(FACT):`, `-- only: DIALECT —` or `-- allow(rule):` with nothing, or too little, behind it.
//!
//! # Why it bites
//!
//! The reason is what the next reader judges the difference by. Without one every difference looks meant.
//!
//! # Write instead
//!
//! A few words that say why the difference is right.
//!
//! # Example
//!
//! ```text
//! -- diverges(lock): SQLite has a single writer.
//! ```
