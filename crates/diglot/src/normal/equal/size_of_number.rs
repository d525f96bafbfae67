//! A number without its sign, by CASE and by ABS.
//!
//! # Why
//!
//! `CASE WHEN n < 0 THEN -n ELSE n END` is `abs(n)` of an integer, also in that both have no size for the least one.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT CASE WHEN t.n < 0 THEN -t.n ELSE t.n END AS c FROM t
//! pg:     SELECT abs(t.n) AS c FROM t
//! sqlite: SELECT abs(t.n) AS c FROM t
//! pg:     SELECT CASE WHEN t.n >= 0 THEN t.n ELSE -t.n END AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT CASE WHEN t.n < 1 THEN -t.n ELSE t.n END AS c FROM t
//! pg:     SELECT abs(t.n) AS c FROM t
//! sqlite: SELECT CASE WHEN t.n > 0 THEN -t.n ELSE t.n END AS c FROM t
//! pg:     SELECT abs(t.n) AS c FROM t
//! ```

use super::super::{Form, Function, Names, Node, Op};
use crate::tree::Expr;
use crate::types::Base;

pub(super) fn step(_: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let is_whole = matches!(expr.base(), Some(Base::Int16 | Base::Int32 | Base::Int64));
    let (when, otherwise) = super::both(node, Form::Case).filter(|_| is_whole)?;
    let (test, value) = super::both(when, Form::When)?;
    let (least, most) = super::both(test, Op::Less).or_else(|| super::both(test, Op::LessOrEqual))?;
    let (number, below, above) = match (least.head.is_number("0"), most.head.is_number("0")) {
        (_, true) => (least, value, otherwise),
        (true, false) => (most, otherwise, value),
        (false, false) => return None,
    };
    let (zero, turned) = super::both(below, Op::Minus)?;
    let is_number = |node: &Node| node.key() == number.key();
    (zero.head.is_number("0") && is_number(turned) && is_number(above))
        .then(|| Node::list(Function::Abs, vec![number.clone()], node.span))
}
