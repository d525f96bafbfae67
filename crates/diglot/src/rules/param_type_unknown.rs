//! Nothing says what type a parameter has.
//!
//! # What it finds
//!
//! A parameter that meets no column, no cast and no typed operand on either page.
//!
//! # Why it bites
//!
//! The generated function needs a type for it, and Postgres guesses text.
//!
//! # Write instead
//!
//! `-- param: NAME TYPE [null]`, or a cast.
//!
//! # Example
//!
//! ```text
//! -- param: capabilities text[]
//! ```
