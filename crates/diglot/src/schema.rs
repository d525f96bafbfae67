//! The schema of one dialect, as the migrations leave it.
//!
//! [`read()`] plays the migrations in their order. Only what shapes tables, views and indexes is understood, and on
//! Postgres triggers and functions, for what they lock; data is passed over. `compare` holds the schemas of both dialects against each other.

pub(crate) mod allowed;
mod block;
pub(crate) mod column_type;
pub(crate) mod compare;
mod detail;
mod effect;
pub(crate) mod hazards;
mod key;
pub(crate) mod lints;
mod mask;
mod migration;
mod order;
mod parsed;
mod proposed;
mod raising;
mod range;
mod read;
mod rebuild;
mod refused;
mod routines;
mod shards;
mod step;
pub(crate) mod storage;
mod table;
mod text;
mod type_pairs;
mod view;
mod virtual_table;
pub(crate) mod words;

#[cfg(test)]
mod findings;
#[cfg(test)]
mod tests;

pub use crate::config::DIVERGENCES;
pub use detail::{Check, Fill, ForeignKey, Index};
pub use effect::{Effect, Lock, Work};
pub(crate) use migration::of_rows;
pub(crate) use order::in_order;
pub use order::{runs_one_by_one, up};
pub use proposed::Proposal;
pub(crate) use proposed::proposed;
pub use range::Range;
pub use read::read;
pub(crate) use read::read_along;
pub(crate) use routines::{Trigger, Written};
pub(crate) use text::{condition_of as condition, key as key_text};
pub use words::{By, Listed};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::dialect::Dialect;
use crate::source::Span;
use crate::types::{Enum, Type};

/// All relations of one dialect.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The dialect.
    pub dialect: Dialect,
    /// Tables and views by lower-case name.
    pub tables: BTreeMap<String, Table>,
    /// Enums of Postgres by their name.
    pub enums: BTreeMap<String, Enum>,
    /// Functions of Postgres by lower-case name.
    pub(crate) functions: BTreeMap<String, Written>,
    /// Triggers of Postgres.
    pub(crate) triggers: Vec<Trigger>,
    /// What the lints of the schemas are to tell about the migrations themselves.
    pub(crate) remarks: Vec<lints::Remark>,
    /// What the migrations of Postgres do to tables that are there before their step, statement by statement.
    pub effects: Vec<Effect>,
    /// What else the steps do to a system that runs.
    pub(crate) hazards: Vec<hazards::Hazard>,
}

/// A table or a view.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name in lower case.
    pub name: String,
    /// Its name on Postgres where that has capitals, which stand in quotes wherever it is named.
    pub quoted: Option<String>,
    /// Where it was created.
    pub span: Span,
    /// Columns in order.
    pub columns: Vec<Column>,
    /// Primary key columns, if any.
    pub primary_key: Vec<String>,
    /// Unique keys: of constraints and of unique indexes without a predicate; the primary key is not repeated.
    pub unique: Vec<Vec<String>>,
    /// The columns of each primary-key and unique constraint, by the constraint's name in lower case, for
    /// `ON CONFLICT ON CONSTRAINT`. On Postgres a constraint without a name has the one that the server gives it.
    pub constraints: BTreeMap<String, Vec<String>>,
    /// Columns by which a Postgres table is partitioned.
    pub partitioned_by: Vec<String>,
    /// The schema of Postgres that it was created in, where sessions do not look by themselves.
    pub within: Option<String>,
    /// Whether it is a view.
    pub view: bool,
    /// Whether it is a full-text index of SQLite: its name is a column of it, which MATCH searches.
    pub searched: bool,
    /// Whether it is a STRICT table of SQLite.
    pub strict: bool,
    /// Whether it is a partition of another table.
    pub partition: bool,
    /// The unique keys in which two NULLs are equal.
    pub nulls_equal: Vec<Vec<String>>,
    /// Checks of the table and of its columns.
    pub checks: Vec<Check>,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Indexes that are no plain unique keys.
    pub indexes: Vec<Index>,
}

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name in lower case.
    pub name: String,
    /// Its logical type.
    pub ty: Type,
    /// Whether the database fills it when an INSERT does not name it: a default, an identity, a row id, a
    /// generated column. A nullable column without any of these stays NULL and is `false` here.
    pub has_default: bool,
    /// The type as it was declared, in lower case.
    pub declared: String,
    /// What fills it.
    pub fill: Fill,
    /// COLLATE, in lower case.
    pub collation: Option<String>,
    /// The words that it may hold, where they are listed.
    pub words: Option<Arc<Listed>>,
    /// Where it was declared.
    pub span: Span,
}

impl Table {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The only key that a new row can break: what the database numbers itself breaks none, unless the row gives it.
    pub(crate) fn only_key(&self, is_given: impl Fn(&String) -> bool) -> Option<&[String]> {
        let is_numbered = |name: &String| {
            let column = self.column(name).filter(|_| !is_given(name));
            column.is_some_and(|column| matches!(column.fill, Fill::Numbered | Fill::RowId))
        };
        let mut keys = self.keys().filter(|key| !key.iter().any(is_numbered));
        let only = keys.next().filter(|_| keys.next().is_none())?;
        // A unique index with a predicate or over an expression is a key of its own.
        (!self.indexes.iter().any(|index| index.unique)).then_some(only.as_slice())
    }

    /// The columns of each key: of the unique ones, then of the primary one.
    pub fn keys(&self) -> impl Iterator<Item = &Vec<String>> {
        self.unique.iter().chain([&self.primary_key]).filter(|key| !key.is_empty())
    }
}
