//! A parameter has two types.
//!
//! # What it finds
//!
//! A parameter that meets values of types that cannot be one, or that is declared a type which Postgres does not take
//! where it stands. The two pages may each name the type that their engine has: `bytes` and `uuid`, `text` and `json`.
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
