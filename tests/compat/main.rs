//! What consumers of the two existing crates import: every path with its signature, and what the functions over
//! a pool do. They need a Postgres server as the conformance suite does.

#![cfg(all(feature = "compat", feature = "sqlite", feature = "postgres"))]

#[path = "../conformance/harness.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the conformance suite")]
mod harness;
mod over_a_pool;
mod paths;
