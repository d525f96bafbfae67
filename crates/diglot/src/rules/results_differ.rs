//! The pages answer differently on the same data.
//!
//! # What it finds
//!
//! A pair that gives other rows, another order, or leaves other rows in a table, when `cargo diglot prove` runs both
//! pages with the same arguments on the same data. Rows without ORDER BY are compared as a set, columns by their
//! declared type, numbers that the database gives to new rows not at all.
//!
//! # Why it bites
//!
//! The texts may be the same word for word: engines disagree about NULL, sorting, rounding, JSON and conversions.
//!
//! # Write instead
//!
//! What gives the same answer. If the difference is meant: `-- diverges(results): reason`, or with the one column that
//! differs, `-- diverges(results.COLUMN): reason`. If the data cannot be like that: `[prove.ranges]` or `[words]` in
//! `diglot.toml`.
//!
//! # Example
//!
//! ```text
//! ORDER BY name COLLATE "C"
//! ```
