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

use super::super::{Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let head = match node.head.as_str() {
        "glob" => "like",
        "not glob" => "not like",
        _ => return None,
    };
    let [text, pattern] = node.kids.as_slice() else { return None };
    let written = super::literal(pattern).filter(|written| !written.contains(['[', '%', '_', '\\']))?;
    let translated = written.replace('*', "%").replace('?', "_");
    let pattern = Node::leaf(format!("'{translated}'"), pattern.span);
    Some(Node::list(head, vec![text.clone(), pattern], node.span))
}
