//! A result column has no usable name.
//!
//! # What it finds
//!
//! An expression without an alias, or a name that no field can have.
//!
//! # Why it bites
//!
//! Each database makes up its own name for it.
//!
//! # Write instead
//!
//! `expression AS name`, alike on both pages.
//!
//! # Example
//!
//! ```text
//! SELECT count(*) AS frames FROM ff_stream_frame
//! ```
