//! A statement is declared for one dialect and both have it.
//!
//! # What it finds
//!
//! `-- only: DIALECT` while the facing page has the statement too.
//!
//! # Why it bites
//!
//! The two would never be compared.
//!
//! # Write instead
//!
//! Remove the line, or the other statement.
//!
//! # Example
//!
//! ```text
//! -- only: pg — the wake-up channel exists there alone
//! ```
