//! Migrations leave other rows on one database, or an engine refuses them.
//!
//! # What it finds
//!
//! Migrations of both dialects that lead from the same tables to the same tables, run by `cargo diglot prepare` on rows
//! that the tables took before: an engine refuses a migration, rows or values are lost on one of them, a default or a
//! backfill gives old rows another value, a trigger is gone with the table that was built anew, a view or a foreign key
//! leads to nothing.
//!
//! # Why it bites
//!
//! Tests migrate empty databases. What refuses a database with rows, or loses some of them, is found when users upgrade.
//!
//! # Write instead
//!
//! Steps that keep the rows on both: fill a column before it becomes NOT NULL, and remove duplicates before a unique index.
//! Where SQLite has to build a table anew, make the new one, copy, drop the old one, rename the new one, and make its
//! triggers and indexes again; references from other tables are kept when `PRAGMA foreign_keys` is off while the
//! migration runs, which a statement inside of a transaction cannot do.
//!
//! # Example
//!
//! ```text
//! UPDATE job SET lane = 'default' WHERE lane IS NULL;
//! ALTER TABLE job ALTER COLUMN lane SET NOT NULL;
//! ```
