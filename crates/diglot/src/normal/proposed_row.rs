//! A value that was to be inserted, by its column or as it was written.

use super::{Head, Names, Node};
use crate::schema::Schema;
use crate::tree::{Assignment, ConflictAction, Expr, ExprKind, Insert, Rows, SourceId, SourceKind};
use crate::types::Base;

impl<'t> Names<'t> {
    /// The column of the proposed row, where an assignment behind ON CONFLICT gives a column what it was to be inserted
    /// with.
    pub(crate) fn proposed(&self, insert: &Insert, assignment: &Assignment) -> Option<Node> {
        let ConflictAction::Update { excluded, .. } = &insert.conflict.as_ref()?.action else { return None };
        if self.keeps_values(insert, &assignment.column) {
            // Either spelling is what was written.
            return None;
        }
        let is_same = match (&written(insert, &assignment.column)?.kind, &assignment.value.kind) {
            (ExprKind::Param(inserted), ExprKind::Param(assigned)) => inserted == assigned,
            (ExprKind::Number(inserted), ExprKind::Number(assigned)) => inserted == assigned,
            _ => false,
        };
        let column = || Head::column(self.relation(*excluded), &assignment.column);
        is_same.then(|| Node::leaf(column(), assignment.value.span))
    }

    /// What stands in a column of the proposed row, where the column keeps it as it is written.
    pub(super) fn proposed_value(&self, source: SourceId, column: &str) -> Option<&'t Expr> {
        let insert = self.proposing.get(&source)?;
        written(insert, column).filter(|_| self.keeps_values(insert, column))
    }

    fn keeps_values(&self, insert: &Insert, column: &str) -> bool {
        keeps_values(insert, column, self.pair.schemas.sqlite, self.pair.schemas.pg)
    }
}

/// Whether a column holds a value as it is given, on both databases.
pub(super) fn keeps_values(insert: &Insert, column: &str, sqlite: &Schema, pg: &Schema) -> bool {
    let SourceKind::Table(table) = &insert.target.kind else { return false };
    let kept = |schema: &Schema| {
        let column = schema.tables.get(table).and_then(|table| table.column(column));
        // A length is one more thing that a value may be cut to.
        column.is_some_and(|column| is_plain(&column.ty.base) && !column.declared.contains('('))
    };
    kept(sqlite) && kept(pg)
}

fn is_plain(base: &Base) -> bool {
    matches!(base, Base::Bool | Base::Int16 | Base::Int32 | Base::Int64 | Base::Text | Base::Bytes | Base::Uuid)
}

/// The parameter or the number that all rows have for a column.
pub(super) fn written<'t>(insert: &'t Insert, column: &str) -> Option<&'t Expr> {
    let at = insert.columns.iter().position(|(name, _)| name == column)?;
    let value = match &insert.rows.rows {
        Rows::Select(select) => &select.columns.get(at)?.expr,
        Rows::Values(rows, _) => match rows.as_slice() {
            [only] => only.get(at)?,
            _ => return None,
        },
        Rows::Set { .. } | Rows::Query(_) => return None,
    };
    // A cast says of which type a parameter is.
    let value = match &value.kind {
        ExprKind::Cast { expr, to, base: Some(base) } if is_plain(base) && !to.contains('(') => expr,
        _ => value,
    };
    matches!(value.kind, ExprKind::Param(_) | ExprKind::Number(_)).then_some(value)
}
