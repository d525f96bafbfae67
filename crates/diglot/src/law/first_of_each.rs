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
//! sqlite: SELECT q.n, q.big FROM (SELECT t.n, t.big, row_number() OVER (PARTITION BY t.n ORDER BY t.big DESC, t.id) AS k FROM t) AS q WHERE q.k = 1 ORDER BY q.big
//! pg:     SELECT q.n, q.big FROM (SELECT DISTINCT ON (t.n) t.n, t.big FROM t ORDER BY t.n, t.big DESC, t.id) AS q ORDER BY q.big
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

use super::{Known, column_of, columns_of, is_aggregate, only_select, own_exprs, put_behind};
use crate::tree::{Expr, ExprKind, OrderKey, OutputColumn, Query, Rows, Select, Source, SourceId, SourceKind, Window};

pub(super) fn apply(query: &mut Query, _: &Known<'_>) -> bool {
    if let Some((select, order)) = chosen(query) {
        query.rows = Rows::Select(Box::new(select));
        query.order = order;
        return true;
    }
    if let Some(select) = chosen_inside(query) {
        query.rows = Rows::Select(Box::new(select));
        return true;
    }
    false
}

/// The same where what stands around it orders the rows in another way.
fn chosen_inside(query: &Query) -> Option<Select> {
    let Numbered { outer, source, inner, place, window } = numbered(query)?;
    let mut exprs = outer.columns.iter().map(|column| &column.expr).chain(&outer.group).chain(&outer.having);
    let is_named = |expr: &Expr| columns_of(expr, source.id).any(|column| column == place);
    if exprs.any(is_named) || query.order.iter().any(|key| is_named(&key.expr)) {
        return None;
    }
    let key = |expr: &Expr| OrderKey { expr: expr.clone(), desc: false, nulls_first: None, span: expr.span };
    let order = window.partition.iter().map(key).chain(window.order.iter().cloned()).collect();
    let columns = inner.columns.iter().filter(|column| column.name != place).cloned().collect();
    let distinct = Some((window.partition.clone(), outer.span));
    let rows = Rows::Select(Box::new(Select { distinct, columns, ..inner.clone() }));
    let mut source = source.clone();
    source.columns.retain(|(name, _)| name != place);
    source.kind = SourceKind::Derived(Box::new(Query { order, ..Query::bare(rows, inner.span) }));
    Some(Select { from: vec![source], filter: None, ..outer.clone() })
}

/// A query over rows that another one has numbered, of which it wants the first of each group.
struct Numbered<'q> {
    outer: &'q Select,
    source: &'q Source,
    inner: &'q Select,
    /// The column with the number.
    place: &'q str,
    window: &'q Window,
}

fn numbered(query: &Query) -> Option<Numbered<'_>> {
    let Rows::Select(outer) = &query.rows else { return None };
    let [source] = outer.from.as_slice() else { return None };
    let SourceKind::Derived(derived) = &source.kind else { return None };
    let inner = only_select(derived).filter(|_| derived.order.is_empty())?;
    let folds = inner.distinct.is_some() || !inner.group.is_empty() || inner.having.is_some();
    let aggregates = inner.columns.iter().flat_map(|column| own_exprs(&column.expr)).any(is_aggregate);
    if folds || aggregates {
        return None;
    }
    let place = first(outer.filter.as_ref()?, source.id)?;
    let window = window_of(&inner.columns.iter().find(|column| column.name == place)?.expr)?;
    Some(Numbered { outer, source, inner, place, window })
}

fn chosen(query: &Query) -> Option<(Select, Vec<OrderKey>)> {
    let Numbered { outer, source, inner, place, window } = numbered(query)?;
    if super::folds(outer) || outer.distinct.is_some() || query.limit.is_some() || query.offset.is_some() {
        return None;
    }
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
