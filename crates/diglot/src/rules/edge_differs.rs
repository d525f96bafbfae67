//! The pages answer differently on data that few programs write.
//!
//! # What it finds
//!
//! A pair that gave the same on every database of ordinary values when `cargo diglot prepare` ran both pages, and not on
//! one that holds the end of a number's width, a NaN, a document of another kind, a time in a far year, or another value
//! of this sort. The finding shows that database.
//!
//! # Why it bites
//!
//! Where a program can write such a value, one database refuses it or answers otherwise.
//!
//! # Write instead
//!
//! A spelling that treats the value alike, or a CHECK in both schemas that keeps it out. If no program writes it, say so in
//! `diglot.toml`, below `[assume]`; one line settles all pairs of its kind, and the finding has it.
//!
//! # Example
//!
//! ```text
//! [assume]
//! numbers_fit = true
//! ```
