//! A column may be NULL in one schema only.
//!
//! # What it finds
//!
//! NOT NULL, or the lack of it, on one side.
//!
//! # Why it bites
//!
//! NULL gets in on one side, and what reads it was never tested with it.
//!
//! # Write instead
//!
//! NOT NULL in both schemas, or in neither.
//!
//! # Example
//!
//! ```text
//! owner TEXT NOT NULL
//! ```
