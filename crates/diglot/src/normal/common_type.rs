//! Whole numbers beside reals in one result.

use super::words::Target;
use super::{Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

impl Names<'_> {
    /// A value that stands beside others in one result, as its engine gives it.
    pub(super) fn beside(&self, expr: &Expr, others: &[&Expr]) -> Node {
        let node = self.expr(expr);
        let is_whole = matches!(expr.base(), Some(Base::Int16 | Base::Int32 | Base::Int64));
        let is_real = |other: &&Expr| matches!(other.base(), Some(Base::Float64));
        let is_widened = self.dialect() == Dialect::Pg && is_whole && others.iter().any(is_real);
        if !is_widened || matches!(expr.kind, ExprKind::Number(_)) || is_negative_number(expr) {
            return node;
        }
        let span = node.span;
        Node::list(Target::RealBesideOthers, vec![node], span)
    }
}

fn is_negative_number(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Unary { op, expr } if op == "-" && matches!(expr.kind, ExprKind::Number(_)))
}
