//! GLOB on SQLite and LIKE on Postgres, with the pattern translated.
//!
//! # Why
//!
//! Both tell upper from lower case, which LIKE of SQLite does not. `*` is `%` and `?` is `_`; a pattern with sets of
//! characters, or with characters that only the other one takes for a sign, is not translated.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE t.name GLOB 'w*'
//! pg:     SELECT t.n AS c FROM t WHERE t.name LIKE 'w%'
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE t.name GLOB '*w*'
//! pg:     SELECT t.n AS c FROM t WHERE t.name LIKE 'w%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name GLOB 'w_*'
//! pg:     SELECT t.n AS c FROM t WHERE t.name LIKE 'w_%'
//! ```

use super::super::{Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let Head::Like { op: "glob", negated, escape: None } = node.head else { return None };
    let [text, pattern] = node.kids.as_slice() else { return None };
    let written = pattern.head.text().filter(|written| !written.contains(['[', '%', '_', '\\']))?;
    let translated = written.replace('*', "%").replace('?', "_");
    let pattern = Node::leaf(Head::Text(translated), pattern.span);
    Some(Node::list(Head::Like { op: "like", negated, escape: None }, vec![text.clone(), pattern], node.span))
}
