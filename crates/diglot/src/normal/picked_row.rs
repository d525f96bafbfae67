//! Rows that are picked by their key, whichever key that is.

use super::words::Form;
use super::{Head, Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind, Query, Rows, SourceId, SourceKind};

/// The name of what tells the rows of a table apart.
const ROW: &str = "(row)";

impl Names<'_> {
    /// A key of a table beside the query that gives the same one of rows of that table.
    pub(super) fn picked_row(&self, key: &Expr, query: &Query) -> Option<(Node, Node)> {
        let (ExprKind::Column { source, column }, Rows::Select(select)) = (&key.kind, &query.rows) else { return None };
        let [given] = select.columns.as_slice() else { return None };
        let ExprKind::Column { source: of, column: name } = &given.expr.kind else { return None };
        let table = self.table_of(*source).filter(|table| self.table_of(*of) == Some(*table))?;
        if column != name || !select.group.is_empty() || !self.tells_apart(table, column) {
            return None;
        }
        let mut rows = self.query(query);
        let select = if rows.head == Form::Query { rows.kids.first_mut()? } else { &mut rows };
        let columns = select.kids.first_mut().filter(|columns| columns.head == Form::Columns)?;
        let picked = as_row(columns.kids.first()?)?;
        columns.kids[0] = picked;
        Some((as_row(&self.expr(key))?, rows))
    }

    fn table_of(&self, source: SourceId) -> Option<&str> {
        match &self.sources.get(&source)?.kind {
            SourceKind::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Whether no two rows of a table have the same value of a column, and none has NULL.
    fn tells_apart(&self, table: &str, column: &str) -> bool {
        let Some(table) = self.pair.schemas[self.dialect()].tables.get(table) else { return false };
        let own = [column.to_owned()];
        let Some(known) = table.column(column) else {
            return self.dialect() == Dialect::Sqlite && ["rowid", "oid", "_rowid_"].contains(&column);
        };
        !known.ty.nullable && table.keys().any(|key| *key == own)
    }
}

fn as_row(column: &Node) -> Option<Node> {
    let Head::Column(of) = &column.head else { return None };
    Some(Node::leaf(Head::column(of.relation.clone(), ROW), column.span))
}
