//! The pages take different numbers of rows.
//!
//! # What it finds
//!
//! A LIMIT that differs or is on one page only. `LIMIT -1` on SQLite is none.
//!
//! # Why it bites
//!
//! A claim without its LIMIT takes everything.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(limit): reason` under either header.
//!
//! # Example
//!
//! ```text
//! LIMIT :page_size
//! ```
