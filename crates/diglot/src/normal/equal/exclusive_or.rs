//! `(a | b) - (a & b)` and `a # b`.
//!
//! # Why
//!
//! SQLite has no operator for the bits that only one side has: they are the bits of either without the bits of both.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT (t.n | 3) - (t.n & 3) AS c FROM t
//! pg:     SELECT t.n # 3 AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT (t.n | 3) - (t.n & 5) AS c FROM t
//! pg:     SELECT t.n # 3 AS c FROM t
//! sqlite: SELECT (t.n & 3) - (t.n | 3) AS c FROM t
//! pg:     SELECT t.n # 3 AS c FROM t
//! ```

use super::super::{Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    match node.head.as_str() {
        // The order of their sides means nothing.
        "|" | "&" | "#" if node.kids.len() == 2 && !node.set => Some(Node { set: true, ..node.clone() }),
        "-" => {
            let (either, all) = super::both(node, "-")?;
            super::both(either, "|")?;
            super::both(all, "&")?;
            let same = Node { head: "&".to_owned(), ..either.clone() }.key() == all.key();
            same.then(|| Node { head: "#".to_owned(), span: node.span, ..either.clone() })
        }
        _ => None,
    }
}
