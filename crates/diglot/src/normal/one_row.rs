//! A LIMIT that cuts nothing off.
//!
//! # Why
//!
//! Where a key of every table is given, there is one row at most, so `LIMIT 1` and its order say nothing. EXISTS asks
//! for one row: no limit of one or more, and no order, changes its answer.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT u.name AS c FROM u WHERE u.n = :n LIMIT 1
//! pg:     SELECT u.name AS c FROM u WHERE u.n = :n
//! sqlite: SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.n = t.n LIMIT 1)
//! pg:     SELECT t.n AS c FROM t WHERE EXISTS (SELECT u.name FROM u WHERE u.n = t.n)
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.n = t.n LIMIT 0)
//! pg:     SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.n = t.n)
//! sqlite: SELECT u.n AS c FROM u WHERE u.name = :name ORDER BY u.n LIMIT 1
//! pg:     SELECT u.n AS c FROM u WHERE u.name = :name ORDER BY u.n
//! ```

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
