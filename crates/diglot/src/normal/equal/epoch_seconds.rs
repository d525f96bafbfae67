//! `unixepoch(x)` and the whole seconds of `extract(epoch FROM x)`.

use super::super::words::Target;
use super::super::{Form, Function, Head, Names, Node, Op};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    match names.dialect() {
        Dialect::Sqlite => {
            if let Some(time) = super::inside(node, Function::UnixEpoch) {
                return Some(seconds(moment(time, false), node));
            }
            if let Some(text) = super::inside(node, Target::Int) {
                return formatted(text);
            }
            beside_integer(expr, node)
        }
        Dialect::Pg => {
            let value = super::inside(node, Target::IntRounded).or_else(|| super::inside(node, Target::Int))?;
            match super::inside(value, Function::Floor) {
                Some(whole) => Some(seconds(extracted(whole)?, node)),
                None => extracted(value).filter(is_whole).map(|time| seconds(time, node)),
            }
        }
    }
}

/// `strftime('%s', x)` compared with a column of integers.
fn beside_integer(expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Binary { left, right, .. } = &expr.kind else { return None };
    let is_column = |side: &Expr| {
        matches!(side.kind, ExprKind::Column { .. }) && side.base() == Some(&Base::Int64)
    };
    let compares = matches!(node.head, Head::Op(Op::Equals | Op::Differs | Op::Less | Op::LessOrEqual));
    if !compares || !(is_column(left) || is_column(right)) {
        return None;
    }
    let at = node.kids.iter().position(|kid| kid.head == Function::Strftime)?;
    let mut kids = node.kids.clone();
    kids[at] = formatted(&kids[at])?;
    Some(Node { kids, ..node.clone() })
}

fn formatted(node: &Node) -> Option<Node> {
    let (format, time) = super::both(node, Function::Strftime)?;
    format.head.is_text("%s").then(|| seconds(moment(time, false), node))
}

fn seconds(time: Node, whole: &Node) -> Node {
    Node::list(Form::EpochSeconds, vec![time], whole.span)
}

/// The time of `extract(epoch FROM …)`.
pub(super) fn extracted(node: &Node) -> Option<Node> {
    let (field, time) = super::both(node, Function::Extract)?;
    field.head.is_text("epoch").then(|| moment(time, true))
}

/// A literal as the time in UTC that it says, and the time at which the statement runs; whatever else it is. Without a
/// zone Postgres takes that of the session.
pub(super) fn moment(time: &Node, zoned: bool) -> Node {
    if time.head.is_text("now") || time.head == Function::StatementTimestamp {
        return Node::leaf(Form::TimeOfTheStatement, time.span);
    }
    let inner = super::inside(time, Target::Timestamp).unwrap_or(time);
    let Some(text) = inner.head.text() else { return time.clone() };
    match ["+00:00", "+00", "Z"].iter().find_map(|zone| text.strip_suffix(zone)) {
        Some(utc) => Node::leaf(Head::Time(utc.replace('T', " ")), time.span),
        None if zoned => time.clone(),
        None => Node::leaf(Head::Time(text.replace('T', " ")), time.span),
    }
}

/// Whether a literal shows that there is no fraction of a second.
fn is_whole(time: &Node) -> bool {
    matches!(&time.head, Head::Time(time) if !time.contains('.'))
}
