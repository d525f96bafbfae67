//! The id that an insert of the same unit has just been given.
//!
//! # Why
//!
//! Postgres hands it over with RETURNING from a CTE. A statement of a SQLite unit cannot name a row of another one, but
//! AUTOINCREMENT gives no number twice and every one is greater than those before: under the one write lock the
//! greatest id of the table is the one of the insert before, if that makes one row for sure.
//!
//! # The same
//!
//! ```text
//! sqlite: INSERT INTO log (n) VALUES (1); UPDATE u SET name = 'x' WHERE n = 1 RETURNING (SELECT max(log.id) FROM log) AS c
//! pg:     WITH told AS (INSERT INTO log (n) VALUES (1) RETURNING id), done AS (UPDATE u SET name = 'x' WHERE n = 1) SELECT told.id AS c FROM told
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: INSERT INTO log (n) VALUES (1); UPDATE u SET name = 'x' WHERE n = 1 RETURNING (SELECT min(log.id) FROM log) AS c
//! pg:     WITH told AS (INSERT INTO log (n) VALUES (1) RETURNING id), done AS (UPDATE u SET name = 'x' WHERE n = 1) SELECT told.id AS c FROM told
//! ```

use super::super::{Names, Node};
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
    let numbered = names.around.sqlite.tables.get(table)?.column(column)?.fill == Fill::Numbered;
    (numbered && inserts_before(names, table, column, expr.span))
        .then(|| Node::leaf(format!("{table}.{column}"), node.span))
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

/// Whether a statement of the unit inserts into a table before a place.
fn inserts_before(names: &Names<'_>, table: &str, column: &str, place: Span) -> bool {
    names.statement.parts.iter().any(|part| {
        let Body::Insert(insert) = &part.body else { return false };
        part.span.end <= place.start
            && matches!(&insert.target.kind, SourceKind::Table(name) if name == table)
            && is_one_row(insert, column)
    })
}

/// Whether an insert makes one row for sure, and lets the table number it.
fn is_one_row(insert: &Insert, column: &str) -> bool {
    let single = matches!(&insert.rows.rows, Rows::Values(rows, _) if rows.len() == 1);
    single && insert.or.is_none() && insert.conflict.is_none() && insert.columns.iter().all(|(name, _)| name != column)
}
