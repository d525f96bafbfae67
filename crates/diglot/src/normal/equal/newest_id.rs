//! The id that an insert of the same unit has just been given.
//!
//! # Why
//!
//! Postgres hands it over with RETURNING from a CTE. A statement of a SQLite unit cannot name a row of another one, but
//! AUTOINCREMENT gives no number twice and every one is greater than those before: under the one write lock the
//! greatest id of the table is the one of the insert before, if that has made one row: of VALUES, or of a CTE that finds
//! one row at most by its key and without which the later statement has no row to answer for.
//!
//! # The same
//!
//! ```text
//! sqlite: INSERT INTO log (n) VALUES (1); UPDATE u SET name = 'x' WHERE n = 1 RETURNING (SELECT max(log.id) FROM log) AS c
//! pg:     WITH told AS (INSERT INTO log (n) VALUES (1) RETURNING id), done AS (UPDATE u SET name = 'x' WHERE n = 1) SELECT told.id AS c FROM told
//! sqlite: WITH seat AS (SELECT t.n FROM t WHERE t.id = :id) INSERT INTO log (n) SELECT seat.n FROM seat; WITH seat AS (SELECT t.n FROM t WHERE t.id = :id) UPDATE u SET name = 'x' WHERE n = 1 AND EXISTS (SELECT 1 FROM seat) RETURNING (SELECT max(log.id) FROM log) AS c
//! pg:     WITH seat AS (SELECT t.n FROM t WHERE t.id = :id), told AS (INSERT INTO log (n) SELECT seat.n FROM seat RETURNING id), done AS (UPDATE u SET name = 'x' WHERE n = 1 AND EXISTS (SELECT 1 FROM seat)) SELECT told.id AS c FROM told
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: INSERT INTO log (n) VALUES (1); UPDATE u SET name = 'x' WHERE n = 1 RETURNING (SELECT min(log.id) FROM log) AS c
//! pg:     WITH told AS (INSERT INTO log (n) VALUES (1) RETURNING id), done AS (UPDATE u SET name = 'x' WHERE n = 1) SELECT told.id AS c FROM told
//! sqlite: WITH seat AS (SELECT t.n FROM t WHERE t.id = :id) INSERT INTO log (n) SELECT seat.n FROM seat; UPDATE u SET name = 'x' WHERE n = 1 RETURNING (SELECT max(log.id) FROM log) AS c
//! pg:     WITH seat AS (SELECT t.n FROM t WHERE t.id = :id), told AS (INSERT INTO log (n) SELECT seat.n FROM seat RETURNING id), done AS (UPDATE u SET name = 'x' WHERE n = 1) SELECT told.id AS c FROM told
//! sqlite: WITH seat AS (SELECT t.n FROM t WHERE t.n = :n) INSERT INTO log (n) SELECT seat.n FROM seat; WITH seat AS (SELECT t.n FROM t WHERE t.n = :n) UPDATE u SET name = 'x' WHERE n = 1 AND EXISTS (SELECT 1 FROM seat) RETURNING (SELECT max(log.id) FROM log) AS c
//! pg:     WITH seat AS (SELECT t.n FROM t WHERE t.n = :n), told AS (INSERT INTO log (n) SELECT seat.n FROM seat RETURNING id), done AS (UPDATE u SET name = 'x' WHERE n = 1 AND EXISTS (SELECT 1 FROM seat)) SELECT told.id AS c FROM told
//! sqlite: WITH seat AS (SELECT t.n FROM t WHERE t.id = :id) INSERT INTO log (n) SELECT seat.n FROM seat; UPDATE t SET n = 5 WHERE t.n = 4; WITH seat AS (SELECT t.n FROM t WHERE t.id = :id) UPDATE u SET name = 'x' WHERE n = 1 AND EXISTS (SELECT 1 FROM seat) RETURNING (SELECT max(log.id) FROM log) AS c
//! pg:     WITH seat AS (SELECT t.n FROM t WHERE t.id = :id), told AS (INSERT INTO log (n) SELECT seat.n FROM seat RETURNING id), more AS (UPDATE t SET n = 5 WHERE t.n = 4), done AS (UPDATE u SET name = 'x' WHERE n = 1 AND EXISTS (SELECT 1 FROM seat)) SELECT told.id AS c FROM told
//! ```

use super::super::{Head, Names, Node, Relation, gate};
use crate::dialect::Dialect;
use crate::schema::Fill;
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, Insert, Query, Rows, SourceKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Scalar(query) = &expr.kind else { return None };
    if names.dialect() != Dialect::Sqlite {
        return None;
    }
    let (table, column) = greatest(query)?;
    let numbered = names.pair.schemas.sqlite.tables.get(table)?.column(column)?.fill == Fill::Numbered;
    (numbered && inserts_before(names, table, column, expr.span))
        .then(|| Node::leaf(Head::column(Relation::first(table), column), node.span))
}

/// The table and the column of a query that gives the greatest value of a whole table.
fn greatest(query: &Query) -> Option<(&str, &str)> {
    let Rows::Select(select) = &query.rows else { return None };
    let ([source], [output]) = (select.from.as_slice(), select.columns.as_slice()) else { return None };
    let SourceKind::Table(table) = &source.kind else { return None };
    let ExprKind::Call { name, args, filter: None, over: None, .. } = &output.expr.kind else { return None };
    let [Expr { kind: ExprKind::Column { column, .. }, .. }] = args.as_slice() else { return None };
    let whole = select.filter.is_none() && select.group.is_empty() && select.having.is_none() && query.limit.is_none();
    (name == "max" && whole).then_some((table, column))
}

/// Whether the one statement of the unit that inserts into a table stands before a place, and has made one row for sure.
fn inserts_before(names: &Names<'_>, table: &str, column: &str, place: Span) -> bool {
    let parts = &names.statement.parts;
    let mut writers = parts.iter().filter_map(|part| match &part.body {
        Body::Insert(insert) if insert.target.table() == Some(table) => Some((part, insert)),
        _ => None,
    });
    let (Some((part, insert)), None) = (writers.next(), writers.next()) else { return false };
    let numbered = insert.or.is_none()
        && insert.conflict.is_none()
        && part.span.end <= place.start
        && insert.columns.iter().all(|(name, _)| name != column);
    let asking = parts.iter().find(|other| (other.name.is_none() || other.target().is_some()) && other.span.contains(place));
    numbered && (is_one_row(insert) || asking.is_some_and(|asking| gate::has_made_one(names, part, asking)))
}

/// Whether an insert makes one row whatever the tables hold.
fn is_one_row(insert: &Insert) -> bool {
    matches!(&insert.rows.rows, Rows::Values(rows, _) if rows.len() == 1)
}
