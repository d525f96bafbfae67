//! Parts of a statement are known at run time alone.
//!
//! # What it finds
//!
//! A statement in Go or Rust that is put together from literals and something else: a variable, another constant, what
//! `Sprintf` or `format!` fills in. It is a warning: such a statement is left out of the comparison.
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
//! The whole statement as one constant, or in a file of SQL; in a migration, what shapes tables as statements of its own.
//!
//! # Example
//!
//! ```text
//! const selectTask = "SELECT id, state FROM task WHERE id = $1"
//! ```
