//! CREATE TABLE and ALTER TABLE.

use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnDef, ColumnOption, CreateTable, Expr, Ident,
    NullsDistinctOption, RenameTableNameKind, TableConstraint,
};

use super::key::{self, KeyKind, lower};
use super::migration::{Options, Piece};
use super::read::{Reader, last};
use super::{Check, Column, Fill, ForeignKey, Table, column_type, text};
use crate::dialect::Dialect;
use crate::rule;
use crate::source::Span;
use crate::types::Type;

impl Reader {
    pub(super) fn create_table(&mut self, piece: &Piece, create: &CreateTable) {
        let name = last(&create.name);
        if (create.if_not_exists || self.guarded) && self.schema.tables.contains_key(&name) {
            return;
        }
        let span = piece.place(sqlparser::ast::Spanned::span(&create.name));
        let mut create = create.clone();
        if self.dialect == Dialect::Sqlite && create.query.is_none() {
            let columns: Vec<String> = create.columns.iter().map(|column| lower(&column.name)).collect();
            text::take_quoted_texts(&mut create, |name| columns.iter().any(|column| column == name));
        }
        let create = &create;
        let mut table = Table::new(name, span);
        table.strict = piece.strict;
        table.within = self.within(&create.name);
        table.quoted = self.quoted(&create.name);
        table.partition = create.partition_of.is_some();
        if let Some(parent) = create.partition_of.as_ref().and_then(|parent| self.schema.tables.get(&last(parent))) {
            table.columns.clone_from(&parent.columns);
            table.primary_key.clone_from(&parent.primary_key);
            table.unique.clone_from(&parent.unique);
        }
        for parent in create.inherits.iter().flatten().filter_map(|parent| self.schema.tables.get(&last(parent))) {
            table.columns.extend(parent.columns.iter().cloned());
        }
        if create.like.is_some() {
            self.unreadable("CREATE TABLE … LIKE is not read", span, "has no columns here", "name the columns");
        }
        if let Some(query) = &create.query {
            table.columns = self.query_columns(piece, query);
            // CREATE TABLE … AS copies no constraint.
            table.columns.iter_mut().for_each(|column| column.ty.nullable = true);
        }
        for column in &create.columns {
            self.add_column(piece, &mut table, column);
        }
        for constraint in &create.constraints {
            self.add_constraint(&mut table, constraint, span);
        }
        if let Some(by) = &create.partition_by {
            table.partitioned_by = partition_columns(by);
        }
        self.settle_primary_key(&mut table, piece, create);
        self.schema.tables.insert(table.name.clone(), table);
    }

    fn add_column(&mut self, piece: &Piece, table: &mut Table, column: &ColumnDef) {
        let name = lower(&column.name);
        let span = piece.place(column.name.span);
        let declared = column_type::plain(&column.data_type);
        let base = self
            .base(&column.data_type)
            .unwrap_or_else(|| self.unknown_type(&declared, &format!("{}.{name}", table.name), span));
        let serial = self.dialect == Dialect::Pg && column_type::is_serial(&declared);
        table.columns.push(Column {
            name: name.clone(),
            ty: Type { base, nullable: !serial },
            has_default: serial,
            declared: column.data_type.to_string().to_lowercase(),
            fill: if serial { Fill::Numbered } else { Fill::Nothing },
            collation: None,
            words: None,
            span,
        });
        for option in &column.options {
            self.column_option(table, (&name, span), &option.option, option.name.as_ref());
        }
    }

