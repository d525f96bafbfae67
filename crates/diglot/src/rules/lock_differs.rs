//! The pages lock different rows.
//!
//! # What it finds
//!
//! FOR UPDATE, SKIP LOCKED or NOWAIT on one page only. SQLite has no row locks. Where its page writes, it holds the
//! write lock, which is as good; where its page only reads, a lock on Postgres is declared, or the statement is named in
//! `diglot.toml` as one that runs as SQLite's one writer: `[locks] as_writer`. One that is named and locks nothing is found.
//!
//! # Why it bites
//!
//! Without its lock two workers read one row and both write it. The declaration says what serves on SQLite instead.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(lock): reason` under either header, or, where SQLite's
//! transactions begin with BEGIN IMMEDIATE, `as_writer = ["*_lock"]` under `[locks]` once for all of them.
//!
//! # Example
//!
//! ```text
//! -- diverges(lock): SQLite has a single writer.
//! ```
