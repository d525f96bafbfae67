//! The schema of one dialect, as the migrations leave it.

use std::collections::BTreeMap;

use crate::dialect::Dialect;
use crate::source::Span;
use crate::types::Type;

/// All relations of one dialect.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The dialect.
    pub dialect: Dialect,
    /// Tables and views by lower-case name.
    pub tables: BTreeMap<String, Table>,
}

/// A table or a view.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name in lower case.
    pub name: String,
    /// Where it was created.
    pub span: Span,
    /// Columns in order.
    pub columns: Vec<Column>,
    /// Primary key columns, if any.
    pub primary_key: Vec<String>,
    /// Unique keys: of constraints and of unique indexes without a predicate; the primary key is not repeated.
    pub unique: Vec<Vec<String>>,
    /// Columns by which a Postgres table is partitioned.
    pub partitioned_by: Vec<String>,
    /// Whether it is a view.
    pub view: bool,
}

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name in lower case.
    pub name: String,
    /// Its logical type.
    pub ty: Type,
    /// Whether a row may be inserted without naming it.
    pub has_default: bool,
    /// Where it was declared.
    pub span: Span,
}

impl Table {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }
}
