//! One more element at the end of a JSON array.

use super::super::{Form, Names, Node, json};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let (list, item) = match &expr.kind {
        ExprKind::Call { name, args, .. } if name == "json_insert" => match args.as_slice() {
            [list, Expr { kind: ExprKind::Text(path), .. }, item] if path == "$[#]" => (list, item),
            _ => return None,
        },
        ExprKind::Binary { op, left, right } if op == "||" => (&**left, appended(names, right)?),
        _ => return None,
    };
    let kids = || vec![names.expr(list), json::value_of(names, item)];
    let is_sound = names.is_json_list(list) && item.base() != Some(&Base::Float64);
    is_sound.then(|| Node::list(Form::JsonAppend, kids(), node.span))
}

/// The element of which Postgres makes the document that it appends.
fn appended<'e>(names: &Names<'_>, document: &'e Expr) -> Option<&'e Expr> {
    let ExprKind::Call { name, args, .. } = &document.kind else { return None };
    let [item] = args.as_slice() else { return None };
    match name.as_str() {
        "jsonb_build_array" | "json_build_array" => Some(item),
        // An array would be taken apart.
        "to_jsonb" if names.required(item) && !item.base().is_some_and(|base| *base == Base::Json || base.is_list()) => {
            Some(item)
        }
        _ => None,
    }
}
