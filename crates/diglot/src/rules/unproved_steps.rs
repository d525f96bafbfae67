//! A statement takes steps, and nothing says that they do the same.
//!
//! # What it finds
//!
//! With `distributed`, a pair whose Postgres statement [takes steps](language.md#in-steps) of which no run on both engines
//! is
//! recorded, or of which running says nothing. `cargo diglot prepare` runs the steps on Postgres beside the statement as a
//! whole, on the databases on which the pages are compared: they have to answer what the SQLite page answers, and to leave
//! the same rows.
//!
//! # Why it bites
//!
//! One statement sees the tables as they are at its start, and each step as the one before has left them.
//!
//! # Write instead
//!
//! Run `cargo diglot prepare`. Where no rows can be made on which the statement does anything, say what the columns hold:
//! `[words]`, `[prove.ranges]`; where that does not help: `-- allow(unproved-steps): reason`. To leave a statement whole:
//! `-- allow(insert-in-with): reason`.
//!
//! # Example
//!
//! ```text
//! WITH ended AS (UPDATE job SET state = 'done' WHERE part = :part AND id = :id RETURNING lane),
//!      told AS (INSERT INTO event (part, lane) SELECT :part, ended.lane FROM ended RETURNING event_id)
//! SELECT told.event_id FROM told;
//! ```
