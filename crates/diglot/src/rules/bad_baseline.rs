//! A line of diglot.baseline names nothing that it could keep.
//!
//! # What it finds
//!
//! Lines that are not a rule, what it is about, a seal, and a number if there is more than one; rules that a baseline
//! cannot keep, because nothing sound could be generated in spite of them; the same line twice.
//!
//! # Why it bites
//!
//! A line that nobody understands may be the one that was to keep something.
//!
//! # Write instead
//!
//! Nothing by hand: `cargo diglot baseline` writes the file.
//!
//! # Example
//!
//! ```text
//! where-differs job_get 3fa2c1
//! ```
