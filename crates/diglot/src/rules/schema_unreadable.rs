//! A migration has something that cannot be read.
//!
//! # What it finds
//!
//! A clause of a migration that diglot cannot follow, a type without a meaning here, or a DO block that puts together
//! what it does to tables when it runs. Plain statements in such a block are read as if its conditions held.
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
