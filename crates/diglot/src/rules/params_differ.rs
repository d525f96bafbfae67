//! The pages use different parameters.
//!
//! # What it finds
//!
//! A parameter that stands on one page only, where no other difference explains it.
//!
//! # Why it bites
//!
//! The caller gives a value that one database ignores.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(params): reason` under either header.
//!
//! # Example
//!
//! ```text
//! WHERE partition_key = :partition_key
//! ```
