//! A subquery that locks is run again, and its LIMIT with it.

use crate::rules::Context;
use crate::rules::look::{branches, tables};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Query, Source, SourceKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.page.tree.dialect != Dialect::Pg {
        return;
    }
    for part in &context.page.tree.parts {
        let (target, from, filter) = match &part.body {
            Body::Update(update) => (&update.target, &update.from, update.filter.as_ref()),
            Body::Delete(delete) => (&delete.target, &delete.using, delete.filter.as_ref()),
            Body::Query(_) | Body::Insert(_) => continue,
        };
        let Some(table) = target.table() else { continue };
        let mut joined = Vec::new();
        filter.into_iter().flat_map(Expr::exprs).filter_map(joined_to).for_each(|query| with_inner(query, &mut joined));
        from.iter().filter_map(derived).for_each(|query| with_inner(query, &mut joined));
        for query in joined {
            let Some(limit) = &query.limit else { continue };
            if query.locks.is_empty() || tables(query).iter().all(|(name, _)| *name != table) {
                continue;
            }
            let message = format!("{}: more rows of `{table}` may be changed than LIMIT says", context.name());
            let label = "each run of the subquery picks other rows";
            let finding = Diagnostic::error(rule::LIMITED_SUBQUERY, message, limit.span, label);
            let help = "pick the rows in a CTE: one that locks runs once";
            found.push(finding.context(target.span, "changed here").help(help));
        }
    }
}

/// The subquery with which an expression joins rows. A scalar one and that of ARRAY run once.
fn joined_to(expr: &Expr) -> Option<&Query> {
    match &expr.kind {
        ExprKind::InQuery { query, .. } | ExprKind::Exists { query, .. } => Some(query),
        ExprKind::Any { right, .. } => match &right.kind {
            ExprKind::Scalar(query) => Some(query),
            _ => None,
        },
        _ => None,
    }
}

fn derived(source: &Source) -> Option<&Query> {
    match &source.kind {
        SourceKind::Derived(query) => Some(query),
        _ => None,
    }
}

/// A query and the derived tables that it reads, which run when it does.
fn with_inner<'t>(query: &'t Query, queries: &mut Vec<&'t Query>) {
    queries.push(query);
    let mut selects = Vec::new();
    branches(&query.rows, &mut selects);
    selects
        .into_iter()
        .flat_map(|select| &select.from)
        .filter_map(derived)
        .for_each(|query| with_inner(query, queries));
}
