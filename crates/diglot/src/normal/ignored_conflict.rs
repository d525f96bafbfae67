//! INSERT OR IGNORE, and ON CONFLICT DO NOTHING.

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
