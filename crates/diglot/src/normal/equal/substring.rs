//! SUBSTR and SUBSTRING.

use super::super::{Function, Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    match (&node.head, node.kids.as_slice()) {
        (Head::Call(Function::Substring), [_, _, ..]) => Some(node.with_head(Function::Substr)),
        (Head::Call(Function::Left), [text, count]) if count.head.number()?.parse::<u32>().is_ok() => {
            let kids = vec![text.clone(), Node::number("1", count.span), count.clone()];
            Some(Node::list(Function::Substr, kids, node.span))
        }
        _ => None,
    }
}
