//! An engine answered something else than was understood.
//!
//! # What it finds
//!
//! A recorded answer whose columns or parameters differ from what diglot inferred.
//!
//! # Why it bites
//!
//! The engine is right; the generated function would fail to decode.
//!
//! # Write instead
//!
//! A CAST, or a `-- param:` or `-- column:` annotation.
//!
//! # Example
//!
//! ```text
//! -- column: total i64
//! ```
