//! An alias has the name of a column that is grouped by.

use crate::rules::Context;
use crate::rules::look::selects;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_sqlite_of_pair() {
        return;
    }
    for select in context.page.tree.parts.iter().flat_map(selects) {
        for key in &select.group {
            let ExprKind::Column { source, column } = &key.kind else { continue };
            let shadow = select.columns.iter().find(|output| {
                let is_it = matches!(&output.expr.kind, ExprKind::Column { source: other, column: name } if other == source && name == column);
                output.name == *column && !is_it
            });
            if let Some(output) = shadow {
                let message = format!("{}: `{column}` is a column and an alias", context.name());
                let finding = Diagnostic::warning(rule::ALIAS_SHADOWS, message, key.span, "the column is grouped by");
                found.push(finding.context(output.span, "not this").help("give the expression another alias"));
            }
        }
    }
}
