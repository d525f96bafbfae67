//! GROUP_CONCAT and STRING_AGG.

use super::super::words::Target;
use super::super::{Form, Function, Head, Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { name, args, .. } = &expr.kind else { return None };
    if name != "group_concat" && name != "string_agg" {
        return None;
    }
    let mut kids = node.kids.clone();
    let value = args.first()?;
    if args.len() == 1 {
        kids.insert(1, Node::leaf(Head::Text(",".to_owned()), node.span));
    }
    let number = matches!(value.base(), Some(Base::Int16 | Base::Int32 | Base::Int64));
    if names.dialect() == Dialect::Sqlite && number {
        kids[0] = Node::list(Target::Text, vec![kids[0].clone()], kids[0].span);
    }
    let bare = super::inside(&kids[0], Target::Text).unwrap_or(&kids[0]).key();
    for key in kids.iter_mut().filter(|kid| kid.head == Form::Order).flat_map(|order| &mut order.kids) {
        if let Head::Key { nulls, .. } = &mut key.head
            && key.kids.iter().all(|kid| kid.key() == bare)
        {
            *nulls = None;
        }
    }
    let head = match &node.head {
        Head::CallOfDistinct(_) => Head::CallOfDistinct(Function::StringAgg),
        _ => Head::Call(Function::StringAgg),
    };
    Some(Node { head, kids, ..node.clone() })
}
