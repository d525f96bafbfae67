//! The pages put row sets together in different ways.
//!
//! # What it finds
//!
//! UNION against UNION ALL, EXCEPT, INTERSECT, or branches that differ.
//!
//! # Why it bites
//!
//! UNION drops repeated rows, UNION ALL keeps them.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(set-op): reason` under either header.
//!
//! # Example
//!
//! ```text
//! SELECT a FROM t UNION ALL SELECT b FROM u
//! ```
