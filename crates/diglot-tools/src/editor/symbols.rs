//! What a file holds, for the outline of an editor.

use std::collections::BTreeSet;

use diglot::dialect::Both;
use diglot::infer::word;
use diglot::page::Page;
use diglot::schema::Schema;
use diglot::source::{FileId, Span};

/// Something with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// How many rows a statement gives, the type of a column.
    pub detail: String,
    /// All of it.
    pub span: Span,
    /// Its name.
    pub name_span: Span,
    /// What it has in it.
    pub children: Vec<Symbol>,
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    /// A statement.
    Statement,
    /// A table.
    Table,
    /// A view.
    View,
    /// A column.
    Column,
}

pub(super) fn statements<'p>(pages: impl Iterator<Item = &'p Page>) -> Vec<Symbol> {
    let symbol = |raw: &diglot::page::RawStatement| Symbol {
        name: raw.name.clone(),
        kind: SymbolKind::Statement,
        detail: format!(":{}", word(raw.cardinality)),
        span: raw.span,
        name_span: raw.name_span,
        children: Vec::new(),
    };
    let mut symbols: Vec<Symbol> = pages.flat_map(|page| page.statements.iter().map(symbol)).collect();
    // Two pages have what stands on one of them for both.
    let mut seen = BTreeSet::new();
    symbols.retain(|symbol| seen.insert(symbol.name_span));
    symbols
}

/// The tables that a migration makes, in its order.
pub(super) fn tables(schemas: &Both<Schema>, file: FileId) -> Vec<Symbol> {
    let own = schemas.iter().flat_map(|schema| schema.tables.values()).filter(|table| table.span.file == file);
    let mut symbols: Vec<Symbol> = own
        .map(|table| {
            let columns = table.columns.iter().filter(|column| column.span.file == file && !table.view);
            let children: Vec<Symbol> = columns.map(column).collect();
            Symbol {
                name: table.name.clone(),
                kind: if table.view { SymbolKind::View } else { SymbolKind::Table },
                detail: String::new(),
                span: children.iter().fold(table.span, |span, column| span.to(column.span)),
                name_span: table.span,
                children,
            }
        })
        .collect();
    symbols.sort_by_key(|symbol| symbol.name_span);
    symbols
}

fn column(column: &diglot::schema::Column) -> Symbol {
    Symbol {
        name: column.name.clone(),
        kind: SymbolKind::Column,
        detail: column.ty.to_string(),
        span: column.span,
        name_span: column.span,
        children: Vec::new(),
    }
}
