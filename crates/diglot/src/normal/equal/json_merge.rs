//! `json_patch` with an object that is built on the spot, and `||` on every level.

use super::super::head::Path;
use super::super::words::{Read, Setting};
use super::super::{Form, Function, Head, Names, Node, json};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    if node.head == Form::JsonSet {
        return objects_that_are_there(node);
    }
    let (Head::Call(Function::JsonPatch), ExprKind::Call { args, .. }) = (&node.head, &expr.kind) else { return None };
    let [_, patch] = args.as_slice() else { return None };
    let members = Node::set(Form::Members, patched(names, patch)?, node.span);
    Some(Node::list(Form::JsonSet, vec![node.kids.first()?.clone(), members], node.span))
}

/// The members that a patch sets, where it removes none.
fn patched(names: &Names<'_>, patch: &Expr) -> Option<Vec<Node>> {
    let pairs = built(patch)?.chunks(2);
    let mut members = Vec::new();
    for pair in pairs {
        let [key, value] = pair else { return None };
        let member = match built(value) {
            Some(_) => {
                let ExprKind::Text(key) = &key.kind else { return None };
                Node::list(Head::member(Setting::Merged, Path::of(key)), vec![Node::set(Form::Members, patched(names, value)?, value.span)], value.span)
            }
            // The value is looked into once more, and a patch inside it would have that done again at each depth.
            None if names.required(value) && value.base() != Some(&Base::Json) && !holds_patch(value) => {
                json::member(names, key, names.expr(value))
            }
            None => return None,
        };
        members.push(member);
    }
    Some(members)
}

fn holds_patch(expr: &Expr) -> bool {
    expr.exprs().into_iter().any(|inner| inner.calls("json_patch"))
}

/// The keys and values of an object that is built.
fn built(expr: &Expr) -> Option<&[Expr]> {
    match &expr.kind {
        ExprKind::Call { name, args, .. } if name == "json_object" => Some(args),
        _ => None,
    }
}

/// Members whose value is the object that is there, or else a new one, with members of its own.
fn objects_that_are_there(node: &Node) -> Option<Node> {
    let (document, members) = super::both(node, Form::JsonSet).filter(|(_, members)| members.head == Form::Members)?;
    let merged: Vec<Option<Node>> = members.kids.iter().map(|member| merged(document, member)).collect();
    merged.iter().any(Option::is_some).then(|| {
        let kids = members.kids.iter().zip(merged).map(|(plain, merged)| merged.unwrap_or_else(|| plain.clone()));
        let members = Node { kids: kids.collect(), ..members.clone() };
        Node { kids: vec![document.clone(), members], ..node.clone() }
    })
}

fn merged(document: &Node, member: &Node) -> Option<Node> {
    let Head::Member { setting: Setting::Plain, makes_parents: false, path } = &member.head else { return None };
    let [value] = member.kids.as_slice() else { return None };
    let (base, inner) = super::both(value, Form::JsonSet)?;
    let (branch, otherwise) = super::both(base, Form::Case)?;
    let (condition, there) = super::both(branch, Form::When)?;
    let is_of = |node: &Node, head: Head| {
        node.head == head && node.kids.first().is_some_and(|kid| kid.key() == document.key())
    };
    let is_asked = is_of(condition, Head::IsOfType { path: path.clone(), types: vec!["object"], negated: false });
    let is_there = is_of(there, Head::Read(Read::Value, path.clone()));
    let is_empty = super::inside(otherwise, Form::Json).unwrap_or(otherwise).head.is_text("{}");
    (is_asked && is_there && is_empty)
        .then(|| Node::list(Head::member(Setting::Merged, path.clone()), vec![inner.clone()], member.span))
}
