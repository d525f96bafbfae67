//! A minus sign, and what is taken from 0.
//!
//! # Why
//!
//! `-x` of an integer is `0 - x`, also in what happens to the least integer. Of a real they differ: `-0.0` is not
//! `0 - 0.0`. To take a negative number from an integer is to add the number.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT -t.n AS c FROM t
//! pg:     SELECT 0 - t.n AS c FROM t
//! sqlite: SELECT t.n - -2 AS c FROM t
//! pg:     SELECT 2 + t.n AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT -t.n AS c FROM t
//! pg:     SELECT 1 - t.n AS c FROM t
//! sqlite: SELECT t.n - 2 AS c FROM t
//! pg:     SELECT t.n + 2 AS c FROM t
//! sqlite: SELECT -t.x AS c FROM t
//! pg:     SELECT 0 - t.x AS c FROM t
//! ```

use super::super::{Names, Node, Op};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(_: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    if let ExprKind::Binary { op, left, right } = &expr.kind {
        let more = (op == "-" && is_integer(left)).then(|| negative(right)).flatten()?;
        let (value, _) = super::both(node, Op::Minus)?;
        return Some(Node::set(Op::Plus, vec![value.clone(), Node::number(more, right.span)], node.span));
    }
    let value = super::inside(node, Op::Negative)?;
    let ExprKind::Unary { expr: inner, .. } = &expr.kind else { return None };
    is_integer(inner).then(|| Node::list(Op::Minus, vec![Node::number("0", node.span), value.clone()], node.span))
}

fn is_integer(expr: &Expr) -> bool {
    matches!(expr.base(), Some(Base::Int16 | Base::Int32 | Base::Int64))
}

/// The number behind the minus of a written number of four bytes.
fn negative(expr: &Expr) -> Option<&str> {
    let ExprKind::Unary { op, expr } = &expr.bare().kind else { return None };
    let ExprKind::Number(number) = &expr.kind else { return None };
    (op == "-" && number.parse::<i32>().is_ok()).then_some(number.as_str())
}
