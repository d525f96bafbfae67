//! The greatest of flags, and whether one of them holds.
//!
//! # Why
//!
//! A flag is 0 or 1 on SQLite: its maximum is 1 where one is, its minimum where all are. Postgres asks with `bool_or` and
//! `bool_and`, which skip NULL as well and give NULL for no rows.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT max(t.flag) AS c FROM t
//! pg:     SELECT bool_or(t.flag) AS c FROM t
//! sqlite: SELECT min(t.flag) AS c FROM t
//! pg:     SELECT every(t.flag) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT max(t.flag) AS c FROM t
//! pg:     SELECT bool_and(t.flag) AS c FROM t
//! ```

use super::super::{Function, Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let extreme = match &node.head {
        Head::Call(Function::BoolOr) => Function::Max,
        Head::Call(Function::BoolAnd | Function::Every) => Function::Min,
        _ => return None,
    };
    Some(node.with_head(extreme))
}
