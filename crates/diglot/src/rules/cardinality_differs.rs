//! The headers promise different numbers of rows.
//!
//! # What it finds
//!
//! `:one` on one page and `:opt`, `:many`, … on the other.
//!
//! # Why it bites
//!
//! One function serves both databases; it returns one type.
//!
//! # Write instead
//!
//! The same word in both headers.
//!
//! # Example
//!
//! ```text
//! -- name: lease_renew :opt
//! ```
