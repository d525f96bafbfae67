//! A LIMIT ends between rows that nothing tells apart.

use crate::rules::Context;
use crate::rules::look::{bare, ordered_below, tied};
use crate::diagnostic::Diagnostic;
use crate::resolve::is_aggregate_call;
use crate::rule;
use crate::tree::{Expr, ExprKind, Part, Query, Rows, Select};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    // What a page of a list ends with has a rule of its own; what one page alone lacks, the comparison tells.
    let is_page = context.page.raw.optional.iter().any(|part| part.chooser.page().is_some());
    if !context.is_pg_of_pair() || is_page {
        return;
    }
    for part in &context.page.tree.parts {
        for query in part.queries() {
            let (Some(limit), Rows::Select(select)) = (&query.limit, &query.rows) else { continue };
            let ordered = if query.order.is_empty() { ordered_below(context, part, select) } else { Some(query) };
            let Some(ordered) = ordered else { continue };
            let Rows::Select(select) = &ordered.rows else { continue };
            if is_asked_for_one(part, query) || shows_keys_alone(ordered, select) {
                continue;
            }
            // Where an outer join finds no row, its columns are NULL, in one row for each of what stands before it.
            let is_present = |expr: &&Expr| match context.column(bare(expr)) {
                Some((_, column)) => !column.ty.nullable,
                None => expr.is_present(),
            };
            let keys: Vec<&Expr> = ordered.order.iter().map(|key| &key.expr).filter(is_present).collect();
            let Some(source) = tied(context, ordered, select, &keys) else { continue };
            let alias = &source.alias;
            let message = format!("{}: rows of `{alias}` may have one place where LIMIT ends", context.name());
            let last = ordered.order.last().map_or(ordered.span, |key| key.span);
            let finding = Diagnostic::warning(rule::LIMIT_TIES, message, last, "no unique key ends the order");
            let help = format!("end ORDER BY with a key of `{alias}` that is never NULL, on both pages");
            found.push(finding.context(limit.span, "each engine takes those that it meets first").help(help));
        }
    }
}

/// Whether it is only asked whether there is a row.
fn is_asked_for_one(part: &Part, query: &Query) -> bool {
    part.exprs()
        .into_iter()
        .any(|expr| matches!(&expr.kind, ExprKind::Exists { query: own, .. } if std::ptr::eq(&**own, query)))
}

/// Whether rows with one place in the order are the same in all that is looked at.
fn shows_keys_alone(query: &Query, select: &Select) -> bool {
    let is_key = |expr: &Expr| query.order.iter().any(|key| bare(&key.expr).is_alike(bare(expr)));
    let is_told = |expr: &Expr| {
        let columns = expr.exprs().into_iter().filter(|inner| matches!(inner.kind, ExprKind::Column { .. }));
        is_key(expr) || !is_aggregate_call(expr) && columns.into_iter().all(is_key)
    };
    query.locks.is_empty() && select.columns.iter().all(|column| is_told(&column.expr))
}
