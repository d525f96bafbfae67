//! A migration has something that cannot be read.
//!
//! # What it finds
//!
//! A clause of a migration that diglot cannot follow, or a type without a meaning here.
//!
//! # Why it bites
//!
//! Columns that are unknown cannot be checked.
//!
//! # Write instead
//!
//! A plainer form, or a type of the map.
//!
//! # Example
//!
//! ```text
//! CREATE TABLE t (id bigint PRIMARY KEY)
//! ```
