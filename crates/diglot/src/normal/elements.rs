//! The columns of a list or of a document's members, by what they mean.
//!
//! The elements of a list parameter have one type on both pages. Those of a document are read in SQL's type on SQLite
//! and as text, or as JSON, on Postgres.

use super::{Names, Node};
use crate::dialect::Dialect;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Source, SourceKind};

/// The functions that give the elements of a list or the members of an object.
pub(super) fn is_list(name: &str) -> bool {
    ["json_each", "unnest", "jsonb_array_elements", "jsonb_array_elements_text", "jsonb_each", "jsonb_each_text"]
        .contains(&name)
}

impl Names<'_> {
    /// A column of such a function.
    pub(super) fn element(&self, source: &Source, column: &str, span: Span) -> Option<Node> {
        let SourceKind::Function { name, args } = &source.kind else { return None };
        let [list] = args.as_slice() else { return None };
        let relation = self.relation(source.id);
        let at = source.columns.iter().position(|(known, _)| known == column)?;
        let leaf = |word: &str| Node::leaf(format!("{relation}.{word}"), span);
        let (value, place) = match (self.dialect(), name.as_str()) {
            (Dialect::Sqlite, "json_each") => return (column == "value").then(|| self.member(list, leaf("value"))),
            (Dialect::Sqlite, _) => return None,
            (Dialect::Pg, "jsonb_each" | "jsonb_each_text") => (1, "key"),
            (Dialect::Pg, "unnest" | "jsonb_array_elements" | "jsonb_array_elements_text") => (0, "ordinality"),
            _ => return None,
        };
        if at != value {
            return Some(leaf(place));
        }
        let head = match name.as_str() {
            "unnest" => return Some(leaf("value")),
            "jsonb_each" | "jsonb_array_elements" => "json-value 'element'",
            _ if self.is_list_param(list) => return Some(leaf("value")),
            _ => "json-text 'element'",
        };
        Some(Node::list(head, vec![leaf("value")], span))
    }

    /// An element on SQLite.
    fn member(&self, list: &Expr, leaf: Node) -> Node {
        let is_array = match &list.kind {
            ExprKind::Column { source, column } => {
                self.pg_column(*source, column).is_some_and(|column| column.ty.base.is_list())
            }
            _ => self.is_list_param(list),
        };
        let span = leaf.span;
        if is_array { leaf } else { Node::list("json-typed 'element'", vec![leaf], span) }
    }

    /// Whether an expression is a parameter that is no document: its elements have the type of the list.
    fn is_list_param(&self, list: &Expr) -> bool {
        match &list.kind {
            ExprKind::Param(name) => !self.around.documents.contains(name),
            ExprKind::Cast { expr, .. } => self.is_list_param(expr),
            _ => false,
        }
    }

    /// The document whose member a column shows.
    pub(super) fn list_of(&self, expr: &Expr) -> Option<String> {
        let ExprKind::Column { source, .. } = &expr.kind else { return None };
        let SourceKind::Function { args, .. } = &self.sources.get(source)?.kind else { return None };
        args.first().map(|list| self.expr(list).head)
    }
}

/// Whether an expression is a column of such a function.
pub(super) fn is_of_list(names: &Names<'_>, expr: &Expr) -> bool {
    let ExprKind::Column { source, .. } = &expr.kind else { return false };
    let kind = names.sources.get(source).map(|source| &source.kind);
    matches!(kind, Some(SourceKind::Function { name, .. }) if is_list(name))
}
