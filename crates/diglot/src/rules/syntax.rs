//! A statement cannot be parsed.
//!
//! # What it finds
//!
//! Text that its dialect's grammar does not know.
//!
//! # Why it bites
//!
//! Nothing can be said about it.
//!
//! # Write instead
//!
//! The statement as the dialect's manual spells it.
//!
//! # Example
//!
//! ```text
//! SELECT lease_epoch FROM ff_attempt
//! ```
