//! A file holds the marks of a merge that is not settled.
//!
//! # What it finds
//!
//! Lines that begin with `<<<<<<<`, in statement files and migrations. Nothing else is told until they are gone.
//!
//! # Why it bites
//!
//! Both sides of the merge stand there, and neither is meant.
//!
//! # Write instead
//!
//! The side that is meant.
//!
//! # Example
//!
//! ```text
//! -- name: tag_set :exec
//! ```
