//! A whole number is compared with a fraction.

use crate::rules::Context;
use crate::rules::look::is_comparison;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Binary { op, left, right } = &expr.kind else { continue };
        let are_columns = context.column(left).is_some() && context.column(right).is_some();
        if is_comparison(op)
            && let Some(literal) = [(left, right), (right, left)].into_iter().find_map(|(one, other)| {
                let is_whole = matches!(one.base(), Some(Base::Int64)) && context.column(one).is_some();
                (is_whole && is_inexact(other)).then_some(other)
            })
        {
            let message = format!("{}: a whole number is compared with a fraction beyond 2^53", context.name());
            let label = "rounded on SQLite, exact on Postgres";
            let finding = Diagnostic::error(rule::INT_REAL_COMPARISON, message, literal.span, label);
            found.push(finding.help("write the number without a point or an exponent"));
            continue;
        }
        let bases = (left.base(), right.base());
        let mixed =
            matches!(bases, (Some(Base::Int64), Some(Base::Float64)) | (Some(Base::Float64), Some(Base::Int64)));
        if is_comparison(op) && are_columns && mixed {
            let message = format!("{}: a whole number is compared with a fraction", context.name());
            let label = "exactly on SQLite, in 53 bits on Postgres";
            let finding = Diagnostic::warning(rule::INT_REAL_COMPARISON, message, expr.span, label);
            found.push(finding.help("cast one side to the type that is meant, on both pages"));
        }
    }
}

/// Whether a literal with a point or an exponent may not be what it says as a double.
fn is_inexact(expr: &Expr) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let ExprKind::Number(text) = &expr.kind else { return false };
    text.contains(['.', 'e', 'E']) && text.parse::<f64>().is_ok_and(|number| number.abs() >= EXACT)
}
