//! A column is filled in different ways.
//!
//! # What it finds
//!
//! Defaults that differ, and numbering that differs: INTEGER PRIMARY KEY without AUTOINCREMENT gives the id of a
//! deleted row again, which no sequence of Postgres does.
//!
//! # Why it bites
//!
//! An INSERT that leaves the column out stores something else.
//!
//! # Write instead
//!
//! The same default, as a constant; bind the time instead of asking a clock; AUTOINCREMENT beside bigserial or an
//! identity.
//!
//! # Example
//!
//! ```text
//! event_id INTEGER PRIMARY KEY AUTOINCREMENT
//! ```
