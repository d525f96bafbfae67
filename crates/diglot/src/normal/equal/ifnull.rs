//! IFNULL and COALESCE of two.

use super::super::{Function, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    super::both(node, Function::Ifnull)?;
    Some(node.with_head(Function::Coalesce))
}
