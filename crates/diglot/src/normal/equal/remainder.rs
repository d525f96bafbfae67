//! A remainder as a function.
//!
//! # Why
//!
//! `mod(a, b)` of Postgres is `a % b`, in the same types.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.big % 86400000 AS c FROM t
//! pg:     SELECT mod(t.big, 86400000) AS c FROM t
//! sqlite: SELECT t.n AS c FROM t WHERE t.n % 4 = 1
//! pg:     SELECT t.n AS c FROM t WHERE mod(t.n, 4) = 1
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n % 7 AS c FROM t
//! pg:     SELECT mod(7, t.n) AS c FROM t
//! sqlite: SELECT t.n / 7 AS c FROM t
//! pg:     SELECT mod(t.n, 7) AS c FROM t
//! ```

use super::super::{Function, Head, Names, Node, Op};
use crate::dialect::Dialect;
use crate::tree::Expr;

pub(super) fn step(names: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let is_remainder = names.dialect() == Dialect::Pg && node.head == Head::Call(Function::from("mod"));
    is_remainder.then(|| node.with_head(Op::from("%")))
}
