//! Parts of a statement are known at run time alone.
//!
//! # What it finds
//!
//! A statement in Go or Rust that is put together from literals and something that only the running program knows: a
//! variable, what a function gives, what a loop adds. Constants of the same folder are followed, and what `[built]` in
//! `diglot.toml` says of a helper stands in its place. It is a warning: such a statement is left out of the comparison.
//! A baseline keeps it with all of its text, so that a change of it is an error.
//!
//! In migrations, a DO block that puts together what it does to tables (`EXECUTE`), or whose text is in plain quotes. Plain
//! statements in such a block are read as if its conditions held.
//!
//! # Why it bites
//!
//! Nobody but the running program knows the text, so nothing can be said of it.
//!
//! # Write instead
//!
//! The whole statement as one constant, or in a file of SQL; or a line that says what the helper gives:
//! `lists = ["placeholders"]`, `conditions = ["where"]`, or a text below `[built.texts]`. In a migration, what shapes
//! tables as statements of its own.
//!
//! # Example
//!
//! ```text
//! const selectTask = "SELECT id, state FROM task WHERE id = $1"
//! ```
