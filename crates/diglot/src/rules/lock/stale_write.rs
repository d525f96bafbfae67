//! A value is calculated from a row that was read without a lock.

use crate::rules::Context;
use crate::rules::look::{bare, sets, split, tables};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Query, Rows, SourceId, SourceKind, Update};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let Body::Update(update) = &part.body else { continue };
        let SourceKind::Table(target) = &update.target.kind else { continue };
        for set in &update.set {
            // A plain copy of what was read restores it on purpose; a calculation loses what came between.
            if matches!(bare(&set.value).kind, ExprKind::Column { .. }) {
                continue;
            }
            let stale = set.value.exprs().into_iter().find(|expr| {
                let ExprKind::Column { source, column } = &expr.kind else { return false };
                let Some(query) = unlocked(context, *source) else { return false };
                origin(query, column).is_some_and(|(table, own)| {
                    context.table(table).is_some_and(|table| table.name == *target) && own == set.column
                }) && !is_fenced(update, *source, column)
            });
            if let Some(expr) = stale {
                let message =
                    format!("{}: `{}` is calculated from a row read without a lock", context.name(), set.column);
                let label = "may have changed since it was read";
                let finding = Diagnostic::error(rule::STALE_WRITE, message, expr.span, label);
                let help = format!(
                    "calculate from `{}.{}` itself, or write FOR UPDATE in the CTE",
                    update.target.alias, set.column
                );
                found.push(finding.help(help));
            }
        }
    }
}

/// The query of a CTE that reads tables and locks nothing.
fn unlocked<'t>(context: &Context<'t>, source: SourceId) -> Option<&'t Query> {
    let SourceKind::Cte(name) = &context.by_id.get(&source)?.kind else { return None };
    context.cte(name).filter(|query| query.locks.is_empty() && !tables(query).is_empty())
}

/// The table's column that a query's column shows.
fn origin<'q>(query: &'q Query, name: &str) -> Option<(SourceId, &'q str)> {
    let Rows::Select(select) = &query.rows else { return None };
    match &select.columns.iter().find(|column| column.name == name)?.expr.kind {
        ExprKind::Column { source, column } => Some((*source, column)),
        _ => None,
    }
}

/// Whether the WHERE compares a column that is changed with what was read.
fn is_fenced(update: &Update, read: SourceId, column: &str) -> bool {
    let mut conditions = Vec::new();
    split(update.filter.as_ref(), &mut conditions);
    let of = |expr: &Expr, wanted: SourceId| match &bare(expr).kind {
        ExprKind::Column { source, column } if *source == wanted => Some(column.clone()),
        _ => None,
    };
    conditions.iter().any(|condition| match &condition.kind {
        ExprKind::Binary { op, left, right } if op == "=" || op == "is not distinct from" => {
            [(left, right), (right, left)].into_iter().any(|(own, seen)| {
                of(own, update.target.id).is_some_and(|own| sets(update, &own))
                    && of(seen, read).is_some_and(|seen| seen == column || sets(update, &seen))
            })
        }
        _ => false,
    })
}
