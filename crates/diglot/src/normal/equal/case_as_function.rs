//! CASE that does what COALESCE and NULLIF do.

use super::super::{Form, Function, Head, Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let [branch, otherwise] = node.kids.as_slice() else { return None };
    let (condition, then) = super::both(branch, Form::When).filter(|_| node.head == Form::Case)?;
    let same = |value: &Node, other: &Node| value.key() == other.key() && !value.any_head(&is_drawn);
    let function = |function: Function, value: &Node, other: &Node| {
        Some(Node::list(function, vec![value.clone(), other.clone()], node.span))
    };
    if let Some(value) = super::inside(condition, Op::IsNull).filter(|value| same(value, otherwise)) {
        return function(Function::Coalesce, value, then);
    }
    if let Some(value) = super::inside(condition, Op::IsNotNull).filter(|value| same(value, then)) {
        return function(Function::Coalesce, value, otherwise);
    }
    let (left, right) = super::both(condition, Op::Equals).filter(|_| then.head == Form::Null)?;
    if same(left, otherwise) {
        return function(Function::Nullif, left, right);
    }
    same(right, otherwise).then(|| function(Function::Nullif, right, left))?
}

/// Whether a value is drawn anew each time.
fn is_drawn(head: &Head) -> bool {
    matches!(head, Head::Call(function) if function.is_drawn())
}
