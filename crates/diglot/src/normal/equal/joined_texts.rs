//! GROUP_CONCAT and STRING_AGG.
//!
//! # Why
//!
//! Both join the texts of a group, leave out NULLs and give NULL of none. SQLite's separator is a comma unless it is
//! written, and it makes texts of numbers by itself. Where the values are put in order by themselves the place of
//! NULLs means nothing.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT group_concat(t.n ORDER BY t.n) AS c FROM t
//! pg:     SELECT string_agg(t.n::text, ',' ORDER BY t.n) AS c FROM t
//! sqlite: SELECT group_concat(s.maybe) AS c FROM (SELECT t.maybe FROM t ORDER BY t.maybe) AS s
//! pg:     SELECT string_agg(t.maybe::text, ',' ORDER BY t.maybe) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT group_concat(t.name) AS c FROM t
//! pg:     SELECT string_agg(t.name, ';') AS c FROM t
//! sqlite: SELECT group_concat(s.name) AS c FROM (SELECT t.name FROM t ORDER BY t.name DESC) AS s
//! pg:     SELECT string_agg(t.name, ',' ORDER BY t.name) AS c FROM t
//! ```

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
