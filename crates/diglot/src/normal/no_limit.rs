//! A LIMIT that takes all rows.

use super::{Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind, Query};

impl Names<'_> {
    /// The limit of a query, where it may leave out a row.
    pub(crate) fn limit(&self, query: &Query) -> Option<Node> {
        let limit = query.limit.as_ref()?;
        let dialect = self.statement.dialect;
        if self.has_one_row(query) || is_none(limit, dialect) {
            return None;
        }
        let ExprKind::Case { operand, branches, otherwise } = &limit.kind else { return Some(self.expr(limit)) };
        // What is none in a branch is what a CASE without ELSE gives.
        let none = |value: &Expr| match is_none(value, dialect) {
            true => Expr { kind: ExprKind::Null, ..value.clone() },
            false => value.clone(),
        };
        let branches = branches.iter().map(|(when, then)| (when.clone(), none(then))).collect();
        let otherwise = otherwise.as_ref().filter(|value| !is_none(value, dialect)).cloned();
        let kind = ExprKind::Case { operand: operand.clone(), branches, otherwise };
        Some(self.expr(&Expr { kind, ..limit.clone() }))
    }
}

/// Whether a value takes all rows.
fn is_none(limit: &Expr, dialect: Dialect) -> bool {
    match (&limit.kind, dialect) {
        (ExprKind::Unary { op, expr }, Dialect::Sqlite) => op == "-" && matches!(expr.kind, ExprKind::Number(_)),
        (ExprKind::Number(text), Dialect::Sqlite) => text.starts_with('-'),
        (ExprKind::Null, Dialect::Pg) => true,
        _ => false,
    }
}
