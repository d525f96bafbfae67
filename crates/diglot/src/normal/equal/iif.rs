//! IIF and CASE with one branch.
//!
//! # Why
//!
//! `iif(a, b, c)` is short for `CASE WHEN a THEN b ELSE c END`.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT iif(t.n > 3, 'many', 'few') AS c FROM t
//! pg:     SELECT CASE WHEN t.n > 3 THEN 'many' ELSE 'few' END AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT iif(t.n > 3, 'many', 'few') AS c FROM t
//! pg:     SELECT CASE WHEN t.n > 3 THEN 'few' ELSE 'many' END AS c FROM t
//! ```

use super::super::{Form, Function, Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let (Head::Call(Function::Iif | Function::If), [when, then, otherwise]) = (&node.head, node.kids.as_slice()) else { return None };
    let branch = Node::list(Form::When, vec![when.clone(), then.clone()], node.span);
    Some(Node::list(Form::Case, vec![branch, otherwise.clone()], node.span))
}
