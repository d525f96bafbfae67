//! A statement has no facing statement.
//!
//! # What it finds
//!
//! A name that stands on one page only: deleted, renamed or misspelled on the other.
//!
//! # Why it bites
//!
//! The generated trait needs each function on both databases.
//!
//! # Write instead
//!
//! The statement on the other page, or `-- only: DIALECT — reason`.
//!
//! # Example
//!
//! ```text
//! -- only: pg — the wake-up channel exists there alone
//! ```
