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

use super::super::{Head, Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    match &node.head {
        // The order of their sides means nothing.
        Head::Op(Op::BitOr | Op::BitAnd | Op::BitXor) if node.kids.len() == 2 && !node.set => Some(Node { set: true, ..node.clone() }),
        Head::Op(Op::Minus) => {
            let (either, all) = super::both(node, Op::Minus)?;
            super::both(either, Op::BitOr)?;
            super::both(all, Op::BitAnd)?;
            let same = either.with_head(Op::BitAnd).key() == all.key();
            same.then(|| Node { span: node.span, ..either.with_head(Op::BitXor) })
        }
        _ => None,
    }
}
