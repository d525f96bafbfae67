//! A list faces a statement for one row, and nothing says that it does the same.
//!
//! # What it finds
//!
//! A statement of Postgres with `-- each: NAME` of which no run on both engines is recorded, or of which running says
//! nothing. With `-- each` a list of rows faces the SQLite statement for one row: `cargo diglot prepare` runs the list on
//! Postgres, and on SQLite one call after the other, on the same databases, with one to three rows, of which some are
//! refused. Where each call does something, the list has to answer the same and to leave the same rows. A list that ends
//! with an error is right where one of the calls did nothing: then a program makes each of them alone. With
//! `-- each: NAME or fails — reason` it is right everywhere.
//!
//! # Why it bites
//!
//! The two texts have nothing in common that could be compared, and the list is the text that runs under load.
//!
//! # Write instead
//!
//! Run `cargo diglot prepare`. Where no rows can be made on which the list does anything, say what the columns hold:
//! `[words]`, `[prove.ranges]`; where that does not help: `-- allow(unproved-list): reason`. A list that does something else
//! than the calls is no list of them: `-- only: pg — reason`.
//!
//! # Example
//!
//! ```text
//! -- rows: given(id i64 key, state text)
//! -- name: job_end_many :opt
//! -- each: job_end
//! ```
