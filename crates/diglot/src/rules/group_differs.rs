//! The pages group by different keys.
//!
//! # What it finds
//!
//! A key of GROUP BY on one page only.
//!
//! # Why it bites
//!
//! The rows differ between databases: what is tested on the one is not what runs on the other.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(group): reason` under either header.
//!
//! # Example
//!
//! ```text
//! GROUP BY lane_id
//! ```
