//! INSTR, STRPOS and POSITION.

use super::super::{Function, Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let [first, second] = node.kids.as_slice() else { return None };
    let kids = match &node.head {
        Head::Call(Function::Instr) => vec![first.clone(), second.clone()],
        Head::Call(Function::Position) => vec![second.clone(), first.clone()],
        _ => return None,
    };
    Some(Node::list(Function::Strpos, kids, node.span))
}