    fn column_option(
        &self,
        table: &mut Table,
        (column, span): (&str, Span),
        option: &ColumnOption,
        name: Option<&Ident>,
    ) {
        let own = vec![column.to_owned()];
        match option {
            ColumnOption::NotNull => table.update(column, |c| c.ty.nullable = false),
            ColumnOption::Default(value) => table.update(column, |c| default(c, value)),
            ColumnOption::Generated { generation_expr, .. } => {
                let identity = generation_expr.is_none();
                table.update(column, |c| {
                    c.has_default = true;
                    c.ty.nullable &= !identity;
                    c.fill = generation_expr.as_ref().map_or(Fill::Numbered, |expr| Fill::Computed(text::normal(expr)));
                });
            }
            ColumnOption::PrimaryKey(_) => {
                table.add_constraint(self.dialect, KeyKind::Primary, name, own);
                self.require_key(table);
            }
            ColumnOption::Unique(unique) => {
                if unique.nulls_distinct == NullsDistinctOption::NotDistinct {
                    table.nulls_equal.push(own.clone());
                }
                table.add_constraint(self.dialect, KeyKind::Unique, name, own);
            }
            ColumnOption::Check(check) => {
                let name = check.name.as_ref().or(name).map(lower);
                table.checks.push(Check::of(name, check, span));
            }
            ColumnOption::ForeignKey(key) => {
                table.foreign_keys.push(ForeignKey::of(key, Some(column), name, span));
            }
            ColumnOption::Collation(name) => {
                let name = last(name);
                table.update(column, |c| c.collation = Some(name.clone()));
            }
            ColumnOption::DialectSpecific(tokens)
                if tokens.iter().any(|token| token.to_string().eq_ignore_ascii_case("autoincrement")) =>
            {
                table.update(column, |c| c.fill = Fill::Numbered);
            }
            _ => {}
        }
    }

    fn add_constraint(&self, table: &mut Table, constraint: &TableConstraint, span: Span) {
        let (kind, name, columns) = match constraint {
            TableConstraint::PrimaryKey(primary) => {
                (KeyKind::Primary, primary.name.as_ref(), key::columns(&primary.columns))
            }
            TableConstraint::Unique(unique) => {
                let columns = key::columns(&unique.columns);
                if unique.nulls_distinct == NullsDistinctOption::NotDistinct {
                    table.nulls_equal.extend(columns.clone());
                }
                (KeyKind::Unique, unique.name.as_ref(), columns)
            }
            TableConstraint::PrimaryKeyUsingIndex(using) => {
                (KeyKind::Primary, using.name.as_ref().or(Some(&using.index_name)), self.indexed(&using.index_name))
            }
            TableConstraint::UniqueUsingIndex(using) => {
                (KeyKind::Unique, using.name.as_ref().or(Some(&using.index_name)), self.indexed(&using.index_name))
            }
            TableConstraint::Check(check) => {
                let name = check.name.as_ref().map(lower);
                table.checks.push(Check::of(name, check, span));
                return;
            }
            TableConstraint::ForeignKey(key) => {
                table.foreign_keys.push(ForeignKey::of(key, None, None, span));
                return;
            }
            _ => return,
        };
        if let Some(columns) = columns {
            table.add_constraint(self.dialect, kind, name, columns);
            self.require_key(table);
        }
    }

    fn indexed(&self, index: &Ident) -> Option<Vec<String>> {
        self.indexes.get(&lower(index)).map(|(_, columns)| columns.clone())
    }

    /// On Postgres the columns of a primary key are not null.
    fn require_key(&self, table: &mut Table) {
        if self.dialect == Dialect::Pg {
            table.require_key();
        }
    }

    /// SQLite lets the columns of a primary key be NULL, except in tables that are STRICT or WITHOUT ROWID and for
    /// the one `INTEGER PRIMARY KEY`, which is the row id and fills itself.
    fn settle_primary_key(&self, table: &mut Table, piece: &Piece, create: &CreateTable) {
        if self.dialect != Dialect::Sqlite {
            return;
        }
        if piece.options.is_some() {
            table.require_key();
        }
        if let ([only], false) = (&table.primary_key[..], piece.options == Some(Options::WithoutRowId)) {
            let only = only.clone();
            let declared = create.columns.iter().find(|column| lower(&column.name) == only);
            if declared.is_some_and(|column| column_type::plain(&column.data_type) == "integer") {
                table.update(&only, |c| {
                    c.has_default = true;
                    c.ty.nullable = false;
                    if c.fill == Fill::Nothing {
                        c.fill = Fill::RowId;
                    }
                });
            }
        }
    }

