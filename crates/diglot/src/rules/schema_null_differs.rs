//! A column may be NULL in one schema only.
//!
//! # What it finds
//!
//! NOT NULL, or the lack of it, on one side. A column that both schemas have in the primary key is not told here,
//! although SQLite would take NULL there: a row with such a key is on no other side, and `null-key` finds the
//! statements that would write one, `nullable-key` the schemas that would let other programs do it.
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
