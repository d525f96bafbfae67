//! A parameter has two types.
//!
//! # What it finds
//!
//! A parameter that meets values of types that cannot be one.
//!
//! # Why it bites
//!
//! One of the places would compare or store a converted value.
//!
//! # Write instead
//!
//! `-- param: NAME TYPE`, or two parameters.
//!
//! # Example
//!
//! ```text
//! -- param: now_ms i64
//! ```
