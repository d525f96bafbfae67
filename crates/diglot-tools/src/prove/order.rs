//! What the order of rows means.

use std::collections::BTreeSet;

use super::result;
use super::tables::Table;
use diglot::infer::origin::query_outputs;
use diglot::tree::{Expr, ExprKind, OrderKey, Query, Rows, Select, Source, SourceKind, Statement};

/// What the order of rows means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Nothing.
    Free,
    /// Rows come by these columns of the result; rows that are alike there come as they like.
    By(Vec<usize>),
    /// No two rows may change places.
    Total,
}

impl Order {
    /// What both pages promise.
    pub(super) fn min(self, other: Order) -> Order {
        match (self, other) {
            (Order::Free, _) | (_, Order::Free) => Order::Free,
            (Order::Total, other) | (other, Order::Total) => other,
            (Order::By(a), Order::By(b)) => {
                Order::By(a.into_iter().zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a).collect())
            }
        }
    }
}

/// What the order of a page's rows means.
pub(super) fn of(tree: &Statement, tables: &[Table]) -> Order {
    let Some(query) = result::query(tree) else { return Order::Free };
    if query.order.is_empty() {
        return Order::Free;
    }
    if is_total(query, tables) {
        return Order::Total;
    }
    // What is sorted by and not shown cannot be seen; what comes behind it counts within its ties only.
    Order::By(places(query).into_iter().map_while(|place| place).collect())
}

/// The columns of the result by which a page sorts its rows; none where it does not.
pub(super) fn keys(tree: &Statement) -> Option<Vec<usize>> {
    let query = result::query(tree)?;
    (!query.order.is_empty()).then(|| places(query).into_iter().flatten().collect())
}

/// Which column of the result each key of the order is.
pub(super) fn places(query: &Query) -> Vec<Option<usize>> {
    let outputs = query_outputs(&query.rows);
    let place =
        |key: &Expr| outputs.iter().position(|output| key.span == output.expr.span || key.is_alike(&output.expr));
    query.order.iter().map(|key| place(&key.expr)).collect()
}

/// A plain select of one table.
fn plain(query: &Query) -> Option<(&Select, &Source, &str)> {
    let Rows::Select(select) = &query.rows else { return None };
    let [source] = select.from.as_slice() else { return None };
    let SourceKind::Table(name) = &source.kind else { return None };
    Some((select, source, name))
}

/// The one table that is read, and its columns by which its rows are sorted.
pub(super) fn sorted(tree: &Statement) -> Option<(String, Vec<String>)> {
    let query = result::query(tree)?;
    let (select, source, table) = plain(query)?;
    if query.order.is_empty() || select.distinct.is_some() || !select.group.is_empty() {
        return None;
    }
    let column = |key: &OrderKey| match &key.expr.kind {
        ExprKind::Column { source: of, column } if *of == source.id => Some(column.clone()),
        _ => None,
    };
    Some((table.to_owned(), query.order.iter().map(column).collect::<Option<_>>()?))
}

/// Whether the keys name every row of a plain select of one table.
fn is_total(query: &Query, tables: &[Table]) -> bool {
    let Some((select, source, name)) = plain(query) else { return false };
    let Some(table) = tables.iter().find(|table| table.name == *name) else { return false };
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut add = |expr: &'_ Expr| -> bool {
        let ExprKind::Column { source: of, column } = &expr.kind else { return false };
        *of == source.id && table.columns.iter().find(|c| c.name == *column).is_some_and(|c| named.insert(&c.name))
    };
    for key in &query.order {
        add(&key.expr);
    }
    for condition in select.filter.iter().flat_map(Expr::conjuncts) {
        let ExprKind::Binary { op, left, right } = &condition.kind else { continue };
        for (column, value) in [(left, right), (right, left)] {
            if op == "=" && matches!(value.kind, ExprKind::Param(_) | ExprKind::Number(_) | ExprKind::Text(_)) {
                add(column);
            }
        }
    }
    let is_never_null = |name: &String| table.columns.iter().any(|column| column.name == *name && !column.nullable);
    table.unique.iter().any(|key| key.iter().all(|name| named.contains(name.as_str()) && is_never_null(name)))
}
