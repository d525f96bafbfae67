//! A number with a fraction goes into an integer column.

use crate::rules::Context;
use crate::rules::look::is_integer;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.facing.is_none() {
        return;
    }
    for (table, name, value) in context.stored() {
        let integer = table.column(name).is_some_and(|column| is_integer(&column.ty.base));
        if integer && is_real(context, value) {
            let message = format!("{}: a number with a fraction goes into `{}.{name}`", context.name(), table.name);
            let label = "rounded by Postgres, kept by SQLite";
            let finding = Diagnostic::error(rule::REAL_INTO_INTEGER, message, value.span, label);
            found.push(finding.help("say what is meant: `CAST(… AS BIGINT)` on both pages, or a column of doubles"));
        }
    }
}

fn is_real(context: &Context<'_>, value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Number(text) => text.contains('.'),
        ExprKind::Param(_) => context.holds(value) == Some(&Base::Float64),
        // What a function gives is often a whole number that is held as a double.
        ExprKind::Call { .. } => false,
        _ => matches!(value.base(), Some(Base::Float64 | Base::Numeric)) && !matches!(value.kind, ExprKind::Scalar(_)),
    }
}
