//! INSERT OR REPLACE of a whole row.

use super::Names;
use super::ignored_conflict::only_key;
use super::proposed_row::{keeps_values, written};
use crate::schema::{Column, Fill, Schema};
use crate::tree::{Expr, Insert, SourceKind};

/// What takes the place of the row that is in the way.
pub(crate) struct Replaced<'t> {
    /// The key that both rows have.
    pub(crate) key: &'t [String],
    /// The other columns, with their values.
    pub(crate) set: Vec<(&'t str, &'t Expr)>,
}

impl Names<'_> {
    /// The row of OR REPLACE, where it is one of ON CONFLICT DO UPDATE as well.
    pub(crate) fn replaced<'i>(&'i self, insert: &'i Insert) -> Option<Replaced<'i>> {
        replaced(insert, self.pair.schemas.sqlite, self.pair.schemas.pg)
    }
}

/// The same between two schemas.
pub(crate) fn replaced<'t>(insert: &'t Insert, sqlite: &'t Schema, pg: &'t Schema) -> Option<Replaced<'t>> {
    let SourceKind::Table(name) = &insert.target.kind else { return None };
    let (ours, theirs) = (sqlite.tables.get(name)?, pg.tables.get(name)?);
    let key = only_key(insert, ours, theirs)?;
    let is_full = [ours, theirs].into_iter().flat_map(|table| &table.columns).all(|column| insert.gives(&column.name));
    let gives_default = |column: &Column| column.has_default && !column.ty.nullable && column.fill != Fill::RowId;
    let is_kept = !ours.columns.iter().any(gives_default);
    let is_referred = sqlite.tables.values().flat_map(|table| &table.foreign_keys).any(|key| key.table == *name);
    let is_watched = pg.triggers.iter().any(|trigger| trigger.table == *name);
    if !insert.or.as_ref()?.0.ends_with("replace") || !is_full || !is_kept || is_referred || is_watched {
        return None;
    }
    let others = ours.columns.iter().filter(|column| !key.contains(&column.name));
    let value = |name: &'t str| written(insert, name).filter(|_| keeps_values(insert, name, sqlite, pg));
    let set: Option<Vec<_>> = others.map(|column| Some((column.name.as_str(), value(&column.name)?))).collect();
    set.filter(|set| !set.is_empty()).map(|set| Replaced { key, set })
}
