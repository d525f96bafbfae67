//! What ALTER TABLE does to a table of Postgres.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnDef, ColumnOption, Expr, Ident, TableConstraint,
    visit_expressions,
};

use super::retype::keeps_rows;
use super::{Lock, Touch, Work};
use crate::engine::{self, Stability};
use crate::schema::key::{self, lower};
use crate::schema::read::{Reader, last};
use crate::schema::{Table, column_type};

/// All that an ALTER TABLE does: to its own table, and to those that it refers to.
pub(super) fn touches(reader: &Reader, alter: &AlterTable) -> Vec<Touch> {
    let name = last(&alter.name);
    let Some(table) = reader.schema.tables.get(&name) else { return Vec::new() };
    let of = |operation: &AlterTableOperation| Altering { reader, table }.operation(operation);
    let mut all: Vec<Touch> = alter.operations.iter().flat_map(of).collect();
    // One lock is taken for all, the strongest.
    let strongest = all.iter().filter(|touch| touch.table == name).map(|touch| touch.lock).max();
    for touch in all.iter_mut().filter(|touch| touch.table == name) {
        touch.lock = strongest.unwrap_or(touch.lock);
    }
    all
}

struct Altering<'a> {
    reader: &'a Reader,
    table: &'a Table,
}

impl Altering<'_> {
    fn own(&self, lock: Lock) -> Touch {
        Touch::new(self.table.name.as_str(), lock)
    }

    fn operation(&self, operation: &AlterTableOperation) -> Vec<Touch> {
        use AlterTableOperation as Do;
        let exclusive = || self.own(Lock::AccessExclusive);
        match operation {
            Do::AddColumn { column_def, if_not_exists, .. } => {
                let is_there = self.table.column(&lower(&column_def.name)).is_some();
                if is_there && (*if_not_exists || self.reader.guarded) {
                    return vec![exclusive()];
                }
                self.add_column(column_def)
            }
            Do::AlterColumn { column_name, op } => vec![self.alter_column(&lower(column_name), op)],
            Do::AddConstraint { constraint, not_valid } => self.add_constraint(constraint, *not_valid),
            Do::ValidateConstraint { name } => {
                let what = format!("reads all of it for {}", lower(name));
                vec![self.own(Lock::ShareUpdateExclusive).with(Work::Scan, what)]
            }
            Do::DropConstraint { name, .. } => {
                let keys = self.table.foreign_keys.iter();
                let parent = keys.filter(|key| key.name.as_deref() == Some(&lower(name)));
                let parents = parent.map(|key| Touch::new(key.table.as_str(), Lock::AccessExclusive));
                parents.chain([exclusive()]).collect()
            }
            Do::EnableTrigger { .. }
            | Do::DisableTrigger { .. }
            | Do::EnableAlwaysTrigger { .. }
            | Do::EnableReplicaTrigger { .. } => vec![self.own(Lock::ShareRowExclusive)],
            Do::SetOptionsParens { .. } => vec![self.own(Lock::ShareUpdateExclusive)],
            Do::SetLogged | Do::SetUnlogged => vec![exclusive().with(Work::Rewrite, "writes all of it anew")],
            _ => vec![exclusive()],
        }
    }

    fn add_column(&self, column: &ColumnDef) -> Vec<Touch> {
        let exclusive = || self.own(Lock::AccessExclusive);
        let name = lower(&column.name);
        let mut touches = vec![exclusive()];
        let mut work = |work: Work, what: &str| touches.push(exclusive().with(work, what));
        let declared = column_type::plain(&column.data_type);
        let has_default = column.options.iter().any(|option| matches!(option.option, ColumnOption::Default(_)));
        let is_strict = self.reader.strict_domains.contains(declared.rsplit('.').next().unwrap_or(&declared));
        if column_type::is_serial(&declared) {
            work(Work::Rewrite, "gives each row a number of its own");
        } else if is_strict {
            work(Work::Rewrite, "holds each row against the domain");
        }
        for option in &column.options {
            match &option.option {
                ColumnOption::Default(value) => {
                    if let Some(function) = self.volatile(value) {
                        work(Work::Rewrite, &format!("{function} gives each row another value"));
                    }
                }
                ColumnOption::Generated { generation_expr: Some(_), .. } => {
                    work(Work::Rewrite, "each row gets what is computed");
                }
                ColumnOption::Generated { .. } => work(Work::Rewrite, "gives each row a number of its own"),
                ColumnOption::Check(_) => work(Work::Scan, "holds each row against the CHECK"),
                ColumnOption::Unique(_) | ColumnOption::PrimaryKey(_) => work(Work::Index, "builds the key"),
                _ => {}
            }
        }
        let refers = |option: &ColumnOption| match option {
            ColumnOption::ForeignKey(key) => Some(last(&key.foreign_table)),
            _ => None,
        };
        for parent in column.options.iter().filter_map(|option| refers(&option.option)) {
            // What is NULL in every row refers to nothing.
            if has_default {
                let what = format!("looks for the row of {parent} of each {name}");
                touches.push(exclusive().with(Work::Scan, what));
            }
            touches.push(Touch::new(parent, Lock::ShareRowExclusive));
        }
        touches
    }

    fn alter_column(&self, column: &str, operation: &AlterColumnOperation) -> Touch {
        let exclusive = self.own(Lock::AccessExclusive);
        match operation {
            AlterColumnOperation::SetNotNull if !self.is_present(column) => {
                exclusive.with(Work::Scan, format!("looks for NULL in {column}"))
            }
            AlterColumnOperation::SetDataType { data_type, using, .. } => {
                let old = self.table.column(column).map_or("", |column| column.declared.as_str());
                let new = data_type.to_string();
                let is_plain = using.as_ref().is_none_or(|using| is_cast_of(using, column, &new));
                if !is_plain || !keeps_rows(old, &new) {
                    return exclusive.with(Work::Rewrite, format!("{old} is stored in another way than {new}"));
                }
                let is_named = |text: &str| {
                    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word.eq_ignore_ascii_case(column))
                };
                let changes = old != new.to_lowercase();
                if changes && self.table.checks.iter().any(|check| is_named(&check.written)) {
                    return exclusive.with(Work::Scan, "holds each row against its CHECK again");
                }
                let is_built_anew = |index: &&crate::schema::Index| {
                    let is_plain = index.written.is_none() && index.columns().all(|key| !key.contains('('));
                    !is_plain
                        && (index.keys.iter().any(|key| is_named(key))
                            || index.written.as_deref().is_some_and(is_named))
                };
                match self.table.indexes.iter().find(is_built_anew).filter(|_| changes) {
                    Some(index) => exclusive.with(Work::Index, format!("builds {} anew", index.name)),
                    None => exclusive,
                }
            }
            _ => exclusive,
        }
    }

    fn add_constraint(&self, constraint: &TableConstraint, not_valid: bool) -> Vec<Touch> {
        let exclusive = || self.own(Lock::AccessExclusive);
        match constraint {
            TableConstraint::ForeignKey(key) => {
                let parent = last(&key.foreign_table);
                let own = self.own(Lock::ShareRowExclusive);
                let own = match not_valid {
                    true => own,
                    false => own.with(Work::Scan, format!("looks for the row of {parent} of each row")),
                };
                vec![own, Touch::new(parent, Lock::ShareRowExclusive)]
            }
            TableConstraint::Check(_) if not_valid => vec![exclusive()],
            TableConstraint::Check(_) => vec![exclusive().with(Work::Scan, "holds each row against the CHECK")],
            TableConstraint::PrimaryKeyUsingIndex(using) => {
                let columns = self.reader.indexes.get(&lower(&using.index_name)).map(|(_, columns)| columns);
                let open = columns.into_iter().flatten().find(|column| !self.is_present(column));
                vec![match open {
                    Some(column) => exclusive().with(Work::Scan, format!("looks for NULL in {column}")),
                    None => exclusive(),
                }]
            }
            TableConstraint::UniqueUsingIndex(_) => vec![exclusive()],
            TableConstraint::PrimaryKey(_) | TableConstraint::Unique(_) => {
                let mut touches = vec![exclusive().with(Work::Index, "builds the key")];
                let columns = match constraint {
                    TableConstraint::PrimaryKey(primary) => key::columns(&primary.columns).unwrap_or_default(),
                    _ => Vec::new(),
                };
                let open = columns.iter().find(|column| !self.is_present(column));
                touches.extend(open.map(|column| exclusive().with(Work::Scan, format!("looks for NULL in {column}"))));
                touches
            }
            _ => vec![exclusive()],
        }
    }

    /// Whether it is known of all rows that the column is not NULL: by the column, or by a CHECK that holds of all of them.
    fn is_present(&self, column: &str) -> bool {
        let is_never_null = self.table.column(column).is_some_and(|column| !column.ty.nullable);
        let says = |check: &crate::schema::Check| {
            let wanted = format!("{column} is not null");
            let plain = |text: &str| text.to_lowercase().replace(['"', '(', ')'], "");
            check.holds_of_all_rows && plain(&check.written).split(" and ").any(|part| part.trim() == wanted)
        };
        is_never_null || self.table.checks.iter().any(says)
    }

    /// A function in an expression that may give each row another value.
    fn volatile(&self, expr: &Expr) -> Option<String> {
        let mut found = None;
        let _ = visit_expressions(expr, |inner| {
            if let Expr::Function(function) = inner {
                let name = last(&function.name);
                let own = self.reader.schema.functions.get(&name).map(|own| own.stability);
                let catalog = engine::postgres();
                let stability = own.unwrap_or_else(|| match catalog.has_function(&name) {
                    true => catalog.least_stable(&name),
                    // Words such as CURRENT_TIMESTAMP have no brackets and stand for one time.
                    false if matches!(function.args, sqlparser::ast::FunctionArguments::None) => Stability::Stable,
                    false => Stability::Volatile,
                });
                if stability == Stability::Volatile && found.is_none() {
                    found = Some(format!("{name}()"));
                }
            }
            ControlFlow::<()>::Continue(())
        });
        found
    }
}

/// Whether USING says no more than the change of type itself.
fn is_cast_of(using: &Expr, column: &str, ty: &str) -> bool {
    let is_column = |expr: &Expr| matches!(expr, Expr::Identifier(ident) if named(ident, column));
    match using {
        Expr::Nested(inner) => is_cast_of(inner, column, ty),
        Expr::Cast { expr, data_type, .. } => is_column(expr) && keeps_rows(&data_type.to_string(), ty),
        expr => is_column(expr),
    }
}

fn named(ident: &Ident, column: &str) -> bool {
    lower(ident) == column
}
