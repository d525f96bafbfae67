//! A step goes through a table's rows while it keeps others away.
//!
//! # What it finds
//!
//! With `[migrations]` in the settings, on Postgres: an UPDATE, a DELETE or an INSERT … SELECT that no key limits to a row,
//! in a transaction that holds a lock under which nobody writes, or nobody reads, some table that was there before: behind an
//! ALTER TABLE, say.
//!
//! # Why it bites
//!
//! A lock is held until the commit. Adding a column takes a moment; adding it and filling it in one transaction keeps everybody
//! away from the table until the last row is written.
//!
//! # Write instead
//!
//! The change of the table in one step and the rows in the next. Where there are many, fill them in batches, each committed by
//! itself.
//!
//! # Example
//!
//! ```text
//! -- first step
//! ALTER TABLE job ADD COLUMN weight bigint;
//! -- second step
//! UPDATE job SET weight = length(title) WHERE weight IS NULL;
//! ```
