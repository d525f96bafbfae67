//! The pages give different columns.
//!
//! # What it finds
//!
//! A result column that one page lacks, or whose value differs.
//!
//! # Why it bites
//!
//! One row struct serves both databases: it would be filled with something else.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(columns): reason` under either header.
//!
//! # Example
//!
//! ```text
//! SELECT frame.ts_ms, frame.seq FROM ff_stream_frame AS frame
//! ```
