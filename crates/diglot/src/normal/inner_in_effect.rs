//! A LEFT JOIN that a condition makes inner.
//!
//! # Why
//!
//! A row without a partner has NULL in the partner's columns. A condition that is not true for NULL drops it again, so
//! the words LEFT and INNER give the same rows.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t JOIN u ON u.n = t.n WHERE u.name = 'x'
//! pg:     SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n WHERE u.name = 'x'
//! sqlite: SELECT t.n AS c FROM t JOIN u ON u.n = t.n WHERE (t.name, u.name) = ('x', 'y')
//! pg:     SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n WHERE (t.name, u.name) = ('x', 'y')
//! sqlite: SELECT t.n AS c FROM t JOIN u ON u.n = t.n WHERE u.name = 'x' OR u.name > 'y'
//! pg:     SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n WHERE u.name = 'x' OR u.name > 'y'
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t JOIN u ON u.n = t.n WHERE t.name = 'x'
//! pg:     SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n WHERE t.name = 'x'
//! sqlite: SELECT t.n AS c FROM t JOIN u ON u.n = t.n WHERE u.name = 'x' OR t.name = 'x'
//! pg:     SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n WHERE u.name = 'x' OR t.name = 'x'
//! sqlite: SELECT t.n AS c FROM t JOIN u ON u.n = t.n WHERE (t.name, u.name) <> ('x', 'y')
//! pg:     SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n WHERE (t.name, u.name) <> ('x', 'y')
//! sqlite: SELECT t.n AS c FROM t JOIN u ON u.n = t.n WHERE u.name IS NULL
//! pg:     SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n WHERE u.name IS NULL
//! ```

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
