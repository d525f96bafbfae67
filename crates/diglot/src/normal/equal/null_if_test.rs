//! Whether NULLIF gives NULL.
//!
//! # Why
//!
//! `NULLIF(x, c)` is NULL where x is NULL and where x is c: `x IS NULL OR x = c` says so, and is never NULL when c is a
//! literal.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE NULLIF(t.note, '') IS NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.note IS NULL OR t.note = ''
//! sqlite: SELECT t.n AS c FROM t WHERE t.note IS NOT NULL AND t.note <> ''
//! pg:     SELECT t.n AS c FROM t WHERE NULLIF(t.note, '') IS NOT NULL
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE NULLIF(t.note, '') IS NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.note IS NULL
//! sqlite: SELECT t.n AS c FROM t WHERE NULLIF(t.note, t.name) IS NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.note IS NULL OR t.note = ''
//! ```

use super::super::{Function, Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let (inner, all, compares) = match (super::inside(node, Op::IsNull), super::inside(node, Op::IsNotNull)) {
        (Some(inner), _) => (inner, Op::Or, Op::Equals),
        (None, inner) => (inner?, Op::And, Op::Differs),
    };
    let (value, literal) = super::both(inner, Function::Nullif)?;
    if !literal.head.is_literal() || !value.is_small() {
        return None;
    }
    let test = Node::list(node.head.clone(), vec![value.clone()], node.span);
    let compared = Node::set(compares, vec![value.clone(), literal.clone()], node.span);
    Some(Node::set(all, vec![test, compared], node.span))
}
