//! The pages give one parameter different numbers.
//!
//! # What it finds
//!
//! With `generate = false`: `$1`, `?1` or `?` that stand for one value on one page and for another on the other, by
//! what they are compared with, inserted into or assigned to. In an INSERT also, as a warning, names on one page in another
//! order than that of the numbers on the other.
//!
//! # Why it bites
//!
//! A program that binds by number gives one database the values of other columns.
//!
//! # Write instead
//!
//! The parameters in one order on both pages. If the program binds each page in its own order:
//! `-- diverges(params): reason` under either header.
//!
//! # Example
//!
//! ```text
//! INSERT INTO task (id, title) VALUES ($1, $2)
//! ```
