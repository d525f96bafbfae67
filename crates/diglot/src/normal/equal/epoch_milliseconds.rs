//! Milliseconds since 1970, of a Julian day on SQLite and of the epoch on Postgres.
//!
//! # Why
//!
//! A Julian day is a double that is a little off, so SQLite must round before it cuts off; Postgres rounds in the cast.
//! What is now stays the same while a statement of SQLite runs, as `statement_timestamp()` does on Postgres; `now()` is
//! the beginning of the transaction there.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT CAST(round((julianday('2024-01-01 00:00:00.123') - 2440587.5) * 86400000.0) AS INTEGER) AS c
//! pg:     SELECT (extract(epoch FROM timestamptz '2024-01-01 00:00:00.123+00') * 1000)::bigint AS c
//! sqlite: SELECT CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) AS c
//! pg:     SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint AS c
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) AS c
//! pg:     SELECT (extract(epoch FROM now()) * 1000)::bigint AS c
//! sqlite: SELECT CAST((julianday('2024-01-01 00:00:00.123') - 2440587.5) * 86400000.0 AS INTEGER) AS c
//! pg:     SELECT (extract(epoch FROM timestamptz '2024-01-01 00:00:00.123+00') * 1000)::bigint AS c
//! ```

use super::super::{Names, Node};
use super::epoch_seconds::{extracted, moment};
use crate::dialect::Dialect;
use crate::tree::Expr;

pub(super) fn step(names: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let time = match names.dialect() {
        Dialect::Sqlite => {
            let days = beside(super::inside(super::inside(node, "cast int")?, "round")?, &["86400000.0", "86400000"])?;
            let (day, start) = super::both(days, "-")?;
            let time = super::inside(day, "julianday")?;
            (start.head == "2440587.5").then(|| moment(time, false))
        }
        Dialect::Pg => extracted(beside(super::inside(node, "cast int rounded")?, &["1000", "1000.0"])?),
    };
    Some(Node::list("epoch milliseconds", vec![time?], node.span))
}

/// The other side of a product with one of these numbers.
fn beside<'n>(product: &'n Node, numbers: &[&str]) -> Option<&'n Node> {
    let (left, right) = super::both(product, "*")?;
    let is_number = |node: &Node| numbers.contains(&node.head.as_str());
    if is_number(right) { Some(left) } else { is_number(left).then_some(right) }
}
