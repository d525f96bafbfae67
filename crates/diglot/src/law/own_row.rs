//! A row that is looked for in its own table by its key, and the row itself.
//!
//! # Why
//!
//! `t.id IN (SELECT id FROM t WHERE p)` finds the row itself where `id` is a key, so it asks for `p` of that row. What a
//! CTE has locked for a write is asked for so.
//!
//! # The same
//!
//! ```text
//! sqlite: UPDATE t SET name = 'x' WHERE t.big > 3
//! pg:     UPDATE t SET name = 'x' WHERE t.id IN (SELECT s.id FROM t AS s WHERE s.big > 3)
//! sqlite: UPDATE t SET name = 'x' WHERE t.id = 2 AND t.n > 1
//! pg:     UPDATE t SET name = 'x' FROM (SELECT s.id FROM t AS s WHERE s.id = 2) AS own WHERE t.id = own.id AND t.n > 1
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: UPDATE t SET name = 'x' WHERE t.big > 3
//! pg:     UPDATE t SET name = 'x' WHERE t.id IN (SELECT s.id FROM t AS s WHERE s.big > 3 ORDER BY s.id LIMIT 1)
//! sqlite: UPDATE t SET name = 'x' WHERE t.big > 3
//! pg:     UPDATE t SET name = 'x' WHERE t.id IN (SELECT s.id FROM t AS s WHERE s.big > 4)
//! ```

use super::{Known, column_of, is_row_by_row, only_select, walk};
use crate::tree::{Expr, ExprKind};

pub(super) fn apply(expr: &mut Expr, known: &Known<'_>) -> bool {
    match condition(expr, known) {
        Some(kind) => {
            expr.kind = kind;
            true
        }
        None => false,
    }
}

/// What is asked of the row itself.
fn condition(expr: &Expr, known: &Known<'_>) -> Option<ExprKind> {
    let ExprKind::InQuery { expr: value, query, negated: false } = &expr.kind else { return None };
    let (own, key) = column_of(value)?;
    let (table, _) = known.tables.get(&own).filter(|(_, is_outer)| !is_outer)?;
    let select = only_select(query).filter(|select| is_row_by_row(select))?;
    let ([source], [column]) = (select.from.as_slice(), select.columns.as_slice()) else { return None };
    let is_it = source.table() == Some(table.as_str()) && column_of(&column.expr) == Some((source.id, key));
    let is_key = known.pair.schemas.iter().all(|schema| {
        let table = schema.tables.get(table).filter(|table| !table.view);
        table.is_some_and(|table| table.keys().any(|columns| columns.as_slice() == [key]))
    });
    if !is_it || !is_key || !known.is_present(value) {
        return None;
    }
    let Some(mut filter) = select.filter.clone() else { return Some(ExprKind::Bool(true)) };
    walk::expr(&mut filter, &mut |_| {}, &mut |inner| {
        if let ExprKind::Column { source: of, .. } = &mut inner.kind
            && *of == source.id
        {
            *of = own;
        }
    });
    Some(filter.kind)
}
