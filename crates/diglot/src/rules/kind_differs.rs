//! The pages do different kinds of things.
//!
//! # What it finds
//!
//! One statement that is an INSERT on one page and an UPDATE on the other, for instance.
//!
//! # Why it bites
//!
//! They change different data.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(kind): reason` under either header.
//!
//! # Example
//!
//! ```text
//! -- diverges(kind): Postgres routes an insert to one partition.
//! ```
