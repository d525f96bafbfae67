//! A JSON field that `[json]` of `diglot.toml` gives a type.

use super::super::words::Read;
use super::super::{Head, Names, Node, json};
use crate::tree::Expr;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let Head::Read(Read::Typed, path) = &node.head else { return None };
    let declared = match names.list_of(expr) {
        Some(document) => names.json_type(&document, "*"),
        None => names.json_type(node.kids.first()?, &path.dotted()),
    };
    Some(json::declared(json::as_text(node.clone()), declared?))
}
