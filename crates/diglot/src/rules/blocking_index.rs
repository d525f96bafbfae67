//! A step builds an index of a table of Postgres while nobody can write it.
//!
//! # What it finds
//!
//! With `[migrations]` in the settings: CREATE INDEX and REINDEX without CONCURRENTLY, and a UNIQUE or a PRIMARY KEY
//! that is added without USING INDEX, on a table that the step did not make itself. Where a statement before it holds a stronger
//! lock, as DROP INDEX does, nobody reads the table either.
//!
//! # Why it bites
//!
//! The whole table is read and sorted meanwhile, and every INSERT, UPDATE and DELETE waits for the end of the transaction.
//!
//! # Write instead
//!
//! `CREATE INDEX CONCURRENTLY` in a step of its own outside of a transaction; a UNIQUE or PRIMARY KEY takes that index in the
//! next step. A table with partitions gets the index `ON ONLY` itself, each partition its own CONCURRENTLY, and `ALTER INDEX …
//! ATTACH PARTITION` puts them together. If your migrator makes indexes CONCURRENTLY by itself, allow it with that reason.
//!
//! # Example
//!
//! ```text
//! -- no-transaction
//! CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS job_code_once ON job (code);
//! ```
