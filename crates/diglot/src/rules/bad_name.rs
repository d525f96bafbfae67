//! A statement's name cannot name a Rust function.
//!
//! # What it finds
//!
//! A name that is not lower snake case, or is a word of Rust.
//!
//! # Why it bites
//!
//! The name becomes a function, a struct and a comment in the emitted SQL; one spelling lets one search find them
//! all.
//!
//! # Write instead
//!
//! Noun, then verb, in lower snake case.
//!
//! # Example
//!
//! ```text
//! -- name: lease_renew :opt
//! ```
