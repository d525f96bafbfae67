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

use super::super::{Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let (inner, all, compares) = match node.head.as_str() {
        "is null" => (super::inside(node, "is null")?, "or", "="),
        "is not null" => (super::inside(node, "is not null")?, "and", "<>"),
        _ => return None,
    };
    let (value, literal) = super::both(inner, "nullif")?;
    let is_literal = literal.kids.is_empty() && literal.head.starts_with(|c: char| c == '\'' || c.is_ascii_digit());
    if !is_literal || !value.is_small() {
        return None;
    }
    let test = Node::list(node.head.clone(), vec![value.clone()], node.span);
    let compared = Node::set(compares, vec![value.clone(), literal.clone()], node.span);
    Some(Node::set(all, vec![test, compared], node.span))
}
