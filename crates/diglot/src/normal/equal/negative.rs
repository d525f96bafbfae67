//! A minus sign, and what is taken from 0.
//!
//! # Why
//!
//! `-x` of an integer is `0 - x`, also in what happens to the least integer. Of a real they differ: `-0.0` is not
//! `0 - 0.0`.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT -t.n AS c FROM t
//! pg:     SELECT 0 - t.n AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT -t.n AS c FROM t
//! pg:     SELECT 1 - t.n AS c FROM t
//! sqlite: SELECT -t.x AS c FROM t
//! pg:     SELECT 0 - t.x AS c FROM t
//! ```

use super::super::{Names, Node};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(_: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let value = super::inside(node, "unary -")?;
    let ExprKind::Unary { expr: inner, .. } = &expr.kind else { return None };
    let is_integer = matches!(inner.base(), Some(Base::Int16 | Base::Int32 | Base::Int64));
    is_integer.then(|| Node::list("-", vec![Node::leaf("0", node.span), value.clone()], node.span))
}
