//! A text goes into a column of numbers.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for (table, name, value) in context.stored() {
        let ExprKind::Text(text) = &value.kind else { continue };
        let Some(column) = table.column(name) else { continue };
        if !matches!(column.ty.base, Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 | Base::Numeric) {
            continue;
        }
        let message = format!("{}: a text goes into the number `{}.{name}`", context.name(), table.name);
        let help = "write the number without quotes, on both pages";
        found.push(match text.trim().parse::<f64>() {
            Ok(_) => Diagnostic::warning(rule::TEXT_INTO_NUMBER, message, value.span, "a number in quotes").help(help),
            Err(_) => {
                let label = "kept by SQLite, refused by Postgres";
                Diagnostic::error(rule::TEXT_INTO_NUMBER, message, value.span, label).help(help)
            }
        });
    }
}
