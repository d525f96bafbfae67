//! A sum of reals that is zero where there is none.
//!
//! # Why
//!
//! `total(x)` of SQLite gives 0.0 for no rows, where `sum(x)` is NULL on both engines. Of whole numbers it makes a real,
//! which no sum of them is.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT total(t.x) AS c FROM t
//! pg:     SELECT COALESCE(sum(t.x), 0) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT total(t.x) AS c FROM t
//! pg:     SELECT sum(t.x) AS c FROM t
//! sqlite: SELECT total(t.big) AS c FROM t
//! pg:     SELECT COALESCE(sum(t.big), 0) AS c FROM t
//! ```

use super::super::{Function, Names, Node};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(_: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let summed = super::inside(node, Function::Total)?;
    let ExprKind::Call { args, distinct: false, over: None, .. } = &expr.kind else { return None };
    let is_real = matches!(args.as_slice(), [only] if only.base() == Some(&Base::Float64));
    let sum = Node::list(Function::Sum, vec![summed.clone()], node.span);
    is_real.then(|| Node::list(Function::Coalesce, vec![sum, Node::number("0", node.span)], node.span))
}
