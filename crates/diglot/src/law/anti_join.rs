//! Rows without a partner: LEFT JOIN and IS NULL, NOT IN, NOT EXISTS.
//!
//! # Why
//!
//! A LEFT JOIN whose partner must be missing gives each row for which there is none, once: so does NOT EXISTS. The tested
//! column must be one that a partner always has: NOT NULL, or compared by the join itself; nothing else may name the
//! partner. NOT IN asks the same where neither the value nor the column can be NULL.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.n = t.maybe) ORDER BY t.id
//! pg:     SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.maybe WHERE u.n IS NULL ORDER BY t.id
//! sqlite: SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n AND u.name = :name WHERE u.name IS NULL ORDER BY t.id
//! pg:     SELECT t.n AS c FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.n = t.n AND u.name = :name) ORDER BY t.id
//! sqlite: SELECT t.name AS c FROM t WHERE t.n NOT IN (SELECT u.n FROM u)
//! pg:     SELECT t.name AS c FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.n = t.n)
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE NOT EXISTS (SELECT 1 FROM t AS o WHERE o.n = t.n) ORDER BY t.id
//! pg:     SELECT t.n AS c FROM t LEFT JOIN t AS o ON o.n = t.n WHERE o.maybe IS NULL ORDER BY t.id
//! sqlite: SELECT t.n AS c FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.n = t.n) ORDER BY t.id
//! pg:     SELECT t.n AS c FROM t LEFT JOIN u ON u.n = t.n WHERE u.n IS NOT NULL ORDER BY t.id
//! sqlite: SELECT t.name AS c FROM t WHERE t.maybe NOT IN (SELECT u.n FROM u)
//! pg:     SELECT t.name AS c FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.n = t.maybe)
//! ```

use super::{Known, column_of, conditions, equal, equation, exists, is_shown, only_select, source_uses, uses};
use crate::tree::{Expr, ExprKind, JoinKind, OrderKey, Query, Rows, Select, Source};

pub(super) fn apply(query: &mut Query, known: &Known<'_>) -> bool {
    let Rows::Select(select) = &mut query.rows else { return false };
    let found = (0..select.from.len()).find_map(|at| Some((at, missing(select, &query.order, at, known)?)));
    let Some((at, rest)) = found else { return false };
    let source = select.from.remove(at);
    let span = source.span;
    let on = source.join.as_ref().and_then(|join| join.on.clone());
    let mut rest = rest;
    rest.push(exists(vec![source], conditions(on), true, span));
    select.filter = super::all_of(rest);
    true
}

/// The other conditions, where the source at a place is one that must have no row.
fn missing(select: &Select, order: &[OrderKey], at: usize, known: &Known<'_>) -> Option<Vec<Expr>> {
    let source = select.from.get(at).filter(|_| at > 0)?;
    let join = source.join.as_ref().filter(|join| join.kind == JoinKind::Left && !join.lateral)?;
    let on = conditions(join.on.clone());
    let (tests, rest): (Vec<Expr>, Vec<Expr>) =
        conditions(select.filter.clone()).into_iter().partition(|condition| uses(condition, source.id));
    let [test] = tests.as_slice() else { return None };
    let ExprKind::Is { expr, what: "null", negated: false } = &test.kind else { return None };
    let (_, column) = column_of(expr)?;
    let of_table = known.table(source).is_some_and(|table| known.is_present_in_table(&table.name, column));
    let compared = on.iter().any(|condition| equation(condition, source.id).is_some_and(|(name, _)| name == column));
    let others = || select.from.iter().filter(|other| other.id != source.id);
    let outer =
        |other: &Source| other.join.as_ref().is_some_and(|j| matches!(j.kind, JoinKind::Right | JoinKind::Full));
    let is_alone =
        !is_shown(select, order, source.id) && !others().any(|other| source_uses(other, source.id) || outer(other));
    (is_alone && (of_table || compared)).then_some(rest)
}

/// `x NOT IN (SELECT y FROM …)`, where neither is ever NULL.
pub(super) fn of_list(expr: &mut Expr, known: &Known<'_>) -> bool {
    let ExprKind::InQuery { expr: value, query, negated: true } = &expr.kind else { return false };
    let Some(select) = only_select(query).filter(|select| super::is_row_by_row(select)) else { return false };
    let [output] = select.columns.as_slice() else { return false };
    if select.from.is_empty()
        || !known.is_present(value)
        || !known.is_present(&output.expr)
        || query.each_of().is_some()
    {
        return false;
    }
    let mut select = select.clone();
    let mut inside = conditions(select.filter.take());
    inside.push(equal(output.expr.clone(), (**value).clone(), expr.span));
    select.filter = super::all_of(inside);
    let query = Box::new(super::plain_query(select, query.span));
    expr.kind = ExprKind::Exists { query, negated: true };
    true
}
