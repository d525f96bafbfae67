//! COUNT of a column that is never NULL, and `count(*)`.

use super::super::{Function, Head, Names, Node, json};
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { name, args, distinct: false, over: None, .. } = &expr.kind else { return None };
    let [counted] = args.as_slice() else { return None };
    if name != "count" {
        return None;
    }
    if !names.required(counted) {
        // Nothing but whether a member is there counts.
        let read = json::as_text(node.kids.first()?.clone());
        return Some(Node { kids: [&[read], &node.kids[1..]].concat(), ..node.clone() });
    }
    Some(Node { head: Head::CallOfRows(Function::Count), kids: node.kids[1..].to_vec(), ..node.clone() })
}
