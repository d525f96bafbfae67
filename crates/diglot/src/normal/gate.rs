//! What holds between the statements of a SQLite unit that all ask the same CTE, which each of them repeats.

use super::Names;
use crate::guard::gives_one;
use crate::tree::{Body, Expr, ExprKind, JoinKind, Part, Query, Rows, Select, Source};

/// Whether a query gives one row at most.
pub(super) fn has_one(names: &Names<'_>, query: &Query) -> bool {
    matches!(&query.rows, Rows::Select(select) if gives_one(&names.pair.schemas.sqlite.tables, select))
}

/// Whether a SELECT gives each row that it finds, one time.
fn is_plain(select: &Select) -> bool {
    select.distinct.is_none()
        && select.group.is_empty()
        && select.having.is_none()
        && !select.columns.iter().any(|column| crate::resolve::is_aggregate_call(&column.expr))
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
