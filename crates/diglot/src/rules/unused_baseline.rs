//! The baseline keeps a finding that no longer occurs.
//!
//! # What it finds
//!
//! Lines of `diglot.baseline` whose findings were repaired, or some of them.
//!
//! # Why it bites
//!
//! The line would let the same drift come back unseen.
//!
//! # Write instead
//!
//! Remove the line, or run `cargo diglot baseline`, which writes the file again.
//!
//! # Example
//!
//! ```text
//! cargo diglot baseline
//! ```
