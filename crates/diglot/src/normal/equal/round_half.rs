//! ROUND of a double on SQLite, and of a numeric on Postgres.

use super::super::words::Target;
use super::super::{Form, Function, Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    if names.dialect() != Dialect::Pg {
        return None;
    }
    if let ExprKind::Call { name, args, .. } = &expr.kind
        && name == "round"
        && args.first().and_then(Expr::base) == Some(&Base::Float64)
    {
        return Some(node.with_head(Form::RoundHalfToEven));
    }
    let rounded = super::inside(node, Target::Real).filter(|inner| inner.head == Function::Round)?;
    let (value, digits) = rounded.kids.split_first()?;
    let double = super::inside(value, Target::Numeric)?;
    let kids = std::iter::once(double).chain(digits).cloned().collect();
    Some(Node { kids, span: node.span, ..rounded.clone() })
}
