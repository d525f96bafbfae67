//! A step writes a whole table of Postgres anew while nobody can read it.
//!
//! # What it finds
//!
//! With `[migrations]` in the settings: a change of a column's type that stores rows in another way, a column that is added with
//! a value of its own for each row (a VOLATILE default such as `gen_random_uuid()`, a serial, an identity, a generated column, a
//! domain with conditions), SET LOGGED, SET UNLOGGED, CLUSTER, VACUUM FULL and REFRESH MATERIALIZED VIEW without CONCURRENTLY.
//! Tables that the step makes itself have no rows.
//!
//! # Why it bites
//!
//! The statement holds ACCESS EXCLUSIVE, which keeps readers away too, for as long as it takes to copy the table and to build all
//! its indexes. On tables of a test that is a millisecond; on a table of a hundred million rows it is the outage.
//!
//! # Write instead
//!
//! A new column beside the old one, which both programs write; an UPDATE in batches, in a step of its own; then the new column
//! takes the name. A default that is one value for all rows (`now()`, a constant) costs nothing. For a VOLATILE one add the
//! column without it and set the default in a second statement: it holds for new rows.
//!
//! # Example
//!
//! ```text
//! ALTER TABLE job ADD COLUMN token uuid;
//! ALTER TABLE job ALTER COLUMN token SET DEFAULT gen_random_uuid();
//! ```
