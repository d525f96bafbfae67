//! A text in a key is ordered by the rules of a language on Postgres.
//!
//! # What it finds
//!
//! With `schema_lints = true`: text columns in keys and indexes of Postgres without a collation, unless `pg_collation =
//! "C"` says that the database orders by bytes.
//!
//! # Why it bites
//!
//! Ids come in another order than on SQLite, and an index with a collation of a language is of no use for LIKE with a
//! prefix.
//!
//! # Write instead
//!
//! `COLLATE "C"`.
//!
//! # Example
//!
//! ```text
//! lane_id text COLLATE "C" NOT NULL
//! ```
