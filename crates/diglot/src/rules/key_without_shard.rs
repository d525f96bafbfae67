//! A unique key of a table that is spread lacks the shard key.
//!
//! # What it finds
//!
//! With `distributed`: a primary key, a unique constraint or a unique index without the column of `shard_key`.
//!
//! # Why it bites
//!
//! A node knows the rows of its own shards alone. Citus refuses to spread such a table.
//!
//! # Write instead
//!
//! `PRIMARY KEY (part, id)`. Where a value has to be unique over all shards, a table of its own that is a reference
//! table, or one whose shard key is worked out of that value.
//!
//! # Example
//!
//! ```text
//! PRIMARY KEY (part, id)
//! ```
