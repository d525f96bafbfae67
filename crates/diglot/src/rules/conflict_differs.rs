//! The pages handle a conflict in different ways.
//!
//! # What it finds
//!
//! Another conflict target, DO NOTHING against DO UPDATE, another condition.
//!
//! # Why it bites
//!
//! A target that misses a column updates a row of somebody else.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(conflict): reason` under either header.
//!
//! # Example
//!
//! ```text
//! ON CONFLICT (partition_key, execution_id) DO NOTHING
//! ```
