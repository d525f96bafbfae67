//! Primary keys and unique keys of a table, and what becomes of them when the table is altered.

use sqlparser::ast::{Expr, Ident, IndexColumn};

use super::Table;
use crate::dialect::Dialect;

/// What a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// PRIMARY KEY.
    Primary,
    /// UNIQUE.
    Unique,
}

/// The plain columns of an index or a constraint; `None` when one of them is an expression.
pub(super) fn columns(keyed: &[IndexColumn]) -> Option<Vec<String>> {
    keyed.iter().map(|column| plain(&column.column.expr)).collect()
}

fn plain(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(lower(ident)),
        // `column COLLATE name` still is that column; NOCASE would make it another key.
        Expr::Collate { expr, collation } if collation.to_string().trim_matches('"').eq_ignore_ascii_case("binary") => {
            plain(expr)
        }
        _ => None,
    }
}

/// An identifier in lower case.
pub(super) fn lower(ident: &Ident) -> String {
    ident.value.to_lowercase()
}

impl Table {
    /// Adds the key of a constraint. Postgres names a constraint itself when nobody does.
    pub(super) fn add_constraint(
        &mut self,
        dialect: Dialect,
        kind: KeyKind,
        name: Option<&Ident>,
        columns: Vec<String>,
    ) {
        let name = match (name, dialect, kind) {
            (Some(name), ..) => Some(lower(name)),
            (None, Dialect::Pg, KeyKind::Primary) => Some(format!("{}_pkey", self.name)),
            (None, Dialect::Pg, KeyKind::Unique) => Some(format!("{}_{}_key", self.name, columns.join("_"))),
            (None, Dialect::Sqlite, _) => None,
        };
        if let Some(name) = name {
            self.constraints.insert(name, columns.clone());
        }
        match kind {
            KeyKind::Primary => self.primary_key = columns,
            KeyKind::Unique => self.add_unique(columns),
        }
    }

    /// Adds a unique key that no constraint names.
    pub(super) fn add_unique(&mut self, columns: Vec<String>) {
        if !self.unique.contains(&columns) {
            self.unique.push(columns);
        }
    }

    /// Removes the key of a constraint; nothing happens when the name is no key's.
    pub(super) fn drop_constraint(&mut self, name: &str) {
        self.drop_detail(name);
        let Some(columns) = self.constraints.remove(name) else {
            return;
        };
        if self.primary_key == columns {
            self.primary_key.clear();
        } else {
            self.drop_unique(&columns);
        }
    }

    /// Removes a unique key, unless a constraint still holds it.
    pub(super) fn drop_unique(&mut self, columns: &[String]) {
        if !self.constraints.values().any(|held| held == columns) {
            self.unique.retain(|unique| unique != columns);
        }
    }

    /// Removes a column with every key that it is part of.
    pub(super) fn drop_column(&mut self, name: &str) {
        let holds = |columns: &Vec<String>| columns.iter().any(|column| column == name);
        self.forget_column(name);
        self.columns.retain(|column| column.name != name);
        self.unique.retain(|columns| !holds(columns));
        self.constraints.retain(|_, columns| !holds(columns));
        if holds(&self.primary_key) {
            self.primary_key.clear();
        }
    }

    /// Renames a column wherever it is named.
    pub(super) fn rename_column(&mut self, old: &str, new: &str) {
        self.rename_in_details(old, new);
        let keys = self.unique.iter_mut().chain(self.constraints.values_mut());
        let named = keys.chain([&mut self.primary_key, &mut self.partitioned_by]).flatten();
        for name in named.chain(self.columns.iter_mut().map(|column| &mut column.name)) {
            if name == old {
                new.clone_into(name);
            }
        }
    }
}
