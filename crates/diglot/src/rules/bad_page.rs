//! A page cannot begin behind a row.
//!
//! # What it finds
//!
//! `-- page: name` twice, or inside the statement; above a statement that is not one SELECT with ORDER BY and LIMIT under
//! `:many` or `:stream`, or that groups, folds, numbers or skips rows; an ORDER BY of which a key is no column of the
//! result; a key that the result has in another type; the line on one page only.
//!
//! # Why it bites
//!
//! The condition of a later page is made of the ORDER BY and stands in WHERE, and the key that it takes is read from the
//! last row of the page before. What WHERE decides is decided before rows are grouped and numbered.
//!
//! # Write instead
//!
//! A SELECT whose ORDER BY names columns that the result has as well. What groups or numbers goes into FROM:
//! `SELECT … FROM (SELECT … GROUP BY …) AS each ORDER BY …`.
//!
//! # Example
//!
//! ```text
//! -- page: after
//! -- name: ticket_page :many
//! SELECT id, title, opened_ms FROM ticket ORDER BY opened_ms DESC, id LIMIT :most
//! ```
