//! A result column has no usable name.
//!
//! # What it finds
//!
//! A name that no field can have, such as `"two words"`. An expression without an alias has a name: that of the other
//! page's column, or the one that Postgres would give, which the driver's text says on both databases.
//!
//! # Why it bites
//!
//! The row's struct has a field for every column.
//!
//! # Write instead
//!
//! `expression AS name`, alike on both pages.
//!
//! # Example
//!
//! ```text
//! SELECT count(*) AS "all frames" FROM ff_stream_frame
//! ```
