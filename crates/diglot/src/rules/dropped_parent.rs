//! A step of SQLite drops a table that others refer to, with foreign keys on.
//!
//! # What it finds
//!
//! With `[migrations]` in the settings: DROP TABLE where a table that was there before has a foreign key to it, unless the step
//! turns foreign keys off before, outside of a transaction. `foreign_keys = false` below `[migrations]` says that the migrator
//! does.
//!
//! # Why it bites
//!
//! DROP TABLE deletes the rows first. ON DELETE CASCADE takes the rows of the other tables along, SET NULL their references;
//! without an action the step fails as soon as there are rows. Both drivers of Rust turn foreign keys on, and `PRAGMA
//! foreign_keys` inside of a transaction, where migrators run a step, does nothing and says nothing.
//!
//! # Write instead
//!
//! A step that is no transaction by itself, and a transaction of its own between the two PRAGMAs.
//!
//! # Example
//!
//! ```text
//! -- no-transaction
//! PRAGMA foreign_keys = OFF;
//! BEGIN;
//! CREATE TABLE lane_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
//! INSERT INTO lane_new SELECT id, name FROM lane;
//! DROP TABLE lane;
//! ALTER TABLE lane_new RENAME TO lane;
//! PRAGMA foreign_key_check;
//! COMMIT;
//! PRAGMA foreign_keys = ON;
//! ```
