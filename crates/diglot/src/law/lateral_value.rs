//! A value of at most one row: by LEFT JOIN LATERAL, and by a scalar subquery.
//!
//! # Why
//!
//! `LEFT JOIN LATERAL (query) AS q ON true` with one row at most shows that row's column, or NULL: as `(query)` does as a
//! value. `CROSS JOIN LATERAL` does where there is one row at all times: of aggregates without GROUP BY. One column of it
//! must be all that is named.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT u.n, (SELECT t.name FROM t WHERE t.n = u.n ORDER BY t.big, t.id LIMIT 1) AS c FROM u ORDER BY u.n
//! pg:     SELECT u.n, q.name AS c FROM u LEFT JOIN LATERAL (SELECT t.name FROM t WHERE t.n = u.n ORDER BY t.big, t.id LIMIT 1) AS q ON true ORDER BY u.n
//! sqlite: SELECT u.n, (SELECT count(*) FROM t WHERE t.n = u.n) AS c FROM u ORDER BY u.n
//! pg:     SELECT u.n, q.c FROM u CROSS JOIN LATERAL (SELECT count(*) AS c FROM t WHERE t.n = u.n) AS q ORDER BY u.n
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT u.n, (SELECT t.name FROM t WHERE t.n = u.n ORDER BY t.big, t.id LIMIT 1) AS c FROM u ORDER BY u.n
//! pg:     SELECT u.n, q.name AS c FROM u CROSS JOIN LATERAL (SELECT t.name FROM t WHERE t.n = u.n ORDER BY t.big, t.id LIMIT 1) AS q ORDER BY u.n
//! sqlite: SELECT u.n, (SELECT t.name FROM t WHERE t.n = u.n ORDER BY t.big, t.id LIMIT 1) AS c FROM u ORDER BY u.n
//! pg:     SELECT u.n, q.name AS c FROM u LEFT JOIN LATERAL (SELECT t.name FROM t WHERE t.n = u.n ORDER BY t.big, t.id LIMIT 2) AS q ON true ORDER BY u.n
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::joined_write::one_column;
use super::{Known, columns_of, put_behind, source_uses};
use crate::tree::{Expr, ExprKind, JoinKind, Query, Rows, Source, SourceKind};
use crate::types::Type;

pub(super) fn apply(query: &mut Query, known: &Known<'_>) -> bool {
    let Rows::Select(select) = &mut query.rows else { return false };
    for at in 1..select.from.len() {
        let source = &select.from[at];
        let others = select.from.iter().filter(|other| other.id != source.id);
        if others.into_iter().any(|other| source_uses(other, source.id)) {
            continue;
        }
        let mut all: Vec<&mut Expr> = select.columns.iter_mut().map(|column| &mut column.expr).collect();
        all.extend(&mut select.filter);
        all.extend(&mut select.group);
        all.extend(&mut select.having);
        all.extend(query.order.iter_mut().map(|key| &mut key.expr));
        all.extend(select.distinct.iter_mut().flat_map(|(keys, _)| keys));
        let named: BTreeSet<String> =
            all.iter().flat_map(|expr| columns_of(expr, source.id).map(str::to_owned).collect::<Vec<_>>()).collect();
        let Some(value) = value_of(source, &named, known) else { continue };
        let behind: BTreeMap<String, Expr> = named.into_iter().map(|name| (name, value.clone())).collect();
        let id = source.id;
        if put_behind(&mut all, id, &behind) {
            select.from.remove(at);
            return true;
        }
    }
    false
}

/// The value that a source of one row at most stands for.
fn value_of(source: &Source, named: &BTreeSet<String>, known: &Known<'_>) -> Option<Expr> {
    let join = source.join.as_ref()?;
    let is_open = join.on.as_ref().is_none_or(|on| match &on.kind {
        ExprKind::Bool(yes) => *yes,
        ExprKind::Number(number) => number == "1",
        _ => false,
    });
    let SourceKind::Derived(query) = &source.kind else { return None };
    let name = named.first().filter(|_| named.len() == 1)?;
    // Of what has one row at all times, every join shows it.
    let is_shown = match join.kind {
        JoinKind::Left => has_one_row_at_most(query, known),
        JoinKind::Inner | JoinKind::Cross => always_one_row(query),
        JoinKind::Right | JoinKind::Full => false,
    };
    if !is_open || !query.locks.is_empty() || !is_shown {
        return None;
    }
    let query = one_column(query, name)?;
    let ty = query.columns().into_iter().next().and_then(|(_, ty)| ty).map(|ty| Type { nullable: true, ..ty });
    Some(Expr { kind: ExprKind::Scalar(Box::new(query)), ty, span: source.span })
}

fn has_one_row_at_most(query: &Query, known: &Known<'_>) -> bool {
    let is_one = |limit: &Expr| matches!(&limit.kind, ExprKind::Number(number) if number == "1");
    let Rows::Select(select) = &query.rows else { return false };
    query.limit.as_ref().is_some_and(is_one)
        || crate::normal::gives_one(&known.pair.schemas.pg.tables, select)
        || always_one_row(query)
}

/// Whether a query gives its aggregates in exactly one row.
pub(super) fn always_one_row(query: &Query) -> bool {
    let Rows::Select(select) = &query.rows else { return false };
    let cut = query.limit.is_some() || query.offset.is_some() || select.distinct.is_some();
    !cut && select.group.is_empty() && select.having.is_none() && super::folds(select)
}
