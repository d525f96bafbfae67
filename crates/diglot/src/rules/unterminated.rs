//! A quote or a comment is not closed.
//!
//! # What it finds
//!
//! A text, a quoted name, a dollar quote or a block comment that runs to the end of the file.
//!
//! # Why it bites
//!
//! Everything behind it would be read as part of it.
//!
//! # Write instead
//!
//! The missing mark.
//!
//! # Example
//!
//! ```text
//! SELECT 'done'
//! ```
