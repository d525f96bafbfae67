//! What holds between the statements of a SQLite unit that all ask the same CTE, which each of them repeats.

use std::collections::BTreeSet;

use super::Names;
use crate::guard::gives_one;
use crate::tree::{Body, Expr, ExprKind, JoinKind, Part, Query, Rows, Select, Source, SourceKind};

/// Whether an insert has made one row wherever a later statement of the unit has a row.
///
/// Both take their rows from one CTE, or ask for it. It gives one row at most. What is written in between asks for it
/// too, or touches no table that it reads: so where it gives a row to the later statement, it gave one to the insert.
pub(super) fn has_made_one(names: &Names<'_>, insert: &Part, later: &Part) -> bool {
    let Some(gate) = source_of_insert(insert) else { return false };
    let of = |part: &Part| cte(names, part.statement, gate);
    let (Some(first), Some(_)) = (of(insert), of(later)) else { return false };
    let Body::Query(query) = &first.body else { return false };
    let mut read = BTreeSet::new();
    tables(names, first, &mut read);
    let harmless = |part: &&Part| {
        part.target().is_none_or(|target| target.table().is_none_or(|name| !read.contains(name))) || asks(part, gate)
    };
    let mut between =
        names.statement.parts.iter().filter(|part| (insert.statement..later.statement).contains(&part.statement));
    asks(later, gate) && between.all(|part| harmless(&part)) && has_one(names, query)
}

/// Whether a query gives one row at most.
pub(super) fn has_one(names: &Names<'_>, query: &Query) -> bool {
    matches!(&query.rows, Rows::Select(select) if gives_one(&names.pair.schemas.sqlite.tables, select))
}

/// The CTE whose rows an insert takes, each one time.
fn source_of_insert(part: &Part) -> Option<&str> {
    let Body::Insert(insert) = &part.body else { return None };
    let Rows::Select(select) = &insert.rows.rows else { return None };
    let whole = insert.rows.limit.is_none() && insert.rows.offset.is_none() && is_plain(select);
    match select.from.as_slice() {
        [source] if whole && select.filter.is_none() => source.cte(),
        _ => None,
    }
}

/// Whether a SELECT gives each row that it finds, one time.
fn is_plain(select: &Select) -> bool {
    select.distinct.is_none()
        && select.group.is_empty()
        && select.having.is_none()
        && !select.columns.iter().any(|column| crate::resolve::is_aggregate_call(&column.expr))
}

/// The CTE of that name in one of the unit's statements.
fn cte<'t>(names: &Names<'t>, statement: usize, name: &str) -> Option<&'t Part> {
    let own = |part: &&Part| part.statement == statement && part.name.as_deref() == Some(name);
    names.statement.parts.iter().find(own)
}

/// Every table that a CTE reads, itself or through others.
fn tables<'t>(names: &Names<'t>, part: &'t Part, read: &mut BTreeSet<&'t str>) {
    for source in part.sources() {
        match &source.kind {
            SourceKind::Table(name) => {
                read.insert(name);
            }
            SourceKind::Cte(name) if part.name.as_deref() != Some(name) => {
                if let Some(part) = cte(names, part.statement, name) {
                    tables(names, part, read);
                }
            }
            _ => {}
        }
    }
}

/// Whether a write does nothing when a CTE gives no row.
pub(crate) fn asks(part: &Part, gate: &str) -> bool {
    let inner = |sources: &[Source]| {
        let outer = |source: &Source| {
            source.join.as_ref().is_some_and(|join| matches!(join.kind, JoinKind::Right | JoinKind::Full))
        };
        let needed = |source: &Source| {
            source.cte() == Some(gate) && source.join.as_ref().is_none_or(|join| join.kind != JoinKind::Left)
        };
        sources.iter().any(needed) && !sources.iter().any(outer)
    };
    match &part.body {
        Body::Update(update) => inner(&update.from) || demands(update.filter.as_ref(), gate),
        Body::Delete(delete) => demands(delete.filter.as_ref(), gate),
        Body::Insert(insert) => match &insert.rows.rows {
            Rows::Select(select) => is_plain(select) && (inner(&select.from) || demands(select.filter.as_ref(), gate)),
            _ => false,
        },
        Body::Query(_) => true,
    }
}

/// Whether a condition asks for a row of a CTE.
fn demands(filter: Option<&Expr>, gate: &str) -> bool {
    let takes = |query: &Query| match &query.rows {
        Rows::Select(select) => {
            is_plain(select) && matches!(select.from.as_slice(), [source] if source.cte() == Some(gate))
        }
        _ => false,
    };
    filter.into_iter().flat_map(Expr::conjuncts).any(|condition| match &condition.kind {
        ExprKind::Exists { query, negated: false } => takes(query),
        // A comparison with what no row gives is not true.
        ExprKind::Binary { op, left, right } if op == "=" => {
            [left, right].into_iter().any(|side| matches!(&side.kind, ExprKind::Scalar(query) if takes(query)))
        }
        _ => false,
    })
}
