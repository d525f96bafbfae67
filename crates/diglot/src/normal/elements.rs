//! The columns of a list or of a document's members, by what they mean.

use super::head::Path;
use super::words::{Element, Read};
use super::{Head, Names, Node, json};
use crate::dialect::Dialect;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Source, SourceId, SourceKind};

/// The functions that give the elements of a list or the members of an object.
pub(super) fn is_list(name: &str) -> bool {
    ["json_each", "unnest", "jsonb_array_elements", "jsonb_array_elements_text", "jsonb_each", "jsonb_each_text"]
        .contains(&name)
}

impl Names<'_> {
    /// A column of such a function.
    pub(super) fn element(&self, source: &Source, column: &str, span: Span) -> Option<Node> {
        let SourceKind::Function { name, args } = &source.kind else { return None };
        let relation = self.relation(source.id);
        let at = source.columns.iter().position(|(known, _)| known == column)?;
        let leaf = |what| Node::leaf(Head::Element { list: relation.clone(), what }, span);
        let value = || leaf(Element::Value);
        match (self.dialect(), name.as_str(), args.as_slice(), column) {
            (Dialect::Sqlite, "json_each", _, "key") => return Some(leaf(Element::Key)),
            (Dialect::Sqlite, "json_each", [_, _], "value") => {
                return Some(match self.array_member(args) {
                    None => element(Read::Typed, value()),
                    Some((_, declared)) => json::declared(element(Read::Text, value()), declared),
                });
            }
            _ => {}
        }
        let [list] = args.as_slice() else { return None };
        let (value_at, place) = match (self.dialect(), name.as_str()) {
            (Dialect::Sqlite, "json_each") => return (column == "value").then(|| self.member(list, value())),
            (Dialect::Sqlite, _) => return None,
            (Dialect::Pg, "jsonb_each" | "jsonb_each_text") => (1, Element::Key),
            (Dialect::Pg, "unnest" | "jsonb_array_elements" | "jsonb_array_elements_text") => (0, Element::Ordinality),
            _ => return None,
        };
        if at != value_at {
            return Some(leaf(place));
        }
        Some(match name.as_str() {
            "unnest" => value(),
            "jsonb_each" | "jsonb_array_elements" => element(Read::Value, value()),
            _ if self.is_list_param(list) => value(),
            _ => element(Read::Text, value()),
        })
    }

    /// An element on SQLite.
    fn member(&self, list: &Expr, leaf: Node) -> Node {
        let is_array = match &list.kind {
            ExprKind::Column { source, column } => {
                self.pg_column(*source, column).is_some_and(|column| column.ty.base.is_list())
            }
            _ => self.is_list_param(list),
        };
        match self.json_list(list) {
            _ if is_array => leaf,
            Some("text[]") => element(Read::Text, leaf),
            Some("i64[]") => json::declared(element(Read::Text, leaf), "i64"),
            _ => element(Read::Typed, leaf),
        }
    }

    /// Whether an expression is a parameter that is no document: its elements have the type of the list.
    fn is_list_param(&self, list: &Expr) -> bool {
        match &list.kind {
            ExprKind::Param(name) => !self.pair.documents.contains(name),
            ExprKind::Cast { expr, .. } => self.is_list_param(expr),
            _ => false,
        }
    }

    /// The document whose member a column shows.
    pub(super) fn list_of(&self, expr: &Expr) -> Option<Node> {
        let ExprKind::Column { source, .. } = &expr.kind else { return None };
        let SourceKind::Function { args, .. } = &self.sources.get(source)?.kind else { return None };
        match args.as_slice() {
            [list] => Some(self.expr(list)),
            _ => None,
        }
    }

    /// Whether a source gives the elements of what the project declares an array of values: none of them is NULL.
    pub(super) fn is_declared_element(&self, source: SourceId) -> bool {
        let Some(SourceKind::Function { name, args }) = self.sources.get(&source).map(|source| &source.kind) else {
            return false;
        };
        if self.array_member(args).is_some() {
            return true;
        }
        let ("jsonb_array_elements_text", [list]) = (name.as_str(), args.as_slice()) else { return false };
        self.elements_of(&self.expr(list)).is_some()
    }

    /// What the project declares the elements of a member to be.
    fn elements_of(&self, member: &Node) -> Option<&str> {
        let Head::Read(Read::Value, path) = &member.head else { return None };
        self.json_elements(member.kids.first()?, &path.dotted())
    }

    /// The member behind `json_each(document, path)`, and what the project declares its elements to be.
    pub(super) fn array_member(&self, args: &[Expr]) -> Option<(Node, &str)> {
        let [document, path] = args else { return None };
        let member = json::member_at(self, document, path)?;
        let elements = self.elements_of(&member)?;
        Some((member, elements))
    }
}

/// What is read of an element.
fn element(read: Read, value: Node) -> Node {
    let span = value.span;
    Node::list(Head::Read(read, Path::element()), vec![value], span)
}
