//! A statement over many rows gives answers that belong to none of them.
//!
//! # What it finds
//!
//! A statement that takes rows (`-- rows:`) under `:one`, `:opt` or `:many`, whose result has neither the number of the
//! row, `ordinality`, nor its whole key.
//!
//! # Why it bites
//!
//! Rows come back in any order, and some have no answer. The function gives each row its own answers, in the order in
//! which the rows were given.
//!
//! # Write instead
//!
//! `given.ordinality` in the columns of the result; or a key in the declaration, whose columns come back. RETURNING on
//! SQLite sees the target alone, so there it is the key.
//!
//! # Example
//!
//! ```text
//! -- rows: given(id uuid key, note text)
//! -- name: task_note :opt
//! UPDATE task SET note = given.note FROM given WHERE task.id = given.id RETURNING task.id
//! ```
