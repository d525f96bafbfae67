//! A step of SQLite renames a table before it makes the new one.
//!
//! # What it finds
//!
//! With `[migrations]` in the settings: a table that gets another name and is then made again, while foreign keys of other
//! tables, triggers or views name it.
//!
//! # Why it bites
//!
//! ALTER TABLE … RENAME takes along whatever names the table. Foreign keys, triggers and views then lead to the old one, and to
//! nothing as soon as that is dropped.
//!
//! # Write instead
//!
//! The order of SQLite's own documentation: make the new table under another name, copy the rows, drop the old table, give the
//! new one its name.
//!
//! # Example
//!
//! ```text
//! CREATE TABLE lane_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
//! INSERT INTO lane_new SELECT id, name FROM lane;
//! DROP TABLE lane;
//! ALTER TABLE lane_new RENAME TO lane;
//! ```
