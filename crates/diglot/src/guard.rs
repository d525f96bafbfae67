//! What a unit of SQLite asks once, first, and what its later statements need not ask again: `-- require: NAME`.

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::Table;
use crate::tree::{Body, Expr, ExprKind, JoinKind, Part, Query, Rows, Select, Source, SourceId, SourceKind, Statement};

/// The query of a CTE of the unit.
pub(crate) fn query<'t>(tree: &'t Statement, name: &str) -> Option<&'t Query> {
    match &tree.parts.iter().find(|part| part.name.as_deref() == Some(name))?.body {
        Body::Query(query) => Some(query),
        _ => None,
    }
}

/// The SELECT of a guard, if its conditions alone decide whether it has its row: a key of every table is given.
pub(crate) fn pinned<'t>(tables: &BTreeMap<String, Table>, query: &'t Query) -> Option<&'t Select> {
    let Rows::Select(select) = &query.rows else { return None };
    let plain = query.ctes.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && select.distinct.is_none()
        && select.group.is_empty()
        && select.having.is_none()
        && select
            .columns
            .iter()
            .all(|column| matches!(column.expr.kind, ExprKind::Column { .. } | ExprKind::Number(_)));
    let pinning: Vec<&Expr> = conditions(select).filter(|condition| pins(tables, select, condition)).collect();
    (plain && one_of(tables, select, pinning)).then_some(&**select)
}

/// The conditions of a guard that hold from then on: all but those that say which rows it is about.
pub(crate) fn settled<'t>(tables: &BTreeMap<String, Table>, select: &'t Select) -> Vec<&'t Expr> {
    conditions(select).filter(|condition| !pins(tables, select, condition)).collect()
}

fn conditions(select: &Select) -> impl Iterator<Item = &Expr> {
    select.filter.iter().flat_map(Expr::conjuncts)
}

/// Whether a condition gives a column of a key of one of the tables a value.
fn pins(tables: &BTreeMap<String, Table>, select: &Select, condition: &Expr) -> bool {
    let ExprKind::Binary { op, left, right } = &condition.kind else { return false };
    let own = |expr: &Expr| {
        let ExprKind::Column { source, column } = &expr.kind else { return false };
        let table = select.from.iter().find(|it| it.id == *source).and_then(Source::table);
        table.and_then(|name| tables.get(name)).is_some_and(|table| table.keys().flatten().any(|key| key == column))
    };
    op == "=" && (own(left) && is_value(right) || own(right) && is_value(left))
}

/// The conditions by which a write asks whether a CTE has a row.
pub(crate) fn questions<'t>(part: &'t Part, name: &str) -> Vec<&'t Expr> {
    let filter = match &part.body {
        Body::Update(update) => update.filter.as_ref(),
        Body::Delete(delete) => delete.filter.as_ref(),
        Body::Insert(insert) => match &insert.rows.rows {
            Rows::Select(select) => select.filter.as_ref(),
            _ => None,
        },
        Body::Query(query) => match &query.rows {
            Rows::Select(select) => select.filter.as_ref(),
            _ => None,
        },
    };
    let asks = |query: &Query| match &query.rows {
        Rows::Select(select) => {
            query.limit.is_none()
                && select.filter.is_none()
                && select.group.is_empty()
                && select.having.is_none()
                && select
                    .columns
                    .iter()
                    .all(|column| matches!(column.expr.kind, ExprKind::Column { .. } | ExprKind::Number(_)))
                && matches!(select.from.as_slice(), [source] if source.cte() == Some(name))
        }
        _ => false,
    };
    let is_question =
        |condition: &&Expr| matches!(&condition.kind, ExprKind::Exists { query, negated: false } if asks(query));
    filter.into_iter().flat_map(Expr::conjuncts).filter(is_question).collect()
}

/// Whether a SELECT gives one row at most: a key of every table is given by values that do not depend on its row.
pub fn gives_one(tables: &BTreeMap<String, Table>, select: &Select) -> bool {
    one_of(tables, select, select.filter.iter().flat_map(Expr::conjuncts).collect())
}

fn one_of<'t>(tables: &BTreeMap<String, Table>, select: &'t Select, mut conditions: Vec<&'t Expr>) -> bool {
    for source in &select.from {
        let Some(join) = &source.join else { continue };
        if !matches!(join.kind, JoinKind::Inner | JoinKind::Cross) {
            return false;
        }
        conditions.extend(join.on.iter().flat_map(Expr::conjuncts));
    }
    let mut open: BTreeSet<SourceId> = select.from.iter().map(|source| source.id).collect();
    while let Some(source) =
        select.from.iter().find(|source| open.contains(&source.id) && is_settled(tables, source, &conditions, &open))
    {
        open.remove(&source.id);
    }
    open.is_empty()
}

/// Whether a key of a table is given by values that do not depend on open sources.
fn is_settled(
    tables: &BTreeMap<String, Table>,
    source: &Source,
    conditions: &[&Expr],
    open: &BTreeSet<SourceId>,
) -> bool {
    let SourceKind::Table(table) = &source.kind else { return false };
    let Some(table) = tables.get(table).filter(|table| !table.view) else { return false };
    let given = |column: &str| {
        let own = |expr: &Expr| matches!(&expr.kind, ExprKind::Column { source: id, column: name } if *id == source.id && name == column);
        let known = |expr: &Expr| is_value(expr) && !expr.exprs().iter().any(|inner| depends_on(inner, open));
        conditions.iter().any(|condition| match &condition.kind {
            ExprKind::Binary { op, left, right } if op == "=" => own(left) && known(right) || own(right) && known(left),
            ExprKind::InList { expr, list, negated: false } => {
                matches!(list.as_slice(), [only] if own(expr) && known(only))
            }
            _ => false,
        })
    };
    table.keys().any(|key| key.iter().all(|column| given(column)))
}

/// Whether an expression has one value for all rows of a source that it does not name.
fn is_value(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Param(_)
            | ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Blob(_)
            | ExprKind::Column { .. }
            | ExprKind::Scalar(_)
    )
}

fn depends_on(expr: &Expr, sources: &BTreeSet<SourceId>) -> bool {
    matches!(&expr.kind, ExprKind::Column { source, .. } if sources.contains(source))
}
