//! The recorded answers are not those of these statements.
//!
//! # What it finds
//!
//! Statements or migrations that changed since `cargo diglot prepare` asked the engines.
//!
//! # Why it bites
//!
//! The generated code would be checked against another schema.
//!
//! # Write instead
//!
//! Run `cargo diglot prepare`.
//!
//! # Example
//!
//! ```text
//! cargo diglot prepare
//! ```
