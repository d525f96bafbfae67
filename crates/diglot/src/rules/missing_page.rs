//! A file has no facing page.
//!
//! # What it finds
//!
//! A noun that one dialect has and the other has not, or a dialect without any page.
//!
//! # Why it bites
//!
//! The generated trait needs each function on both databases.
//!
//! # Write instead
//!
//! The facing file, or `-- only: DIALECT — reason` on each of its statements.
//!
//! # Example
//!
//! ```text
//! sql/pg/lease.sql
//! ```
