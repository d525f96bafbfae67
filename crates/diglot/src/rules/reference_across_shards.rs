//! A foreign key leads from one shard to another.
//!
//! # What it finds
//!
//! With `distributed`: a foreign key between tables that are spread which lacks the shard key on either side, one of such
//! a table to a table that is local, and one of a reference table to a table that is spread.
//!
//! # Why it bites
//!
//! The node of a row cannot see the row that it refers to. Citus refuses such a key.
//!
//! # Write instead
//!
//! The shard key in both: `FOREIGN KEY (part, job_id) REFERENCES job (part, id)`; or `[placement]` makes the other
//! table a reference table.
//!
//! # Example
//!
//! ```text
//! FOREIGN KEY (part, job_id) REFERENCES job (part, id)
//! ```
