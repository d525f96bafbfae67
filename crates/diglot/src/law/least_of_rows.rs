//! The least value of rows: by min, and by ORDER BY and LIMIT 1.
//!
//! # Why
//!
//! `(SELECT x FROM … ORDER BY x LIMIT 1)` as a value is the least `x`, or NULL where there is no row: as `min(x)` is, which
//! skips NULLs, so `x` must never be NULL. With DESC it is the greatest.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT u.n, (SELECT min(t.big) FROM t WHERE t.n = u.n) AS c FROM u
//! pg:     SELECT u.n, (SELECT t.big FROM t WHERE t.n = u.n ORDER BY t.big LIMIT 1) AS c FROM u
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT u.n, (SELECT min(t.big) FROM t WHERE t.n = u.n) AS c FROM u
//! pg:     SELECT u.n, (SELECT t.big FROM t WHERE t.n = u.n ORDER BY t.big DESC LIMIT 1) AS c FROM u
//! sqlite: SELECT u.n, (SELECT min(t.maybe) FROM t WHERE t.n = u.n) AS c FROM u
//! pg:     SELECT u.n, (SELECT t.maybe FROM t WHERE t.n = u.n ORDER BY t.maybe LIMIT 1) AS c FROM u
//! ```

use super::{Known, column_of, is_row_by_row};
use crate::tree::{Expr, ExprKind, Query, Rows};
use crate::types::Type;

pub(super) fn apply(expr: &mut Expr, known: &Known<'_>) -> bool {
    let ExprKind::Scalar(query) = &mut expr.kind else { return false };
    match folded(query, known) {
        Some(folded) => {
            **query = folded;
            true
        }
        None => false,
    }
}

fn folded(query: &Query, known: &Known<'_>) -> Option<Query> {
    let (Rows::Select(select), [key]) = (&query.rows, query.order.as_slice()) else { return None };
    let [output] = select.columns.as_slice() else { return None };
    let is_one = matches!(&query.limit.as_ref()?.kind, ExprKind::Number(number) if number == "1");
    let is_key = column_of(&output.expr).is_some() && column_of(&output.expr) == column_of(&key.expr);
    let is_plain = query.offset.is_none() && query.ctes.is_empty() && query.locks.is_empty() && is_row_by_row(select);
    if !(is_one && is_key && is_plain && known.is_present(&output.expr)) {
        return None;
    }
    let mut folded = Query { order: Vec::new(), limit: None, ..query.clone() };
    if let Rows::Select(select) = &mut folded.rows {
        for output in &mut select.columns {
            let value = output.expr.clone();
            output.expr.ty = value.ty.clone().map(|ty| Type { nullable: true, ..ty });
            output.expr.kind = ExprKind::Call {
                name: if key.desc { "max" } else { "min" }.to_owned(),
                args: vec![value],
                star: false,
                distinct: false,
                order: Vec::new(),
                filter: None,
                over: None,
            };
        }
    }
    Some(folded)
}
