//! A LEFT JOIN that a condition makes inner.

use crate::resolve::present_columns;
use crate::tree::{Expr, JoinKind, Source};

/// How a source joins, as the condition leaves it; an inner or cross join is its condition alone.
pub(crate) fn effective_join(source: &Source, filter: Option<&Expr>) -> Option<JoinKind> {
    match source.join.as_ref()?.kind {
        JoinKind::Inner | JoinKind::Cross => None,
        JoinKind::Left if drops_rows_without(source, filter) => None,
        kind => Some(kind),
    }
}

/// Whether a condition drops the rows for which a source has no partner.
pub fn drops_rows_without(source: &Source, filter: Option<&Expr>) -> bool {
    filter.is_some_and(|filter| present_columns(filter).iter().any(|(id, _)| *id == source.id))
}
