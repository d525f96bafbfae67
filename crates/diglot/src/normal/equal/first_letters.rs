//! The beginning of a text, by its length and by a function.

use super::super::{Form, Function, Head, Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    if let Some((text, start)) = super::both(node, Function::StartsWith) {
        return Some(Node::list(Form::StartsWith, vec![text.clone(), start.clone()], node.span));
    }
    let (left, right) = super::both(node, Op::Equals)?;
    let of = |part: &Node, start: &Node| {
        let length = match (&part.head, part.kids.as_slice()) {
            (Head::Call(Function::Substr), [_, one, length]) if one.head.is_number("1") => length,
            (Head::Call(Function::Left), [_, length]) => length,
            _ => return None,
        };
        let is_as_long = |number: &str, start: &str| number.parse() == Ok(start.chars().count());
        let is_its = match super::inside(length, Function::Length) {
            Some(of) => of.key() == start.key(),
            None => is_as_long(length.head.number()?, start.head.text()?),
        };
        let text = part.kids.first().filter(|_| is_its)?;
        Some(Node::list(Form::StartsWith, vec![text.clone(), start.clone()], node.span))
    };
    of(left, right).or_else(|| of(right, left))
}
