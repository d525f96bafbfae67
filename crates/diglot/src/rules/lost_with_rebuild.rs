//! A step of SQLite builds a table anew and leaves behind what stood on it.
//!
//! # What it finds
//!
//! With `[migrations]` in the settings: a table that a step drops or renames and makes again, where a trigger, an index or a view
//! of it is not there afterwards, and was not dropped by its name; or a foreign key that the table of Postgres still has.
//!
//! # Why it bites
//!
//! DROP TABLE takes triggers and indexes along without a word. Queries still answer, slowly, and what a trigger kept up to date
//! no longer is.
//!
//! # Write instead
//!
//! Triggers, indexes and views again, behind the new table's name. What is to go is dropped by name before the table is.
//!
//! # Example
//!
//! ```text
//! DROP TABLE job;
//! ALTER TABLE job_new RENAME TO job;
//! CREATE INDEX job_lane ON job (lane_id, id);
//! CREATE TRIGGER job_told AFTER INSERT ON job BEGIN INSERT INTO event (job_id) VALUES (new.id); END;
//! ```
