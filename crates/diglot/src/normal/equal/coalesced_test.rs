//! A test of COALESCE for its own substitute.
//!
//! # Why
//!
//! `COALESCE(x, c) = c` is true where x is NULL and where x is c, and never NULL: `x IS NULL OR x = c` is the same.
//! `COALESCE(x, c) <> c` is the opposite. The substitute must be a literal, which is never NULL.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE COALESCE(t.note, '') = ''
//! pg:     SELECT t.n AS c FROM t WHERE t.note IS NULL OR t.note = ''
//! sqlite: SELECT t.n AS c FROM t WHERE t.maybe IS NOT NULL AND t.maybe <> 0
//! pg:     SELECT t.n AS c FROM t WHERE COALESCE(t.maybe, 0) <> 0
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE COALESCE(t.note, 'x') = ''
//! pg:     SELECT t.n AS c FROM t WHERE t.note IS NULL OR t.note = ''
//! sqlite: SELECT t.n AS c FROM t WHERE COALESCE(t.note, :word) = :word
//! pg:     SELECT t.n AS c FROM t WHERE t.note IS NULL OR t.note = ''
//! sqlite: SELECT t.n AS c FROM t WHERE COALESCE(t.note, '') = ''
//! pg:     SELECT t.n AS c FROM t WHERE t.note = ''
//! ```

use super::super::{Function, Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let (left, right) = super::both(node, Op::Equals).or_else(|| super::both(node, Op::Differs))?;
    let of = |coalesced: &Node, literal: &Node| {
        let (value, substitute) = super::both(coalesced, Function::Coalesce)?;
        (literal.head.is_literal() && substitute.key() == literal.key()).then(|| value.clone())
    };
    let (value, literal) = of(left, right).map(|value| (value, right)).or_else(|| Some((of(right, left)?, left)))?;
    if !value.is_small() {
        return None;
    }
    let (all, null) = if node.head == Op::Equals { (Op::Or, Op::IsNull) } else { (Op::And, Op::IsNotNull) };
    let is_null = Node::list(null, vec![value.clone()], node.span);
    let compared = Node::set(node.head.clone(), vec![value, literal.clone()], node.span);
    Some(Node::set(all, vec![is_null, compared], node.span))
}
