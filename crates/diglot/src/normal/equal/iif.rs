//! IIF and CASE with one branch.

use super::super::{Form, Function, Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let (Head::Call(Function::Iif | Function::If), [when, then, otherwise]) = (&node.head, node.kids.as_slice()) else { return None };
    let branch = Node::list(Form::When, vec![when.clone(), then.clone()], node.span);
    Some(Node::list(Form::Case, vec![branch, otherwise.clone()], node.span))
}
