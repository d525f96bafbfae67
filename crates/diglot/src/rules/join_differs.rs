//! The pages join a relation in different ways.
//!
//! # What it finds
//!
//! LEFT on one page and INNER on the other, or another ON of an outer join.
//!
//! # Why it bites
//!
//! A LEFT JOIN keeps rows that an inner one drops, and gives NULLs that the row type does not expect.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(join): reason` under either header.
//!
//! # Example
//!
//! ```text
//! LEFT JOIN ff_attempt AS held ON held.execution_id = core.execution_id
//! ```
