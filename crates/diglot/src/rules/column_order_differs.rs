//! The pages give their columns in another order.
//!
//! # What it finds
//!
//! The same names in another order.
//!
//! # Why it bites
//!
//! Two columns of one type that are swapped decode without an error.
//!
//! # Write instead
//!
//! The same order on both pages.
//!
//! # Example
//!
//! ```text
//! SELECT frame.ts_ms, frame.seq FROM ff_stream_frame AS frame
//! ```
