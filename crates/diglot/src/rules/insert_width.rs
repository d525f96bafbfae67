//! Values and columns differ in number.
//!
//! # What it finds
//!
//! An INSERT or a row assignment with more or fewer values than columns.
//!
//! # Why it bites
//!
//! It fails when it first runs.
//!
//! # Write instead
//!
//! As many values as columns.
//!
//! # Example
//!
//! ```text
//! INSERT INTO ff_lane_registry (lane_id, registered_at_ms) VALUES (:lane_id, :now_ms)
//! ```
