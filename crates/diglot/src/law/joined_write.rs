//! The rows that a write takes by a join, and by a condition.
//!
//! # Why
//!
//! `UPDATE … FROM q WHERE t.id = q.id` and `DELETE … USING q` take each row of the target that has a partner, once, as
//! EXISTS and IN do. Nothing that is assigned or returned may name the partner. `EXISTS (SELECT 1 FROM (query) AS q WHERE
//! q.id = t.id)` asks what `t.id IN (query)` asks, where neither can be NULL.
//!
//! # The same
//!
//! ```text
//! sqlite: UPDATE u SET name = 'x' WHERE EXISTS (SELECT 1 FROM t WHERE t.n = u.n AND t.big > 3)
//! pg:     UPDATE u SET name = 'x' FROM t WHERE t.n = u.n AND t.big > 3
//! sqlite: DELETE FROM u WHERE u.n IN (SELECT t.n FROM t ORDER BY t.big, t.id LIMIT 3)
//! pg:     DELETE FROM u USING (SELECT t.n FROM t ORDER BY t.big, t.id LIMIT 3) AS old WHERE old.n = u.n
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: UPDATE u SET name = 'x' WHERE EXISTS (SELECT 1 FROM t WHERE t.n = u.n)
//! pg:     UPDATE u SET name = t.name FROM t WHERE t.n = u.n
//! sqlite: DELETE FROM u WHERE u.n IN (SELECT t.n FROM t ORDER BY t.big, t.id LIMIT 3)
//! pg:     DELETE FROM u USING (SELECT t.n FROM t ORDER BY t.big, t.id LIMIT 4) AS old WHERE old.n = u.n
//! ```

use super::{Known, conditions, equation, exists, only_select, uses};
use crate::tree::{Delete, Expr, ExprKind, JoinKind, OutputColumn, Query, Rows, Source, SourceKind, Update};

pub(super) fn update(update: &mut Update) -> bool {
    let shown = update.set.iter().map(|assignment| &assignment.value);
    let shown = shown.chain(update.returning.iter().map(|column| &column.expr));
    match asked(&update.from, update.filter.as_ref(), shown) {
        Some(filter) => {
            update.from.clear();
            update.filter = Some(filter);
            true
        }
        None => false,
    }
}

pub(super) fn delete(delete: &mut Delete) -> bool {
    match asked(&delete.using, delete.filter.as_ref(), delete.returning.iter().map(|column| &column.expr)) {
        Some(filter) => {
            delete.using.clear();
            delete.filter = Some(filter);
            true
        }
        None => false,
    }
}

/// The condition that asks for a row of the joined sources.
fn asked<'e>(sources: &[Source], filter: Option<&Expr>, mut shown: impl Iterator<Item = &'e Expr>) -> Option<Expr> {
    let first = sources.first()?;
    let is_inner = |source: &Source| {
        source.join.as_ref().is_none_or(|join| matches!(join.kind, JoinKind::Inner | JoinKind::Cross))
    };
    let of_sources = |expr: &Expr| sources.iter().any(|source| uses(expr, source.id));
    if !sources.iter().all(is_inner) || shown.any(of_sources) {
        return None;
    }
    let mut all = conditions(filter.cloned());
    let mut sources = sources.to_vec();
    for source in &mut sources {
        all.extend(conditions(source.join.as_mut().and_then(|join| join.on.take())));
    }
    let (inside, mut outside): (Vec<Expr>, Vec<Expr>) = all.into_iter().partition(of_sources);
    outside.push(exists(sources.clone(), inside, false, first.span));
    super::all_of(outside)
}

/// `EXISTS (SELECT 1 FROM (query) AS q WHERE q.id = x)`.
pub(super) fn as_membership(expr: &mut Expr, known: &Known<'_>) -> bool {
    match membership(expr, known) {
        Some(kind) => {
            expr.kind = kind;
            true
        }
        None => false,
    }
}

fn membership(expr: &Expr, known: &Known<'_>) -> Option<ExprKind> {
    let ExprKind::Exists { query, negated: false } = &expr.kind else { return None };
    let select = only_select(query).filter(|select| super::is_row_by_row(select))?;
    let [source] = select.from.as_slice() else { return None };
    let SourceKind::Derived(inner) = &source.kind else { return None };
    let filter = select.filter.as_ref()?;
    let (column, value) = equation(filter, source.id)?;
    let query = Box::new(one_column(inner, column)?);
    let Rows::Select(rows) = &query.rows else { return None };
    // EXISTS is never NULL; IN is not where neither side is.
    let is_present = known.is_present(value) && rows.columns.iter().all(|column| known.is_present(&column.expr));
    if !is_present {
        return None;
    }
    Some(ExprKind::InQuery { expr: Box::new(value.clone()), query, negated: false })
}

/// The query with one of its columns alone.
pub(super) fn one_column(query: &Query, name: &str) -> Option<Query> {
    let Rows::Select(select) = &query.rows else { return None };
    if select.distinct.is_some() {
        return None;
    }
    let column: &OutputColumn = select.columns.iter().find(|column| column.name == name)?;
    let mut query = query.clone();
    if let Rows::Select(select) = &mut query.rows {
        select.columns = vec![column.clone()];
    }
    Some(query)
}
