//! IFNULL and COALESCE of two.
//!
//! # Why
//!
//! Both give the first value that is not NULL, and ask for the second only when the first is.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT ifnull(t.note, 'none') AS c FROM t
//! pg:     SELECT COALESCE(t.note, 'none') AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT ifnull(t.note, 'none') AS c FROM t
//! pg:     SELECT COALESCE(t.note, 'other') AS c FROM t
//! ```

use super::super::{Function, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    super::both(node, Function::Ifnull)?;
    Some(node.with_head(Function::Coalesce))
}
