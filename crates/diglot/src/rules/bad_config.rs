//! `diglot.toml` says something that cannot be meant.
//!
//! # What it finds
//!
//! A key that does not exist, a folder outside the project, a type that is no Rust type, a column that is none, a key
//! (`[keys]`) whose columns are not of one type or whose fields no statement has.
//!
//! # Why it bites
//!
//! A setting that is silently ignored is believed to hold.
//!
//! # Write instead
//!
//! The documented keys; columns as "table.column" or "*.column".
//!
//! # Example
//!
//! ```text
//! shard_key = "partition_key"
//! ```
