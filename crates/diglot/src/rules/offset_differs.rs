//! The pages skip different numbers of rows.
//!
//! # What it finds
//!
//! An OFFSET that differs or is on one page only.
//!
//! # Why it bites
//!
//! The rows differ between databases: what is tested on the one is not what runs on the other.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(offset): reason` under either header.
//!
//! # Example
//!
//! ```text
//! LIMIT 1 OFFSET :kept
//! ```
