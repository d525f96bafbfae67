//! The pages lock different rows.
//!
//! # What it finds
//!
//! FOR UPDATE, SKIP LOCKED or NOWAIT on one page only. SQLite has no row locks. Where its page writes, it holds the
//! write lock, which is as good; where its page only reads, a lock on Postgres is declared.
//!
//! # Why it bites
//!
//! Without its lock two workers read one row and both write it. The declaration says what serves on SQLite instead.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(lock): reason` under either header.
//!
//! # Example
//!
//! ```text
//! -- diverges(lock): SQLite has a single writer.
//! ```
