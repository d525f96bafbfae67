//! Nothing says what type a result column has.
//!
//! # What it finds
//!
//! A result whose value is of no known type on either page.
//!
//! # Why it bites
//!
//! The generated row needs a type for it.
//!
//! # Write instead
//!
//! `-- column: NAME TYPE [null]`, or a cast on both pages.
//!
//! # Example
//!
//! ```text
//! -- column: lease_event_id i64
//! ```
