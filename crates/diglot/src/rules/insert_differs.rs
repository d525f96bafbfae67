//! The pages insert different values.
//!
//! # What it finds
//!
//! The value of a column that differs, or a column that one page does not name.
//!
//! # Why it bites
//!
//! A default on one database is not the value on the other.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(insert): reason` under either header.
//!
//! # Example
//!
//! ```text
//! INSERT INTO ff_lane_registry (lane_id, registered_at_ms) VALUES (:lane_id, :now_ms)
//! ```
