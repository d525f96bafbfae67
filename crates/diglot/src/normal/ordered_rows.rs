//! An aggregate over a derived table, and over the table itself.

use std::collections::BTreeMap;

use super::{Names, Node};
use crate::resolve::is_aggregate_call;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, OrderKey, Query, Rows, Select, SourceId, SourceKind, Statement};

/// Aggregates whose result depends on the order of rows.
const ORDERED: [&str; 6] = ["group_concat", "string_agg", "json_group_array", "jsonb_agg", "json_agg", "array_agg"];

/// The derived tables that aggregates look through.
pub(super) fn of(statement: &Statement) -> BTreeMap<SourceId, &Query> {
    let queries = statement.parts.iter().flat_map(crate::tree::Part::queries);
    queries.filter_map(|query| looked_through(&query.rows)).collect()
}

fn looked_through(rows: &Rows) -> Option<(SourceId, &Query)> {
    let Rows::Select(outer) = rows else { return None };
    let [source] = outer.from.as_slice() else { return None };
    let SourceKind::Derived(query) = &source.kind else { return None };
    let inner = plain_select(query)?;
    let folds = outer.columns.iter().all(|column| is_aggregate_call(&column.expr));
    let is_plain = outer.distinct.is_none() && outer.group.is_empty() && outer.having.is_none();
    let gives_rows = !inner.from.is_empty() && !inner.columns.iter().any(|column| counts_rows(&column.expr));
    (folds && is_plain && gives_rows).then_some((source.id, query))
}

/// The SELECT of a query that does no more than choose and order rows.
fn plain_select(query: &Query) -> Option<&Select> {
    let Rows::Select(select) = &query.rows else { return None };
    let cuts = query.limit.is_some() || query.offset.is_some() || !query.ctes.is_empty() || !query.locks.is_empty();
    let folds = select.distinct.is_some() || !select.group.is_empty() || select.having.is_some();
    (!cuts && !folds).then_some(select)
}

/// Whether a value depends on other rows.
fn counts_rows(expr: &Expr) -> bool {
    is_aggregate_call(expr) || expr.exprs().into_iter().any(|e| matches!(e.kind, ExprKind::Call { over: Some(_), .. }))
}

impl<'t> Names<'t> {
    /// The SELECT behind the derived table of a SELECT that looks through it.
    pub(crate) fn behind(&self, select: &Select) -> Option<&'t Select> {
        let [source] = select.from.as_slice() else { return None };
        plain_select(self.derived.get(&source.id).copied()?)
    }

    /// The value behind a column of a derived table that is looked through.
    pub(super) fn column_behind(&self, source: SourceId, column: &str, span: Span) -> Option<Node> {
        let select = plain_select(self.derived.get(&source).copied()?)?;
        let output = select.columns.iter().find(|output| output.name == column)?;
        Some(Node { span, ..self.expr(&output.expr) })
    }

    /// The order in which an aggregate takes its rows: its own, or that of the derived table that it looks through.
    pub(super) fn order_of<'q>(&'q self, name: &str, args: &[Expr], own: &'q [OrderKey]) -> &'q [OrderKey] {
        if !own.is_empty() || !ORDERED.contains(&name) {
            return own;
        }
        let columns = args.iter().flat_map(Expr::exprs);
        let query = columns.into_iter().find_map(|expr| match &expr.kind {
            ExprKind::Column { source, .. } => self.derived.get(source).copied(),
            _ => None,
        });
        query.map_or(own, |query| query.order.as_slice())
    }
}
