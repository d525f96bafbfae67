//! A table that is joined by its key and shows nothing: EXISTS.
//!
//! # Why
//!
//! An inner join with a table of which a key is given for each row takes the rows that have a partner, once. Where nothing
//! else names the partner, EXISTS and IN take the same rows.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t JOIN u ON u.n = t.n WHERE u.name = 'x' ORDER BY t.id
//! pg:     SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.n = t.n AND u.name = 'x') ORDER BY t.id
//! sqlite: SELECT t.n AS c FROM t WHERE t.n IN (SELECT u.n FROM u WHERE u.name = 'x') ORDER BY t.id
//! pg:     SELECT t.n AS c FROM u, t WHERE u.n = t.n AND u.name = 'x' ORDER BY t.id
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT u.n AS c FROM u JOIN t ON t.n = u.n ORDER BY u.n
//! pg:     SELECT u.n AS c FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.n = u.n) ORDER BY u.n
//! sqlite: SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n ORDER BY t.id
//! pg:     SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.n = t.n) ORDER BY t.id
//! ```

use super::{Known, all_of, conditions, exists, has_one_row_for_each, is_shown, uses};
use crate::tree::{Expr, JoinKind, Query, Rows, Source, SourceKind};

pub(super) fn apply(query: &mut Query, known: &Known<'_>) -> bool {
    let Rows::Select(select) = &mut query.rows else { return false };
    let is_inner = |source: &Source| {
        source.join.as_ref().is_none_or(|join| matches!(join.kind, JoinKind::Inner | JoinKind::Cross))
    };
    if select.from.len() < 2 || !select.from.iter().all(is_inner) {
        return false;
    }
    let mut all = conditions(select.filter.clone());
    for source in &select.from {
        all.extend(conditions(source.join.as_ref().and_then(|join| join.on.clone())));
    }
    let found = select.from.iter().position(|source| {
        let is_inside = |other: &Source| match &other.kind {
            SourceKind::Derived(query) => super::query_uses(query, source.id),
            SourceKind::Function { args, .. } => args.iter().any(|arg| uses(arg, source.id)),
            _ => false,
        };
        let inside: Vec<Expr> = all.iter().filter(|condition| uses(condition, source.id)).cloned().collect();
        !is_shown(select, &query.order, source.id)
            && !select.from.iter().any(is_inside)
            && has_one_row_for_each(known, source, &inside)
    });
    let Some(at) = found else { return false };
    let source = select.from.remove(at);
    for other in &mut select.from {
        if let Some(join) = &mut other.join {
            join.on = None;
        }
    }
    if let Some(first) = select.from.first_mut() {
        first.join = None;
    }
    let (inside, mut outside): (Vec<Expr>, Vec<Expr>) =
        all.into_iter().partition(|condition| uses(condition, source.id));
    let span = source.span;
    outside.push(exists(vec![source], inside, false, span));
    select.filter = all_of(outside);
    true
}
