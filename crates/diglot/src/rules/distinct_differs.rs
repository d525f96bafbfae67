//! Equal rows are one on one page only.
//!
//! # What it finds
//!
//! DISTINCT on one page only, or DISTINCT ON with other keys.
//!
//! # Why it bites
//!
//! The rows differ between databases: what is tested on the one is not what runs on the other.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(distinct): reason` under either header.
//!
//! # Example
//!
//! ```text
//! SELECT DISTINCT lane_id FROM ff_exec_core
//! ```
