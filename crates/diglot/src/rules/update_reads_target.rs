//! An UPDATE reads the table that it changes.
//!
//! # What it finds
//!
//! On the SQLite page of a pair: a subquery over the target in the WHERE or the SET of an UPDATE that depends on the
//! row at hand and reads columns that the UPDATE changes.
//!
//! # Why it bites
//!
//! SQLite may see rows that the statement has already changed, in some versions; Postgres judges every row by the
//! table as it was.
//!
//! # Write instead
//!
//! The rows picked first, by a CTE that both pages have, then changed by their ids.
//!
//! # Example
//!
//! ```text
//! WITH picked AS (SELECT …) UPDATE job SET … WHERE id IN (SELECT id FROM picked)
//! ```

use super::Context;
use super::look::{sets, tables};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Query, SourceId, SourceKind, Update};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
