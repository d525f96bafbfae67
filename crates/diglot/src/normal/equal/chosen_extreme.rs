//! A CASE that chooses the lesser or the greater of two numbers.
//!
//! # Why
//!
//! `CASE WHEN a < b THEN a ELSE b END` is the lesser of both where neither can be NULL.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT min(t.n, 5) AS c FROM t
//! pg:     SELECT CASE WHEN t.n < 5 THEN t.n ELSE 5 END AS c FROM t
//! sqlite: SELECT CASE WHEN t.n >= 5 THEN t.n ELSE 5 END AS c FROM t
//! pg:     SELECT greatest(5, t.n) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT min(t.n, 5) AS c FROM t
//! pg:     SELECT CASE WHEN t.n < 5 THEN 5 ELSE t.n END AS c FROM t
//! sqlite: SELECT min(t.maybe, 5) AS c FROM t
//! pg:     SELECT CASE WHEN t.maybe < 5 THEN t.maybe ELSE 5 END AS c FROM t
//! ```

use super::super::{Function, Head, Names, Node, Op};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Case { operand: None, branches, .. } = &expr.kind else { return None };
    let [(condition, _)] = branches.as_slice() else { return None };
    let ExprKind::Binary { left, right, .. } = &condition.kind else { return None };
    let is_number = |side: &Expr| {
        names.required(side) && matches!(side.base(), Some(Base::Int16 | Base::Int32 | Base::Int64) | None)
    };
    let [when, otherwise] = node.kids.as_slice() else { return None };
    let [tested, then] = when.kids.as_slice() else { return None };
    let (Head::Op(Op::Less | Op::LessOrEqual), [less, more]) = (&tested.head, tested.kids.as_slice()) else { return None };
    if !(is_number(left) && is_number(right)) {
        return None;
    }
    let are = |one: &Node, other: &Node| then.key() == one.key() && otherwise.key() == other.key();
    let extreme = if are(less, more) {
        Function::Least
    } else if are(more, less) {
        Function::Greatest
    } else {
        return None;
    };
    Some(Node::set(extreme, vec![less.clone(), more.clone()], node.span))
}
