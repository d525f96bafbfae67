//! Rows are picked without a lock and then changed.

use crate::rules::Context;
use crate::rules::look::{asked, branches, read_from, split, tables};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{
    Assignment, Body, ConflictAction, Expr, ExprKind, Insert, Query, Rows, Source, SourceId, SourceKind, Update,
};

/// What the second session does.
const SAME_ROWS: &str = "two sessions can pick the same rows";

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        // A row that is deleted is gone for the second session, so a DELETE is no matter.
        let update = match &part.body {
            Body::Update(update) => update,
            Body::Insert(insert) => {
                upsert(context, insert, found);
                continue;
            }
            Body::Query(_) | Body::Delete(_) => continue,
        };
        let (target, filter) = (&update.target, update.filter.as_ref());
        let Some(table) = target.table() else { continue };
        let asks_again = asks_again(update);
        let inside = filter.into_iter().flat_map(Expr::exprs).filter_map(Expr::subquery);
        let picked = inside.chain(update.from.iter().filter_map(derived));
        let through = picked.flat_map(|query| with_ctes(context, query)).chain(ctes(context, update.from.iter()));
        if let Some(query) = through.into_iter().find(|query| {
            let one = matches!(query.limit.as_ref().map(|limit| &limit.kind), Some(ExprKind::Number(n)) if n == "1");
            let is_picked = if asks_again { one } else { query.limit.is_some() };
            is_picked && query.locks.is_empty() && tables(query).iter().any(|(name, _)| *name == table)
        }) {
            let label = if asks_again { "a session that waited for this row gets nothing" } else { SAME_ROWS };
            found.push(finding(context, query, table, target, label));
        }
    }
}

/// An upsert by a picked key writes over what another session has just written from the same pick.
fn upsert(context: &Context<'_>, insert: &Insert, found: &mut Vec<Diagnostic>) {
    let Some(conflict) = &insert.conflict else { return };
    let ConflictAction::Update { set, filter, .. } = &conflict.action else { return };
    let mut conditions = Vec::new();
    split(filter.as_ref(), &mut conditions);
    let Rows::Select(select) = &insert.rows.rows else { return };
    if asks(&conditions, insert.target.id, set) {
        return;
    }
    let key = conflict.target.as_deref().unwrap_or_default();
    let values = insert.columns.iter().zip(&select.columns).filter(|((name, _), _)| key.contains(name));
    let by: Vec<SourceId> = values.flat_map(|(_, value)| read_from(&value.expr)).collect();
    for query in ctes(context, select.from.iter().filter(|source| by.contains(&source.id))) {
        if let (Some((table, _)), Some(_), true) = (tables(query).first(), &query.limit, query.locks.is_empty()) {
            found.push(finding(context, query, table, &insert.target, SAME_ROWS));
        }
    }
}

fn finding(context: &Context<'_>, query: &Query, table: &str, target: &Source, label: &str) -> Diagnostic {
    let span = query.limit.as_ref().map_or(query.span, |limit| limit.span);
    let message = format!("{}: rows of `{table}` are picked without a lock and then changed", context.name());
    let found = Diagnostic::error(rule::UNLOCKED_CLAIM, message, span, label);
    found.context(target.span, "changed here").help("write `FOR UPDATE SKIP LOCKED` behind the LIMIT, in a CTE")
}

/// Whether the WHERE of the write itself asks for a column that it changes.
pub(in crate::rules) fn asks_again(update: &Update) -> bool {
    let mut conditions = Vec::new();
    split(update.filter.as_ref(), &mut conditions);
    asks(&conditions, update.target.id, &update.set)
}

fn asks(conditions: &[&Expr], target: SourceId, set: &[Assignment]) -> bool {
    let own = conditions.iter().copied().filter(|condition| condition.subquery().is_none());
    asked(own, target).any(|column| set.iter().any(|set| set.column == column))
}

fn derived(source: &Source) -> Option<&Query> {
    match &source.kind {
        SourceKind::Derived(query) => Some(query),
        _ => None,
    }
}

/// A query, and those of the CTEs that it reads.
fn with_ctes<'t>(context: &Context<'t>, query: &'t Query) -> Vec<&'t Query> {
    let mut selects = Vec::new();
    branches(&query.rows, &mut selects);
    let mut queries = vec![query];
    queries.extend(ctes(context, selects.into_iter().flat_map(|select| &select.from)));
    queries
}

/// The queries of the CTEs among these sources.
fn ctes<'t>(context: &Context<'t>, sources: impl Iterator<Item = &'t Source>) -> Vec<&'t Query> {
    sources.filter_map(|source| context.cte(source.cte()?)).collect()
}
