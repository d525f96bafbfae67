//! The shard key has another type than in other tables.
//!
//! # What it finds
//!
//! With `distributed`: a table that is spread whose column of `shard_key` has another type than in most of them.
//!
//! # Why it bites
//!
//! Citus puts equal keys on one node only among tables whose keys are of one type. A statement over two others goes
//! over several nodes, or is refused.
//!
//! # Write instead
//!
//! One type in all tables.
//!
//! # Example
//!
//! ```text
//! part smallint NOT NULL
//! ```
