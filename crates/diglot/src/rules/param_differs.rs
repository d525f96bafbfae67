//! The pages use another parameter in the same place.
//!
//! # What it finds
//!
//! Two parameters that are swapped, or one in the place of another.
//!
//! # Why it bites
//!
//! Parameters of one type swap without an error: an epoch is stored as an index.
//!
//! # Write instead
//!
//! The same parameter on both pages. If the difference is meant: a `-- diverges(FACT)` of the fact that holds it.
//!
//! # Example
//!
//! ```text
//! SET last_ms = :last_ms, last_seq = :last_seq
//! ```
