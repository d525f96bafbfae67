//! The same cast gives another width on each engine.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(facing) = context.facing.filter(|_| context.is_pg_of_pair()) else { return };
    let casts_there = facing.tree.exprs().into_iter().any(|expr| narrow(expr).is_some());
    for expr in &context.exprs {
        let Some(inner) = narrow(expr).filter(|_| casts_there) else { continue };
        let wide = match context.holds(inner) {
            Some(base) => matches!(base, Base::Int64 | Base::Numeric | Base::Float64),
            None => !matches!(inner.kind, ExprKind::Null),
        };
        if wide {
            let message = format!("{}: INTEGER has 64 bits on SQLite and 32 on Postgres", context.name());
            let finding = Diagnostic::error(rule::CAST_WIDTH, message, expr.span, "fails beyond two thousand million");
            found.push(finding.help("write `CAST(… AS BIGINT)`, on both pages"));
        }
    }
}

/// What is cast to a name that means fewer bits on Postgres.
fn narrow(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Cast { expr, to, .. } => ["integer", "int", "smallint"].contains(&to.as_str()).then_some(expr),
        _ => None,
    }
}
