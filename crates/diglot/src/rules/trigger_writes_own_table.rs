//! A trigger writes the table that it is on.
//!
//! # What it finds
//!
//! On SQLite: a trigger whose body updates, inserts into or deletes from its own table.
//!
//! # Why it bites
//!
//! Such a trigger does not call itself again on SQLite, unless a setting of the connection says so, and does on Postgres.
//! RETURNING on SQLite gives the row as it was before the trigger ran.
//!
//! # Write instead
//!
//! The value in the statement itself, on both pages.
//!
//! # Example
//!
//! ```text
//! UPDATE q SET state = :state, rev = rev + 1 WHERE id = :id RETURNING rev
//! ```
