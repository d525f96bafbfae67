//! What the comparison of two schemas knows beyond columns and keys: what fills a column, checks, foreign keys,
//! indexes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, CheckConstraint, CreateIndex, Expr, ForeignKeyConstraint, Ident, OrderBySort, Value,
    visit_expressions,
};

use super::key::lower;
use super::range::{self, Range};
use super::read::last;
use super::{Table, text};
use crate::dialect::Dialect;
use crate::source::Span;

/// The longest text that is made for the sake of its length.
const MEASURED: usize = 1000;

/// What a column holds when an INSERT does not name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Fill {
    /// NULL.
    #[default]
    Nothing,
    /// A default, as a text that is alike where meanings are.
    Value(String),
    /// The next number of a sequence; none is given twice.
    Numbered,
    /// A row id of SQLite without AUTOINCREMENT: that of a deleted row may be given again.
    RowId,
    /// A generated column.
    Computed(String),
}

/// CHECK.
#[derive(Debug, Clone)]
pub struct Check {
    /// Its name in lower case.
    pub name: Option<String>,
    /// The condition, as a text that is alike where meanings are.
    pub condition: String,
    /// What of it must hold at once, one by one.
    pub conjuncts: Vec<String>,
    /// The condition as SQL.
    pub written: String,
    /// Whether every row keeps to it, those that were there before too.
    pub holds_of_all_rows: bool,
    /// Between which whole numbers it keeps columns. Nothing where rows that were there before need not keep to it.
    pub ranges: BTreeMap<String, Range>,
    /// Where its table or column was declared.
    pub span: Span,
}

impl Check {
    /// The columns that it names, and texts that it may let through: its literals, and beside a function of a length
    /// texts of the lengths that it names.
    pub fn texts(&self, dialect: Dialect) -> (BTreeSet<String>, Vec<String>) {
        match text::expression(&self.written, dialect) {
            Some(expr) => {
                let Conjunct { names, texts, .. } = Conjunct::of(&expr);
                (names, texts)
            }
            None => Default::default(),
        }
    }

    /// What of it must hold at once, one by one, each with what it speaks of.
    pub fn apart(&self, dialect: Dialect) -> Vec<Conjunct> {
        let mut open: Vec<Expr> = text::expression(&self.written, dialect).into_iter().collect();
        let mut all = Vec::new();
        while let Some(expr) = open.pop() {
            match expr {
                Expr::BinaryOp { left, op: BinaryOperator::And, right } => open.extend([*right, *left]),
                Expr::Nested(inner) => open.push(*inner),
                expr => all.push(Conjunct::of(&expr)),
            }
        }
        all
    }

    pub(super) fn of(name: Option<String>, check: &CheckConstraint, span: Span) -> Self {
        let (condition, written) = (&check.expr, check.expr.to_string());
        let (whole, conjuncts) = (text::condition(condition), text::conjuncts(condition));
        let holds_of_all_rows = check.enforced != Some(false);
        let ranges = if holds_of_all_rows { range::ranges(condition) } else { BTreeMap::new() };
        Self { name, condition: whole, conjuncts, written, holds_of_all_rows, ranges, span }
    }

    /// Gives it another text.
    pub(super) fn say(&mut self, condition: &Expr) {
        self.condition = text::condition(condition);
        self.conjuncts = text::conjuncts(condition);
        self.written = condition.to_string();
    }

    /// Takes in that it holds of all rows.
    pub(super) fn hold(&mut self) {
        self.holds_of_all_rows = true;
        let expr = text::expression(&self.written, Dialect::Pg);
        self.ranges = expr.map_or_else(BTreeMap::new, |expr| range::ranges(&expr));
    }
}

/// A condition of a CHECK.
#[derive(Debug, Clone)]
pub struct Conjunct {
    /// The columns that it names.
    pub names: BTreeSet<String>,
    /// The condition as SQL.
    pub written: String,
    /// Texts that it may let through: its literals, and beside a function of a length texts of the lengths that it names.
    pub texts: Vec<String>,
    /// Its whole numbers.
    pub numbers: Vec<i64>,
}

impl Conjunct {
    fn of(expr: &Expr) -> Self {
        let (mut names, mut texts, mut numbers) = (BTreeSet::new(), Vec::new(), Vec::new());
        let mut measures = false;
        let _ = visit_expressions(expr, |inner| {
            match inner {
                Expr::Identifier(ident) => drop(names.insert(lower(ident))),
                Expr::CompoundIdentifier(parts) => names.extend(parts.last().map(lower)),
                Expr::Function(function) => measures |= function.name.to_string().to_lowercase().contains("length"),
                Expr::Value(value) => match &value.value {
                    Value::SingleQuotedString(text) => texts.push(text.clone()),
                    Value::Number(digits, _) => numbers.extend(digits.parse::<i64>()),
                    _ => {}
                },
                _ => {}
            }
            ControlFlow::<()>::Continue(())
        });
        let lengths = numbers.iter().filter_map(|length| usize::try_from(*length).ok());
        let lengths = lengths.filter(|length| measures && (1..=MEASURED).contains(length));
        texts.extend(lengths.map(|length| "a".repeat(length)));
        Self { names, written: expr.to_string(), texts, numbers }
    }
}

