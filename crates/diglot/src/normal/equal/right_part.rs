//! SUBSTR from a negative place, and RIGHT.

use super::super::{Form, Function, Names, Node};
use crate::dialect::Dialect;
use crate::tree::Expr;

pub(super) fn step(names: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    if node.head != Function::Substr || names.dialect() != Dialect::Sqlite {
        return None;
    }
    let start = node.kids.get(1)?;
    let count = start.head.number()?.strip_prefix('-').filter(|count| count.parse::<u32>().is_ok_and(|n| n > 0))?;
    let count = Node::number(count, start.span);
    match node.kids.as_slice() {
        [text, _] => Some(Node::list(Function::Right, vec![text.clone(), count], node.span)),
        _ => Some(node.with_head(Form::SubstrFromTheEnd)),
    }
}