    pub(super) fn alter_table(&mut self, piece: &Piece, alter: &AlterTable) {
        let name = last(&alter.name);
        if alter.if_exists && !self.schema.tables.contains_key(&name) {
            return;
        }
        let Some(table) = self.table(piece, &alter.name) else {
            return;
        };
        // Taken out while it is changed, so that the rest of the schema can be read.
        let mut table = table.clone();
        for operation in &alter.operations {
            self.alter(piece, &mut table, operation);
        }
        self.schema.tables.remove(&name);
        if table.name != name {
            for (owner, _) in self.indexes.values_mut().filter(|(owner, _)| *owner == name) {
                owner.clone_from(&table.name);
            }
        }
        self.schema.tables.insert(table.name.clone(), table);
    }

    fn alter(&mut self, piece: &Piece, table: &mut Table, operation: &AlterTableOperation) {
        match operation {
            AlterTableOperation::AddColumn { column_def, if_not_exists, .. }
                if (*if_not_exists || self.guarded) && table.column(&lower(&column_def.name)).is_some() => {}
            AlterTableOperation::AddColumn { column_def, .. } => {
                let mut column = column_def.clone();
                if self.dialect == Dialect::Sqlite {
                    let own = lower(&column.name);
                    text::take_quoted_texts(&mut column, |name| name == own || table.column(name).is_some());
                }
                self.add_column(piece, table, &column);
                if let Some(added) = table.columns.last().filter(|added| !added.ty.nullable && !added.has_default) {
                    let item = format!("{}.{}", table.name, added.name);
                    self.remark(rule::ADDED_NOT_NULL, item, added.span, "no value for the rows that are there");
                }
            }
            AlterTableOperation::DropColumn { column_names, if_exists, .. } => {
                for column in column_names {
                    if *if_exists || self.guarded || self.has_column(piece, table, column) {
                        table.drop_column(&lower(column));
                    }
                }
            }
            AlterTableOperation::RenameColumn { old_column_name, new_column_name }
                if self.has_column(piece, table, old_column_name) =>
            {
                table.rename_column(&lower(old_column_name), &lower(new_column_name));
                self.rename_indexed(&table.name, &lower(old_column_name), &lower(new_column_name));
            }
            AlterTableOperation::RenameTable { table_name } => {
                let (RenameTableNameKind::As(name) | RenameTableNameKind::To(name)) = table_name;
                let (old, new) = (table.name.clone(), last(name));
                // What refers to a table goes with it, on both engines.
                let others = self.schema.tables.values_mut().chain([&mut *table]);
                for key in others.flat_map(|other| &mut other.foreign_keys).filter(|key| key.table == old) {
                    key.table.clone_from(&new);
                }
                table.name = new;
                table.quoted = self.quoted(name);
            }
            AlterTableOperation::AddConstraint { constraint, not_valid } => {
                let span = piece.place(sqlparser::ast::Spanned::span(constraint));
                self.add_constraint(table, constraint, span);
                if let (true, TableConstraint::Check(_), Some(check)) =
                    (*not_valid, constraint, table.checks.last_mut())
                {
                    check.ranges.clear();
                    check.holds_of_all_rows = false;
                }
            }
            AlterTableOperation::ValidateConstraint { name } => table.validate(&lower(name)),
            AlterTableOperation::DropConstraint { name, .. } => table.drop_constraint(&lower(name)),
            AlterTableOperation::RenameConstraint { old_name, new_name } => {
                if let Some(columns) = table.constraints.remove(&lower(old_name)) {
                    table.constraints.insert(lower(new_name), columns);
                }
            }
            AlterTableOperation::AlterColumn { column_name, op } if self.has_column(piece, table, column_name) => {
                self.alter_column(piece, table, column_name, op);
            }
            _ => {}
        }
    }

