//! The list of rows that a statement takes, where it reads them like a table.

use sqlparser::ast;

use super::Lower;
use super::scope::Columns;
use crate::dialect::Dialect;
use crate::page::{ORDINALITY, RowField};
use crate::source::Span;
use crate::tree::{Replacement, Rewrite, Source, SourceKind};
use crate::types::{Base, Type};

impl Lower<'_> {
    /// Whether a name is that of the rows that the statement takes.
    pub(super) fn takes_rows(&self, name: &str) -> bool {
        self.rows.as_ref().is_some_and(|rows| rows.name == name)
    }

    pub(super) fn rows_taken(&mut self, name: &str, alias: Option<&ast::TableAlias>, place: Span) -> Source {
        let fields = self.rows.iter().flat_map(|rows| &rows.fields);
        let mut columns: Columns = fields.map(|field| (field.name.clone(), as_held(self.dialect, field))).collect();
        columns.push((ORDINALITY.to_owned(), Some(Type::required(Base::Int64))));
        let source = self.relation(SourceKind::Rows(name.to_owned()), name, columns, true, alias, place);
        if alias.is_some_and(|alias| !alias.columns.is_empty()) {
            self.unsupported("other names for the fields of its rows", source.span);
        }
        let rewrite = Rewrite { span: source.span, by: Replacement::Rows { alias: source.alias.clone() } };
        // A relation may be lowered more than once.
        if self.rewrites.iter().all(|known| known.span != rewrite.span) {
            self.rewrites.push(rewrite);
        }
        source
    }
}

/// The type of a field as an engine sees it; of what SQLite has no type for, the column that it meets tells.
fn as_held(dialect: Dialect, field: &RowField) -> Option<Type> {
    let base = match (dialect, &field.ty.base) {
        (Dialect::Sqlite, Base::Bool | Base::Int16 | Base::Int32) => Base::Int64,
        (Dialect::Sqlite, Base::Uuid) => Base::Bytes,
        (Dialect::Sqlite, Base::Json) => Base::Text,
        (Dialect::Sqlite, base) if base.is_time() || *base == Base::Numeric => return None,
        (_, base) => base.clone(),
    };
    Some(Type { base, nullable: field.ty.nullable })
}
