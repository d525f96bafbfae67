//! An UPDATE reads the table that it changes.

use crate::rules::Context;
use crate::rules::look::{sets, tables};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Query, SourceId, SourceKind, Update};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_sqlite_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let Body::Update(update) = &part.body else { continue };
        let SourceKind::Table(target) = &update.target.kind else { continue };
        let values = update.set.iter().flat_map(|set| set.value.exprs());
        for expr in update.filter.iter().flat_map(Expr::exprs).chain(values) {
            let Some(query) = expr.subquery() else { continue };
            if reads(query, target, update) {
                let message = format!("{}: the UPDATE reads what it changes", context.name());
                let label = "may see changed rows on SQLite, none on Postgres";
                let finding = Diagnostic::error(rule::UPDATE_READS_TARGET, message, expr.span, label);
                found.push(finding.help("pick the rows first, in a CTE that both pages have"));
            }
        }
    }
}

/// Whether a query depends on the row at hand and reads changed columns of other rows of its table.
fn reads(query: &Query, target: &str, update: &Update) -> bool {
    let twins: Vec<SourceId> =
        tables(query).into_iter().filter(|(name, _)| *name == target).map(|(_, id)| id).collect();
    let columns: Vec<(SourceId, &str)> = query
        .exprs()
        .into_iter()
        .filter_map(|expr| match &expr.kind {
            ExprKind::Column { source, column } => Some((*source, column.as_str())),
            _ => None,
        })
        .collect();
    columns.iter().any(|(source, _)| *source == update.target.id)
        && columns.iter().any(|(source, column)| twins.contains(source) && sets(update, column))
}
