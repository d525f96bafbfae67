//! UNION and INTERSECT with their sides in another order.
//!
//! # Why
//!
//! A union has the rows of each side, whichever is written first, and so has what both sides share. The names of its
//! columns are those of the first side. A query that reads itself has its beginning there, so it keeps its order.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t UNION ALL SELECT u.n FROM u ORDER BY c
//! pg:     SELECT u.n AS c FROM u UNION ALL SELECT t.n FROM t ORDER BY c
//! sqlite: SELECT t.n AS c FROM t WHERE t.big > 1 UNION ALL SELECT t.n FROM t WHERE t.flag = 1 ORDER BY c
//! pg:     SELECT t.n AS c FROM t WHERE t.flag UNION ALL SELECT t.n FROM t WHERE t.big > 1 ORDER BY c
//! sqlite: SELECT count(*) AS c FROM (SELECT t.n AS k FROM t UNION SELECT u.n FROM u UNION SELECT log.n FROM log) AS x
//! pg:     SELECT count(*) AS c FROM (SELECT log.n AS k FROM log UNION SELECT t.n FROM t UNION SELECT u.n FROM u) AS x
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t EXCEPT SELECT u.n FROM u ORDER BY c
//! pg:     SELECT u.n AS c FROM u EXCEPT SELECT t.n FROM t ORDER BY c
//! sqlite: SELECT t.n AS c FROM t UNION ALL SELECT u.n FROM u ORDER BY c
//! pg:     SELECT u.n AS c FROM u UNION SELECT t.n FROM t ORDER BY c
//! sqlite: SELECT t.n AS c FROM t WHERE t.big > 1 UNION ALL SELECT t.n FROM t WHERE t.flag = 1 ORDER BY c
//! pg:     SELECT t.n AS c FROM t WHERE t.flag UNION ALL SELECT t.n FROM t WHERE t.big > 2 ORDER BY c
//! sqlite: SELECT t.n AS c, 1 AS d FROM t UNION ALL SELECT u.n, 2 FROM u ORDER BY c, d
//! pg:     SELECT u.n AS c, 1 AS d FROM u UNION ALL SELECT t.n, 2 FROM t ORDER BY c, d
//! ```

use std::collections::BTreeSet;

use super::walk;
use crate::normal::{Names, PairContext};
use crate::source::Span;
use crate::tree::{Expr, Part, Query, Rows, SourceKind, Statement};

pub(super) fn apply(statement: &mut Statement, pair: &PairContext<'_>) -> bool {
    let mut queries = statement.parts.iter().flat_map(Part::queries);
    if !queries.any(|query| matches!(query.rows, Rows::Set { .. })) {
        return false;
    }
    let before = statement.clone();
    let names = Names::new(&before, pair);
    let reads_itself = |part: &&Part| part.sources().iter().any(|source| source.cte() == part.name.as_deref());
    let plain: BTreeSet<&str> =
        before.parts.iter().filter(|part| !reads_itself(part)).filter_map(|part| part.name.as_deref()).collect();
    let mut is_changed = false;
    for part in &mut statement.parts {
        let mut turn = |query: &mut Query| is_changed |= turned(query, &names, &plain);
        walk::body(&mut part.body, &mut turn, &mut |_| {});
    }
    is_changed
}

/// Puts the sides in the order of their normal forms, which both pages share.
fn turned(query: &mut Query, names: &Names<'_>, plain: &BTreeSet<&str>) -> bool {
    let Rows::Set { op, all, span, .. } = query.rows else { return false };
    if op == "except" {
        return false;
    }
    let mut sides = Vec::new();
    gather(&query.rows, op, all, &mut sides);
    let bare: Vec<Query> = sides.iter().map(|rows| Query::bare((*rows).clone(), place(rows))).collect();
    // One that may read the query that it is a part of has to stand behind its beginning.
    let reads = |query: &Query| {
        query
            .sources()
            .iter()
            .any(|source| matches!(&source.kind, SourceKind::Cte(name) if !plain.contains(name.as_str())))
    };
    if bare.iter().any(reads) {
        return false;
    }
    let mut sorted: Vec<(String, &Rows)> =
        bare.iter().map(|side| unnumbered(&names.query(side).key())).zip(sides.iter().copied()).collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let shown = outputs(sides[0]);
    let instead = outputs(sorted[0].1);
    // ORDER BY names what the first side gives.
    let mut order = Vec::new();
    for key in &query.order {
        let at = shown.iter().position(|(_, expr)| expr.is_copy_of(&key.expr));
        let Some((_, expr)) = at.and_then(|at| instead.get(at)) else { return false };
        order.push((*expr).clone());
    }
    let columns: Vec<String> = shown.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut turned: Vec<Rows> = sorted.into_iter().map(|(_, rows)| rows.clone()).collect();
    turned.iter_mut().take(1).for_each(|first| first.rename(&columns));
    let put = |left: Rows, right: Rows| Rows::Set { op, all, left: Box::new(left), right: Box::new(right), span };
    let Some(rows) = turned.into_iter().reduce(put) else { return false };
    query.rows = rows;
    query.order.iter_mut().zip(order).for_each(|(key, expr)| key.expr = expr);
    true
}

/// A text of a normal form without the numbers of relations of one name, which hang on the order that is looked for.
fn unnumbered(text: &str) -> String {
    let mut parts = text.split('#');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |so_far, part| so_far + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// The sides of a chain of one operation.
fn gather<'r>(rows: &'r Rows, op: &str, all: bool, sides: &mut Vec<&'r Rows>) {
    match rows {
        Rows::Set { op: own, all: own_all, left, right, .. } if *own == op && *own_all == all => {
            gather(left, op, all, sides);
            gather(right, op, all, sides);
        }
        _ => sides.push(rows),
    }
}

fn place(rows: &Rows) -> Span {
    match rows {
        Rows::Select(select) => select.span,
        Rows::Values(_, span) | Rows::Set { span, .. } => *span,
        Rows::Query(query) => query.span,
    }
}

/// The columns of the first SELECT of rows.
fn outputs(rows: &Rows) -> Vec<(&str, &Expr)> {
    match rows {
        Rows::Select(select) => select.columns.iter().map(|column| (column.name.as_str(), &column.expr)).collect(),
        Rows::Set { left, .. } => outputs(left),
        Rows::Query(query) => outputs(&query.rows),
        Rows::Values(..) => Vec::new(),
    }
}
