//! The pages sort differently.
//!
//! # What it finds
//!
//! Other keys, another order of keys, ASC against DESC.
//!
//! # Why it bites
//!
//! With LIMIT the one page takes the oldest row and the other the newest.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(order): reason` under either header.
//!
//! # Example
//!
//! ```text
//! ORDER BY priority DESC, created_at_ms, execution_id
//! ```
