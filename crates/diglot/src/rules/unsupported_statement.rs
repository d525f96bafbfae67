//! A statement is of a kind that cannot be compared.
//!
//! # What it finds
//!
//! DDL, MERGE, COPY and other statements without facts.
//!
//! # Why it bites
//!
//! diglot would have to trust it blindly.
//!
//! # Write instead
//!
//! SELECT, INSERT, UPDATE or DELETE in their plain forms; DDL belongs into the migrations.
//!
//! # Example
//!
//! ```text
//! UPDATE ff_attempt SET outcome = 'retry'
//! ```
