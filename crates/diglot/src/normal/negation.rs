//! NOT in front of a condition, and inside it.
//!
//! # Why
//!
//! Each step holds with NULL too: `NOT a = b` is `a <> b`, `NOT a < b` is `b <= a`, De Morgan's laws, NOT NOT.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE NOT (t.n = 1 OR t.maybe IS NULL)
//! pg:     SELECT t.n AS c FROM t WHERE t.n <> 1 AND t.maybe IS NOT NULL
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE NOT (t.n = 1 OR t.maybe IS NULL)
//! pg:     SELECT t.n AS c FROM t WHERE t.n <> 1 OR t.maybe IS NOT NULL
//! ```

use super::{Node, membership};
use crate::source::Span;

/// The opposite of a condition.
pub(super) fn negated(node: Node, span: Span) -> Node {
    if let Some(opposite) = membership::opposite(&node) {
        return opposite;
    }
    let flipped = match node.head.as_str() {
        "is null" => "is not null",
        "is not null" => "is null",
        "is distinct from" => "is not distinct from",
        "is not distinct from" => "is distinct from",
        "exists" => "not exists",
        "not exists" => "exists",
        "=" => "<>",
        "<>" => "=",
        "in" => "not in",
        "not in" => "in",
        "not" => return node.kids.into_iter().next().unwrap_or_else(|| Node::leaf("not", span)),
        "<" | "<=" => {
            let head = if node.head == "<" { "<=" } else { "<" };
            let mut kids = node.kids;
            kids.reverse();
            return Node::list(head, kids, span);
        }
        "and" | "or" => {
            let head = if node.head == "and" { "or" } else { "and" };
            let kids = node.kids.into_iter().map(|kid| {
                let span = kid.span;
                negated(kid, span)
            });
            return Node::set(head, kids.collect(), span);
        }
        _ => return Node::list("not", vec![node], span),
    };
    Node { head: flipped.to_owned(), span, ..node }
}
