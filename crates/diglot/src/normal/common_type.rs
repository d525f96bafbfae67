//! Whole numbers beside reals in one result.
//!
//! # Why
//!
//! The values of COALESCE, NULLIF and CASE have one type on Postgres: a whole number beside a real becomes a real, and
//! loses what a real cannot hold. SQLite gives each value as it is. A whole number that is written out is the same as a
//! real, as far as anybody can see.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT COALESCE(t.x, 0) AS c FROM t
//! pg:     SELECT COALESCE(t.x, 0) AS c FROM t
//! sqlite: SELECT COALESCE(CAST(t.n AS REAL), t.x) AS c FROM t
//! pg:     SELECT COALESCE(CAST(t.n AS double precision), t.x) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT COALESCE(t.maybe, t.x) AS c FROM t
//! pg:     SELECT COALESCE(t.maybe, t.x) AS c FROM t
//! sqlite: SELECT CASE WHEN t.n > 1 THEN t.big ELSE t.x END AS c FROM t
//! pg:     SELECT CASE WHEN t.n > 1 THEN t.big ELSE t.x END AS c FROM t
//! ```

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