    fn alter_column(&mut self, piece: &Piece, table: &mut Table, column: &Ident, operation: &AlterColumnOperation) {
        let name = lower(column);
        match operation {
            AlterColumnOperation::SetNotNull => table.update(&name, |c| c.ty.nullable = false),
            AlterColumnOperation::DropNotNull => table.update(&name, |c| c.ty.nullable = true),
            AlterColumnOperation::SetDefault { value } => table.update(&name, |c| default(c, value)),
            AlterColumnOperation::DropDefault => table.update(&name, |c| {
                c.has_default = false;
                c.fill = Fill::Nothing;
            }),
            AlterColumnOperation::AddGenerated { .. } => table.update(&name, |c| {
                c.has_default = true;
                c.fill = Fill::Numbered;
            }),
            AlterColumnOperation::SetDataType { data_type, .. } => match self.base(data_type) {
                Some(base) => table.update(&name, |c| {
                    c.ty.base = base.clone();
                    c.declared = data_type.to_string().to_lowercase();
                }),
                None => {
                    let declared = column_type::plain(data_type);
                    let of = format!("{}.{name}", table.name);
                    let base = self.unknown_type(&declared, &of, piece.place(column.span));
                    table.update(&name, |c| c.ty.base = base.clone());
                }
            },
        }
    }

    fn has_column(&mut self, piece: &Piece, table: &Table, column: &Ident) -> bool {
        let found = table.column(&lower(column)).is_some();
        if !found {
            let message = format!("{} has no column `{}`", table.name, lower(column));
            let known: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
            self.unreadable(
                &message,
                piece.place(column.span),
                "no such column",
                &format!("its columns are: {}", known.join(", ")),
            );
        }
        found
    }

    fn rename_indexed(&mut self, table: &str, old: &str, new: &str) {
        let columns = self.indexes.values_mut().filter(|(owner, _)| owner == table).flat_map(|(_, columns)| columns);
        for column in columns.filter(|column| *column == old) {
            new.clone_into(column);
        }
    }
}

impl Table {
    /// A table without columns.
    pub(super) fn new(name: String, span: Span) -> Self {
        Self {
            name,
            quoted: None,
            span,
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique: Vec::new(),
            constraints: std::collections::BTreeMap::new(),
            partitioned_by: Vec::new(),
            within: None,
            view: false,
            searched: false,
            strict: false,
            partition: false,
            nulls_equal: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
        }
    }

    fn update(&mut self, column: &str, change: impl Fn(&mut Column)) {
        self.columns.iter_mut().filter(|c| c.name == column).for_each(change);
    }

    /// Takes in that a CHECK holds of all rows.
    fn validate(&mut self, name: &str) {
        self.checks.iter_mut().filter(|check| check.name.as_deref() == Some(name)).for_each(super::Check::hold);
    }

    fn require_key(&mut self) {
        for column in self.columns.iter_mut().filter(|column| self.primary_key.contains(&column.name)) {
            column.ty.nullable = false;
        }
    }
}

fn default(column: &mut Column, value: &Expr) {
    column.has_default = !is_null(value);
    column.fill = match text::normal(value) {
        _ if is_null(value) => Fill::Nothing,
        // What a sequence gave it never gives again.
        text if text.starts_with("nextval(") => Fill::Numbered,
        text => Fill::Value(text),
    };
}

/// `DEFAULT NULL` is no default.
fn is_null(value: &Expr) -> bool {
    matches!(value, Expr::Value(value) if value.value == sqlparser::ast::Value::Null)
}

/// The plain columns of `HASH (a, b)`.
fn partition_columns(by: &Expr) -> Vec<String> {
    let text = by.to_string().to_lowercase();
    let inside = text.split_once('(').map_or(text.as_str(), |(_, rest)| rest).trim_end_matches(')');
    let names = inside.split(',').map(|name| name.trim().trim_matches('"').to_owned());
    names.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')).collect()
}
