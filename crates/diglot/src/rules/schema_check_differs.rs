//! The checks differ.
//!
//! # What it finds
//!
//! A CHECK on one side only, or one of the same name with another condition. A check of SQLite that says what the
//! type of Postgres says by itself (a flag is 0 or 1, JSON is valid) is none.
//!
//! # Why it bites
//!
//! The one database refuses what the other stores.
//!
//! # Write instead
//!
//! The same condition in both schemas.
//!
//! # Example
//!
//! ```text
//! CHECK (kind IN ('claim', 'reclaim'))
//! ```
