//! A query over a derived table, and the query itself.
//!
//! # Why
//!
//! A SELECT that reads one derived table sees the rows that it gives: conditions on its groups are HAVING, conditions on
//! its rows are WHERE. What cuts off, orders or folds rows inside stays inside, unless the outer query does no more than
//! name its columns. A SELECT of one value that is a row of its own is that row.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n, count(*) AS c FROM t GROUP BY t.n HAVING count(*) > 1 ORDER BY t.n
//! pg:     SELECT g.n, g.c FROM (SELECT t.n, count(*) AS c FROM t GROUP BY t.n) AS g WHERE g.c > 1 ORDER BY g.n
//! sqlite: SELECT t.n FROM t WHERE t.big > 3 AND t.name = 'x' ORDER BY t.id
//! pg:     SELECT s.n FROM (SELECT t.id, t.n, t.name FROM t WHERE t.big > 3) AS s WHERE s.name = 'x' ORDER BY s.id
//! sqlite: SELECT min(t.big) AS c FROM t WHERE t.n = 1
//! pg:     SELECT (SELECT min(t.big) FROM t WHERE t.n = 1) AS c
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n, count(*) AS c FROM t WHERE t.big > 1 GROUP BY t.n ORDER BY t.n
//! pg:     SELECT g.n, g.c FROM (SELECT t.n, count(*) AS c FROM t GROUP BY t.n) AS g WHERE g.c > 1 ORDER BY g.n
//! sqlite: SELECT t.n FROM t WHERE t.name = 'x' ORDER BY t.id LIMIT 3
//! pg:     SELECT s.n FROM (SELECT t.id, t.n, t.name FROM t ORDER BY t.id LIMIT 3) AS s WHERE s.name = 'x' ORDER BY s.id
//! sqlite: SELECT t.big AS c FROM t WHERE t.n = 1
//! pg:     SELECT (SELECT t.big FROM t WHERE t.n = 1) AS c
//! ```

use std::collections::BTreeMap;

use super::lateral_value::always_one_row;
use super::{Known, all_of, column_of, conditions, folds, has_window, is_row_by_row, put_behind};
use crate::tree::{Expr, ExprKind, Query, Rows, Select, SourceKind};

pub(super) fn apply(query: &mut Query, _: &Known<'_>) -> bool {
    match merged(query).or_else(|| row_of_value(query)) {
        Some(merged) => {
            *query = merged;
            true
        }
        None => false,
    }
}

fn merged(query: &Query) -> Option<Query> {
    let Rows::Select(outer) = &query.rows else { return None };
    let [source] = outer.from.as_slice() else { return None };
    let SourceKind::Derived(inner) = &source.kind else { return None };
    let Rows::Select(select) = &inner.rows else { return None };
    if !inner.ctes.is_empty() || !inner.locks.is_empty() || select.distinct.is_some() {
        return None;
    }
    let is_cut = inner.limit.is_some() || inner.offset.is_some();
    let names_columns = outer.filter.is_none()
        && is_row_by_row(outer)
        && outer.columns.iter().all(|column| column_of(&column.expr).is_some());
    let is_ordered_anew = !query.order.is_empty();
    if is_cut || has_window(select) {
        let is_cut_anew = query.limit.is_some() || query.offset.is_some();
        if !names_columns || is_cut && (is_ordered_anew || is_cut_anew) {
            return None;
        }
    } else if folds(select) {
        if !is_row_by_row(outer) || has_window(outer) {
            return None;
        }
    } else if !inner.order.is_empty() && (folds(outer) || !is_ordered_anew) && !names_columns {
        return None;
    }
    let behind: BTreeMap<String, Expr> =
        select.columns.iter().map(|column| (column.name.clone(), column.expr.clone())).collect();
    let mut outer: Select = (**outer).clone();
    let mut order = query.order.clone();
    let mut filters = conditions(outer.filter.take());
    let mut values: Vec<&mut Expr> = outer.columns.iter_mut().map(|column| &mut column.expr).collect();
    values.extend(&mut filters);
    values.extend(&mut outer.group);
    values.extend(&mut outer.having);
    values.extend(outer.distinct.iter_mut().flat_map(|(keys, _)| keys));
    values.extend(order.iter_mut().map(|key| &mut key.expr));
    if !put_behind(&mut values, source.id, &behind) {
        return None;
    }
    let mut whole = Select { from: select.from.clone(), filter: select.filter.clone(), ..outer };
    if folds(select) {
        let mut having = conditions(select.having.clone());
        having.extend(filters);
        (whole.group, whole.having) = (select.group.clone(), all_of(having));
    } else {
        let mut all = conditions(select.filter.clone());
        all.extend(filters);
        whole.filter = all_of(all);
    }
    Some(Query {
        rows: Rows::Select(Box::new(whole)),
        order: if is_ordered_anew { order } else { inner.order.clone() },
        limit: query.limit.clone().or_else(|| inner.limit.clone()),
        offset: query.offset.clone().or_else(|| inner.offset.clone()),
        ..query.clone()
    })
}

/// `SELECT (query)`, where the query has one row whatever there is.
fn row_of_value(query: &Query) -> Option<Query> {
    let Rows::Select(outer) = &query.rows else { return None };
    let ([], [column], None) = (outer.from.as_slice(), outer.columns.as_slice(), &outer.filter) else { return None };
    let ExprKind::Scalar(inner) = &column.expr.kind else { return None };
    let cut = query.limit.is_some() || query.offset.is_some() || outer.having.is_some();
    if cut || !always_one_row(inner) || !query.ctes.is_empty() || !inner.locks.is_empty() {
        return None;
    }
    let mut inner = (**inner).clone();
    if let Rows::Select(select) = &mut inner.rows {
        select.columns.iter_mut().for_each(|output| output.name.clone_from(&column.name));
    }
    Some(inner)
}
