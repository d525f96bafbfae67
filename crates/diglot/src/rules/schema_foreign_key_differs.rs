//! The foreign keys differ.
//!
//! # What it finds
//!
//! A foreign key on one side only, or one that refers elsewhere or acts otherwise on DELETE or UPDATE.
//!
//! # Why it bites
//!
//! Rows vanish by CASCADE on one side and block the DELETE on the other.
//!
//! # Write instead
//!
//! The same reference with the same actions in both schemas.
//!
//! # Example
//!
//! ```text
//! REFERENCES job (id) ON DELETE CASCADE
//! ```
