//! A result column has two types.
//!
//! # What it finds
//!
//! A column that gives values of different types on the two pages, or of one without a Rust type.
//!
//! # Why it bites
//!
//! One row struct serves both databases; one of them would fail to decode.
//!
//! # Write instead
//!
//! A CAST on one page, or `-- column: NAME TYPE`.
//!
//! # Example
//!
//! ```text
//! SELECT CAST(sum(n) AS bigint) AS total
//! ```
