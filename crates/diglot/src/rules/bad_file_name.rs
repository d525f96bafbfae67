//! A statement file cannot name a Rust module.
//!
//! # What it finds
//!
//! A file whose stem is no free Rust identifier.
//!
//! # Why it bites
//!
//! The stem becomes the module of the file's params and rows.
//!
//! # Write instead
//!
//! A noun in snake case, directly in the dialect's folder.
//!
//! # Example
//!
//! ```text
//! sql/sqlite/lease.sql
//! ```
