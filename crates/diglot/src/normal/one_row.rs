//! A LIMIT that cuts nothing off.

use super::{Names, gate};
use crate::tree::{Expr, ExprKind, Query};

/// Whether a limit is a literal of one or more.
fn takes_some(limit: &Expr) -> bool {
    matches!(&limit.kind, ExprKind::Number(text) if text.parse::<u64>().is_ok_and(|rows| rows > 0))
}

impl Names<'_> {
    /// Whether a query has one row at most, whatever its limit, which takes it.
    pub(super) fn has_one_row(&self, query: &Query) -> bool {
        query.offset.is_none() && query.limit.as_ref().is_some_and(takes_some) && gate::has_one(self, query)
    }
}

/// What EXISTS asks for: the rows, in no order and without a limit that lets one through.
pub(super) fn asked(query: &Query) -> Query {
    let mut asked = query.clone();
    asked.order.clear();
    if asked.offset.is_none() && asked.limit.as_ref().is_some_and(takes_some) {
        asked.limit = None;
    }
    asked
}
