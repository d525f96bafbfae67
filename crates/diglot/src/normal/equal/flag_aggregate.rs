//! The greatest of flags, and whether one of them holds.

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
