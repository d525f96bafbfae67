//! The first row of each group: DISTINCT ON, and row_number() = 1.
//!
//! # Why
//!
//! `row_number() OVER (PARTITION BY g ORDER BY k)` is 1 for the first row of each group, which is the one that
//! `DISTINCT ON (g) … ORDER BY g, k` lets through. The outer query must do no more than choose those rows, give columns of
//! them and order them by the group. Which of several rows that `k` does not tell apart comes first is open on both.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT s.n, s.name FROM (SELECT t.n, t.name, row_number() OVER (PARTITION BY t.n ORDER BY t.big, t.id) AS place FROM t) AS s WHERE s.place = 1 ORDER BY s.n
//! pg:     SELECT DISTINCT ON (t.n) t.n, t.name FROM t ORDER BY t.n, t.big, t.id
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT s.n, s.name FROM (SELECT t.n, t.name, row_number() OVER (PARTITION BY t.n ORDER BY t.big DESC, t.id) AS place FROM t) AS s WHERE s.place = 1 ORDER BY s.n
//! pg:     SELECT DISTINCT ON (t.n) t.n, t.name FROM t ORDER BY t.n, t.big, t.id
//! sqlite: SELECT s.n, s.name FROM (SELECT t.n, t.name, row_number() OVER (PARTITION BY t.n ORDER BY t.big, t.id) AS place FROM t) AS s WHERE s.place = 2 ORDER BY s.n
//! pg:     SELECT DISTINCT ON (t.n) t.n, t.name FROM t ORDER BY t.n, t.big, t.id
//! sqlite: SELECT s.n, s.name FROM (SELECT t.n, t.name, rank() OVER (PARTITION BY t.n ORDER BY t.big, t.id) AS place FROM t) AS s WHERE s.place = 1 ORDER BY s.n
//! pg:     SELECT DISTINCT ON (t.n) t.n, t.name FROM t ORDER BY t.n, t.big
//! ```

use std::collections::BTreeMap;

use super::{Known, column_of, is_aggregate, only_select, own_exprs, put_behind};
use crate::tree::{Expr, ExprKind, OrderKey, OutputColumn, Query, Rows, Select, SourceId, SourceKind, Window};

pub(super) fn apply(query: &mut Query, _: &Known<'_>) -> bool {
    match chosen(query) {
        Some((select, order)) => {
            query.rows = Rows::Select(Box::new(select));
            query.order = order;
            true
        }
        None => false,
    }
}

fn chosen(query: &Query) -> Option<(Select, Vec<OrderKey>)> {
    let Rows::Select(outer) = &query.rows else { return None };
    let [source] = outer.from.as_slice() else { return None };
    let SourceKind::Derived(derived) = &source.kind else { return None };
    let inner = only_select(derived).filter(|_| derived.order.is_empty())?;
    let folds = inner.distinct.is_some() || !inner.group.is_empty() || inner.having.is_some();
    let aggregates = inner.columns.iter().flat_map(|column| own_exprs(&column.expr)).any(is_aggregate);
    if folds
        || aggregates
        || super::folds(outer)
        || outer.distinct.is_some()
        || query.limit.is_some()
        || query.offset.is_some()
    {
        return None;
    }
    let place = first(outer.filter.as_ref()?, source.id)?;
    let window = window_of(&inner.columns.iter().find(|column| column.name == place)?.expr)?;
    let behind: BTreeMap<String, Expr> =
        inner.columns.iter().filter(|c| c.name != place).map(|c| (c.name.clone(), c.expr.clone())).collect();
    let mut columns: Vec<OutputColumn> = outer.columns.clone();
    let mut order = query.order.clone();
    let mut values: Vec<&mut Expr> = columns.iter_mut().map(|column| &mut column.expr).collect();
    values.extend(order.iter_mut().map(|key| &mut key.expr));
    if !put_behind(&mut values, source.id, &behind) {
        return None;
    }
    // There is one row for each group: whatever orders them further says nothing.
    let is_key = |key: &OrderKey| {
        window.partition.iter().any(|of| column_of(of).is_some() && column_of(of) == column_of(&key.expr))
    };
    order.truncate(window.partition.len());
    if order.len() != window.partition.len() || !order.iter().all(is_key) {
        return None;
    }
    order.extend(window.order.iter().cloned());
    let distinct = Some((window.partition.clone(), outer.span));
    Some((Select { distinct, columns, ..inner.clone() }, order))
}

/// The column of which a condition wants the number 1.
fn first(filter: &Expr, of: SourceId) -> Option<&str> {
    let ExprKind::Binary { op, left, right } = &filter.kind else { return None };
    let (source, column) = column_of(left).filter(|(source, _)| *source == of)?;
    let wanted = match op.as_str() {
        "=" | "<=" => "1",
        "<" => "2",
        _ => return None,
    };
    let is_first = matches!(&right.kind, ExprKind::Number(number) if number == wanted);
    (is_first && source == of).then_some(column)
}

/// The window of `row_number()`.
fn window_of(expr: &Expr) -> Option<&Window> {
    match &expr.kind {
        ExprKind::Call { name, over: Some(window), filter: None, .. } if name == "row_number" => {
            (!window.partition.is_empty()).then_some(window)
        }
        _ => None,
    }
}
