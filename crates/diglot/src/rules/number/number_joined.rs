//! A number is joined to a text.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    let is_text = |expr: &Expr| context.holds(expr) == Some(&Base::Text);
    let number = |expr: &Expr| match &expr.kind {
        ExprKind::Param(name) => {
            let base = context.holds(expr);
            let is_number = matches!(base, Some(Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64));
            is_number.then(|| name.clone())
        }
        _ => None,
    };
    for expr in &context.exprs {
        let ExprKind::Binary { op, left, right } = &expr.kind else { continue };
        let joined = [(left, right), (right, left)].into_iter().find_map(|(text, other)| {
            let name = number(other).filter(|_| op == "||" && is_text(text))?;
            Some((name, other.span))
        });
        if let Some((name, span)) = joined {
            let message = format!("{}: the number `:{name}` is joined to a text", context.name());
            let finding = Diagnostic::warning(rule::NUMBER_JOINED, message, span, "Postgres takes it for a text");
            found.push(finding.help(format!("write `CAST(:{name} AS TEXT)`, on both pages")));
        }
    }
}
