//! LENGTH, CHAR_LENGTH and CHARACTER_LENGTH of a text.

use super::super::{Function, Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let is_long = matches!(node.head, Head::Call(Function::CharLength | Function::CharacterLength));
    (is_long && node.kids.len() == 1).then(|| node.with_head(Function::Length))
}
