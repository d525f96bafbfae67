//! The schemas have different tables.
//!
//! # What it finds
//!
//! A table or a view that one schema alone has, or a view in one schema that is a table in the other.
//!
//! # Why it bites
//!
//! What a statement may do with it differs, and a backup of the one database does not fit the other.
//!
//! # Write instead
//!
//! The same table in both schemas.
//!
//! # Example
//!
//! ```text
//! -- diverges(table.ff_claimable): no index of Postgres spans all partitions
//! ```
