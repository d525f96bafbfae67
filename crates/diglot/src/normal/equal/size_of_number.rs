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

use super::super::{Names, Node};
use crate::tree::Expr;
use crate::types::Base;

pub(super) fn step(_: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let is_whole = matches!(expr.base(), Some(Base::Int16 | Base::Int32 | Base::Int64));
    let ("case", [when, otherwise], true) = (node.head.as_str(), node.kids.as_slice(), is_whole) else { return None };
    let (test, value) = super::both(when, "when")?;
    let (least, most) = super::both(test, "<").or_else(|| super::both(test, "<="))?;
    let (number, below, above) = match (least.head.as_str(), most.head.as_str()) {
        (_, "0") => (least, value, otherwise),
        ("0", _) => (most, otherwise, value),
        _ => return None,
    };
    let (zero, turned) = super::both(below, "-")?;
    let is_number = |node: &Node| node.key() == number.key();
    (zero.head == "0" && is_number(turned) && is_number(above))
        .then(|| Node::list("abs", vec![number.clone()], node.span))
}
