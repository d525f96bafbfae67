//! A write or a shared query is on one page only.
//!
//! # What it finds
//!
//! A part of a unit (an INSERT, UPDATE, DELETE, or a CTE) that the other page does not have.
//!
//! # Why it bites
//!
//! One database does something that the other does not: an event that is not written, a row that stays.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(parts): reason` under either header.
//!
//! # Example
//!
//! ```text
//! -- diverges(parts): SQLite keeps the list in a table of its own.
//! ```
