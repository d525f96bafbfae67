//! An array as JSON on Postgres, and the JSON array that SQLite keeps.

use super::super::{Names, Node};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let array = match &expr.kind {
        ExprKind::Cast { expr: inner, base: Some(Base::Text), .. } => array(inner)?,
        _ => array(expr)?,
    };
    Some(Node { span: node.span, ..names.expr(array) })
}

/// The array column that a call turns into JSON.
fn array(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call { name, args, .. } = &expr.kind else { return None };
    let [array] = args.as_slice() else { return None };
    let is_array = array.base().is_some_and(Base::is_list);
    let is_column = matches!(array.kind, ExprKind::Column { .. });
    ((name == "to_json" || name == "array_to_json") && is_array && is_column).then_some(array)
}
