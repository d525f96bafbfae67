//! A value that was to be inserted, by its column or as it was written.
//!
//! # Why
//!
//! Behind ON CONFLICT DO UPDATE `excluded.c` is what the statement has for the column c. Where that is one parameter or
//! one number for all rows, writing it again says the same.
//!
//! # The same
//!
//! ```text
//! sqlite: INSERT INTO u (n, name) VALUES (:n, :name) ON CONFLICT (n) DO UPDATE SET name = :name
//! pg:     INSERT INTO u (n, name) VALUES (:n, :name) ON CONFLICT (n) DO UPDATE SET name = excluded.name
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: INSERT INTO u (n, name) VALUES (:n, :name) ON CONFLICT (n) DO UPDATE SET name = :other
//! pg:     INSERT INTO u (n, name) VALUES (:n, :name) ON CONFLICT (n) DO UPDATE SET name = excluded.name
//! sqlite: INSERT INTO u (n, name) VALUES (:n, :name) ON CONFLICT (n) DO UPDATE SET name = u.name
//! pg:     INSERT INTO u (n, name) VALUES (:n, :name) ON CONFLICT (n) DO UPDATE SET name = excluded.name
//! ```

use super::{Head, Names, Node};
use crate::tree::{Assignment, ConflictAction, ExprKind, Insert, Rows};

impl Names<'_> {
    /// The column of the proposed row, where an assignment behind ON CONFLICT gives a column what it was to be inserted
    /// with.
    pub(crate) fn proposed(&self, insert: &Insert, assignment: &Assignment) -> Option<Node> {
        let ConflictAction::Update { excluded, .. } = &insert.conflict.as_ref()?.action else { return None };
        let at = insert.columns.iter().position(|(name, _)| *name == assignment.column)?;
        let value = match &insert.rows.rows {
            Rows::Select(select) => &select.columns.get(at)?.expr,
            Rows::Values(rows, _) => match rows.as_slice() {
                [only] => only.get(at)?,
                _ => return None,
            },
            Rows::Set { .. } | Rows::Query(_) => return None,
        };
        let is_same = match (&value.kind, &assignment.value.kind) {
            (ExprKind::Param(inserted), ExprKind::Param(assigned)) => inserted == assigned,
            (ExprKind::Number(inserted), ExprKind::Number(assigned)) => inserted == assigned,
            _ => false,
        };
        let column = || Head::column(self.relation(*excluded), &assignment.column);
        is_same.then(|| Node::leaf(column(), assignment.value.span))
    }
}
