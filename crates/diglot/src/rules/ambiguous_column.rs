//! A column stands in several relations.
//!
//! # What it finds
//!
//! A bare name that two sources in reach have.
//!
//! # Why it bites
//!
//! One database may take the one, the other refuse.
//!
//! # Write instead
//!
//! The alias in front.
//!
//! # Example
//!
//! ```text
//! SELECT held.lease_epoch FROM ff_attempt AS held
//! ```
