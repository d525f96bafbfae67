//! A substitute for a sum, and for what is summed.
//!
//! # Why
//!
//! `COALESCE(x + k, c)` is `COALESCE(x, c - k) + k`, for whole numbers that are written out.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT COALESCE(max(t.big) + 1, 0) AS c FROM t
//! pg:     SELECT COALESCE(max(t.big), -1) + 1 AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT COALESCE(max(t.big) + 1, 0) AS c FROM t
//! pg:     SELECT COALESCE(max(t.big), 0) + 1 AS c FROM t
//! sqlite: SELECT COALESCE(max(t.big) + 1, 1) AS c FROM t
//! pg:     SELECT COALESCE(max(t.big), 0) + 2 AS c FROM t
//! ```

use super::super::{Function, Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let (shifted, substitute) = super::both(node, Function::Coalesce)?;
    let (left, right) = super::both(shifted, Op::Plus)?;
    let number = |node: &Node| node.head.number()?.parse::<i32>().ok();
    let (value, by) = number(right).map(|by| (left, by)).or_else(|| Some((right, number(left)?)))?;
    let before = number(substitute)?.checked_sub(by)?;
    let kids = vec![value.clone(), Node::number(before.to_string(), substitute.span)];
    let coalesced = Node::list(Function::Coalesce, kids, node.span);
    Some(Node::set(Op::Plus, vec![coalesced, Node::number(by.to_string(), shifted.span)], node.span))
}