/// FOREIGN KEY.
#[derive(Debug, Clone)]
pub struct ForeignKey {
    /// Its name in lower case.
    pub name: Option<String>,
    /// The columns.
    pub columns: Vec<String>,
    /// The table that they refer to.
    pub table: String,
    /// The columns there; none: its primary key.
    pub referred: Vec<String>,
    /// ON DELETE, in lower case.
    pub on_delete: String,
    /// ON UPDATE, in lower case.
    pub on_update: String,
    /// Where its table or column was declared.
    pub span: Span,
}

/// An index that is no plain unique key: not unique, or with a predicate or an expression.
#[derive(Debug, Clone)]
pub struct Index {
    /// Its name in lower case.
    pub name: String,
    /// UNIQUE.
    pub unique: bool,
    /// NULLS NOT DISTINCT.
    pub nulls_equal: bool,
    /// Columns and expressions, with ` desc` where written.
    pub keys: Vec<String>,
    /// WHERE, as a text that is alike where meanings are.
    pub predicate: Option<String>,
    /// WHERE as SQL.
    pub written: Option<String>,
    /// How it is built, where it is no tree: `gin`.
    pub method: Option<String>,
    /// Where it was declared.
    pub span: Span,
}

impl Index {
    pub(super) fn of(create: &CreateIndex, span: Span) -> Self {
        let key = |column: &sqlparser::ast::IndexColumn| {
            let desc = if matches!(column.column.options.sort, Some(OrderBySort::Desc)) { " desc" } else { "" };
            format!("{}{desc}", text::key(&column.column.expr))
        };
        let method = create.using.as_ref().map(|using| using.to_string().to_lowercase());
        Self {
            name: create.name.as_ref().map(last).unwrap_or_default(),
            unique: create.unique,
            nulls_equal: create.nulls_distinct == Some(false),
            keys: create.columns.iter().map(key).collect(),
            predicate: create.predicate.as_ref().map(text::condition),
            written: create.predicate.as_ref().map(ToString::to_string),
            method: method.filter(|method| method != "btree"),
            span,
        }
    }

    /// The columns, without ` desc`.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| key.trim_end_matches(" desc"))
    }
}

impl ForeignKey {
    pub(super) fn of(key: &ForeignKeyConstraint, column: Option<&str>, name: Option<&Ident>, span: Span) -> Self {
        let action = |action: Option<String>| action.map_or("no action".to_owned(), |action| action.to_lowercase());
        Self {
            name: key.name.as_ref().or(name).map(lower),
            columns: match column {
                Some(column) => vec![column.to_owned()],
                None => key.columns.iter().map(lower).collect(),
            },
            table: last(&key.foreign_table),
            referred: key.referred_columns.iter().map(lower).collect(),
            on_delete: action(key.on_delete.as_ref().map(ToString::to_string)),
            on_update: action(key.on_update.as_ref().map(ToString::to_string)),
            span,
        }
    }
}

impl Table {
    /// Removes what stands on a column that is gone.
    pub(super) fn forget_column(&mut self, column: &str) {
        self.indexes.retain(|index| index.columns().all(|name| name != column));
        // Either engine refuses to drop a column that another one's condition names, or drops the condition too.
        self.checks.retain(|check| check.apart(Dialect::Pg).iter().all(|one| !one.names.contains(column)));
        self.foreign_keys.retain(|key| !key.columns.iter().any(|name| name == column));
    }

    /// Renames a column in what stands on it.
    pub(super) fn rename_in_details(&mut self, old: &str, new: &str) {
        for key in self.indexes.iter_mut().flat_map(|index| &mut index.keys) {
            if key.trim_end_matches(" desc") == old {
                *key = key.replacen(old, new, 1);
            }
        }
        for check in &mut self.checks {
            if let Some(expr) = text::renamed(&check.written, old, new) {
                check.say(&expr);
            }
            if let Some(range) = check.ranges.remove(old) {
                check.ranges.insert(new.to_owned(), range);
            }
        }
        for column in self.foreign_keys.iter_mut().flat_map(|key| &mut key.columns) {
            if column == old {
                new.clone_into(column);
            }
        }
    }

    /// Removes a check or a foreign key by name.
    pub(super) fn drop_detail(&mut self, name: &str) {
        self.checks.retain(|check| check.name.as_deref() != Some(name));
        self.foreign_keys.retain(|key| key.name.as_deref() != Some(name));
    }
}
