//! INSERT OR IGNORE, and ON CONFLICT DO NOTHING.
//!
//! # Why
//!
//! ON CONFLICT DO NOTHING passes over a row that breaks any unique key; where the table has one alone, naming it says
//! the same. A key that the database numbers itself is not broken by a row that leaves it out. Both pass over a row that breaks a unique key, and neither passes over a broken foreign key. OR IGNORE also drops a
//! row that breaks a CHECK or NOT NULL, so they are the same only where there is no CHECK and no NULL can come.
//!
//! # The same
//!
//! ```text
//! sqlite: INSERT OR IGNORE INTO u (n, name) VALUES (1, 'x')
//! pg:     INSERT INTO u (n, name) VALUES (1, 'x') ON CONFLICT DO NOTHING
//! sqlite: INSERT INTO u (n, name) VALUES (1, 'x') ON CONFLICT DO NOTHING
//! pg:     INSERT INTO u (n, name) VALUES (1, 'x') ON CONFLICT (n) DO NOTHING
//! sqlite: INSERT INTO numbered (word) VALUES ('x') ON CONFLICT DO NOTHING
//! pg:     INSERT INTO numbered (word) VALUES ('x') ON CONFLICT (word) DO NOTHING
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: INSERT INTO numbered (id, word) VALUES (1, 'x') ON CONFLICT DO NOTHING
//! pg:     INSERT INTO numbered (id, word) VALUES (1, 'x') ON CONFLICT (word) DO NOTHING
//! sqlite: INSERT OR IGNORE INTO u (n, name) SELECT t.n, t.note FROM t
//! pg:     INSERT INTO u (n, name) SELECT t.n, t.note FROM t ON CONFLICT DO NOTHING
//! sqlite: INSERT OR IGNORE INTO checked (n) VALUES (1)
//! pg:     INSERT INTO checked (n) VALUES (1) ON CONFLICT DO NOTHING
//! ```

use super::Names;
use crate::dialect::Both;
use crate::schema::Table;
use crate::tree::{Expr, Insert, Rows, SourceKind};

impl Names<'_> {
    /// The only key that a new row of a table can break, on both databases.
    pub(crate) fn only_key(&self, insert: &Insert) -> Option<&[String]> {
        let SourceKind::Table(name) = &insert.target.kind else { return None };
        let (sqlite, pg) = (self.pair.schemas.sqlite.tables.get(name)?, self.pair.schemas.pg.tables.get(name)?);
        only_key(insert, sqlite, pg)
    }

    /// Whether OR IGNORE of an insert can meet nothing but a conflict of keys.
    pub(crate) fn ignores_conflicts_alone(&self, insert: &Insert) -> bool {
        let SourceKind::Table(name) = &insert.target.kind else { return false };
        let (Some(sqlite), Some(pg)) =
            (self.pair.schemas.sqlite.tables.get(name), self.pair.schemas.pg.tables.get(name))
        else {
            return false;
        };
        let rows: Vec<Vec<&Expr>> = match &insert.rows.rows {
            Rows::Select(select) => vec![select.columns.iter().map(|column| &column.expr).collect()],
            Rows::Values(rows, _) => rows.iter().map(|row| row.iter().collect()).collect(),
            Rows::Set { .. } | Rows::Query(_) => return false,
        };
        let unchecked = sqlite.checks.is_empty() && pg.checks.is_empty();
        unchecked && rows.iter().all(|row| self.is_full(insert, row, Both { sqlite, pg }))
    }

    /// Whether a row has a value for every column that needs one.
    fn is_full(&self, insert: &Insert, row: &[&Expr], tables: Both<&Table>) -> bool {
        let value =
            |name: &str| insert.columns.iter().position(|(column, _)| column == name).and_then(|at| row.get(at));
        tables.into_iter().flat_map(|table| &table.columns).filter(|column| !column.ty.nullable).all(|column| {
            match value(&column.name) {
                Some(value) => self.required(value),
                None => column.has_default,
            }
        })
    }
}

/// The only key that a new row can break in a table, as either database has it.
pub(super) fn only_key<'t>(insert: &Insert, sqlite: &Table, pg: &'t Table) -> Option<&'t [String]> {
    let is_given = |name: &String| insert.gives(name);
    let key = pg.only_key(is_given)?;
    (sqlite.only_key(is_given)? == key).then_some(key)
}
