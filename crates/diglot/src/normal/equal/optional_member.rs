//! A member of a document that is set when a value is given.

use super::super::head::Path;
use super::super::words::Setting;
use super::super::{Form, Function, Head, Names, Node, Op};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    chosen(node).or_else(|| if names.dialect() == Dialect::Pg { added(expr, node) } else { None })
}

/// A CASE between a document and the same with one member.
fn chosen(node: &Node) -> Option<Node> {
    let (when, otherwise) = super::both(node, Form::Case)?;
    let (condition, then) = super::both(when, Form::When)?;
    let (value, without, with) = match super::inside(condition, Op::IsNull) {
        Some(value) => (value, then, otherwise),
        None => (super::inside(condition, Op::IsNotNull)?, otherwise, then),
    };
    let (document, members) = super::both(with, Form::JsonSet)?;
    let [member] = members.kids.as_slice() else { return None };
    let [set] = member.kids.as_slice() else { return None };
    // Where there is a value, it does not matter what NULL would have done.
    let Head::Member { setting: Setting::Plain | Setting::NullForNull, makes_parents: false, path } = &member.head else {
        return None;
    };
    let is_plain = set.key() == value.key() && document.key() == without.key();
    is_plain.then(|| with_member(document, vec![unless_null(path, set)], node))
}

/// A document to which an object is added that has lost its NULLs.
fn added(expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Binary { op, right, .. } = &expr.kind else { return None };
    let (document, object) = super::both(node, Op::JoinDocuments).filter(|_| op == "||")?;
    let object = super::inside(object, Function::JsonbStripNulls).filter(|object| object.head == Form::JsonObject)?;
    let ExprKind::Call { args, .. } = &right.kind else { return None };
    let [Expr { kind: ExprKind::Call { args, .. }, .. }] = args.as_slice() else { return None };
    let is_plain = |value: &Expr| value.base().is_some_and(|base| *base != Base::Json);
    if !args.iter().skip(1).step_by(2).all(is_plain) {
        return None;
    }
    let member = |member: &Node| match member.kids.as_slice() {
        [key, value] => key.head.text().map(|key| unless_null(&Path::of(key), value)),
        _ => None,
    };
    Some(with_member(document, object.kids.iter().map(member).collect::<Option<_>>()?, node))
}

fn unless_null(path: &Path, value: &Node) -> Node {
    Node::list(Head::member(Setting::UnlessNull, path.clone()), vec![value.clone()], value.span)
}

fn with_member(document: &Node, members: Vec<Node>, node: &Node) -> Node {
    Node::list(Form::JsonSet, vec![document.clone(), Node::set(Form::Members, members, node.span)], node.span)
}
