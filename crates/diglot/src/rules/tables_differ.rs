//! The pages read different relations.
//!
//! # What it finds
//!
//! A table, CTE or function in FROM on one page only.
//!
//! # Why it bites
//!
//! The rows differ between databases: what is tested on the one is not what runs on the other.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(tables): reason` under either header.
//!
//! # Example
//!
//! ```text
//! -- diverges(tables): SQLite has no array columns.
//! ```
