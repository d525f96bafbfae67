//! A step waits for a table of Postgres as long as that takes.
//!
//! # What it finds
//!
//! With `[migrations]` in the settings: a statement that wants a table to itself, or that keeps its writers away, where neither
//! `lock_timeout` nor `statement_timeout` limits the wait. One finding names all tables of a step. `lock_timeout = true` below
//! `[migrations]` says that the migrator sets one.
//!
//! # Why it bites
//!
//! A long read is enough, a pg_dump or a forgotten transaction. The step waits behind it, and whoever comes later waits behind
//! the step, also to read: the table is gone for as long as the dump takes, though the change itself takes a moment.
//!
//! # Write instead
//!
//! A limit, and another try: those who waited behind the step are served between two tries.
//!
//! # Example
//!
//! ```text
//! SET LOCAL lock_timeout = '2s';
//! ALTER TABLE job ADD COLUMN hue text;
//! ```
