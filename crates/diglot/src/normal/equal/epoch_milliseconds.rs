//! Milliseconds since 1970, of a Julian day on SQLite and of the epoch on Postgres.

use super::super::words::Target;
use super::super::{Form, Function, Names, Node, Op};
use super::epoch_seconds::{extracted, moment};
use crate::dialect::Dialect;
use crate::tree::Expr;

pub(super) fn step(names: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let time = match names.dialect() {
        Dialect::Sqlite => {
            let days = beside(super::inside(super::inside(node, Target::Int)?, Function::Round)?, &["86400000.0", "86400000"])?;
            let (day, start) = super::both(days, Op::Minus)?;
            let time = super::inside(day, Function::JulianDay)?;
            start.head.is_number("2440587.5").then(|| moment(time, false))
        }
        Dialect::Pg => extracted(beside(super::inside(node, Target::IntRounded)?, &["1000", "1000.0"])?),
    };
    Some(Node::list(Form::EpochMilliseconds, vec![time?], node.span))
}

/// The other side of a product with one of these numbers.
fn beside<'n>(product: &'n Node, numbers: &[&str]) -> Option<&'n Node> {
    let (left, right) = super::both(product, Op::Times)?;
    let is_number = |node: &Node| node.head.number().is_some_and(|number| numbers.contains(&number));
    if is_number(right) { Some(left) } else { is_number(left).then_some(right) }
}
