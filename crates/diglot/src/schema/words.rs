//! The words that a column may hold: as `[words]` lists them, as its type does, or as a CHECK does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Value};

use super::{Check, Column, Fill, Schema, Table, text};
use crate::config::{Config, FILE};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::rule;
use crate::source::Span;
use crate::types::Base;

/// What a column may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The words.
    pub words: Vec<String>,
    /// Who lists them.
    pub by: By,
}

/// Who lists the words of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// `[words]` of the settings.
    Settings,
    /// An ENUM of Postgres.
    Enum,
    /// A CHECK.
    Check,
}

impl By {
    /// Where the list stands, for a message.
    pub(crate) fn place(self) -> String {
        match self {
            Self::Settings => format!("the list is in `{FILE}`, below `[words]`"),
            Self::Enum => "the list is the ENUM's on Postgres".to_owned(),
            Self::Check => "the list is in a CHECK of the column".to_owned(),
        }
    }
}

/// Notes at every column which words it may hold.
pub(crate) fn settle(config: &Config, schemas: &mut Both<Schema>) {
    let known = Both::of(|dialect| listed(config, schemas, dialect));
    for (dialect, schema) in Dialect::ALL.into_iter().zip([&mut schemas.sqlite, &mut schemas.pg]) {
        let known = &known[dialect];
        // A view shows columns of tables, mostly under their names.
        let mut by_name: BTreeMap<String, Option<Arc<Listed>>> = BTreeMap::new();
        for table in schema.tables.values_mut().filter(|table| !table.view) {
            for column in &mut table.columns {
                column.words = known.get(&(table.name.clone(), column.name.clone())).cloned();
                let of_all = by_name.entry(column.name.clone()).or_insert_with(|| column.words.clone());
                *of_all = of_all.take().filter(|all| column.words.as_ref() == Some(all));
            }
        }
        for table in schema.tables.values_mut().filter(|table| table.view) {
            for column in &mut table.columns {
                let said = known.get(&(table.name.clone(), column.name.clone())).cloned();
                column.words = said.or_else(|| by_name.get(&column.name).cloned().flatten());
            }
        }
    }
}

/// The words of the columns of a dialect by table and name. What a list is not said of in one schema is of the other.
fn listed(config: &Config, schemas: &Both<Schema>, dialect: Dialect) -> BTreeMap<(String, String), Arc<Listed>> {
    let mut found = BTreeMap::new();
    for table in schemas[dialect].tables.values() {
        for column in &table.columns {
            let settings = config.words_of(&table.name, &column.name).map(|words| &words.words);
            let settings = settings.map(|words| Listed { words: words.clone(), by: By::Settings });
            let facing = || schemas[dialect.other()].tables.get(&table.name);
            let of_enum = || enumerated(column).or_else(|| enumerated(facing()?.column(&column.name)?));
            let of_check = || {
                let other = || checked(facing()?, &column.name, dialect.other());
                checked(table, &column.name, dialect).or_else(other)
            };
            if let Some(listed) = settings.or_else(of_enum).or_else(of_check) {
                found.insert((table.name.clone(), column.name.clone()), Arc::new(listed));
            }
        }
    }
    found
}

fn enumerated(column: &Column) -> Option<Listed> {
    match &column.ty.base {
        Base::Enum(named) => Some(Listed { words: named.words.clone(), by: By::Enum }),
        _ => None,
    }
}

/// The words that a CHECK lists for a column.
fn checked(table: &Table, column: &str, dialect: Dialect) -> Option<Listed> {
    let mut lists = table.checks.iter().filter_map(|check| allowed(check, dialect));
    lists.find(|(of, _)| of == column).map(|(_, words)| Listed { words, by: By::Check })
}

/// The column that a CHECK lets hold these words and no others.
pub(super) fn allowed(check: &Check, dialect: Dialect) -> Option<(String, Vec<String>)> {
    let expr = text::expression(&check.written, dialect)?;
    let mut only = None;
    is_choice(&expr, &mut only).then_some(only?)
}

/// Whether a condition says nothing but that a column is one of some words, or NULL.
fn is_choice(expr: &Expr, only: &mut Option<(String, Vec<String>)>) -> bool {
    let mut add = |of: String, words: Vec<String>| match only {
        Some((known, all)) if *known == of => {
            all.extend(words);
            true
        }
        Some(_) => false,
        None => {
            *only = Some((of, words));
            true
        }
    };
    match expr {
        Expr::Nested(inner) => is_choice(inner, only),
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => is_choice(left, only) && is_choice(right, only),
        Expr::IsNull(inner) => name(inner).is_some_and(|of| add(of, Vec::new())),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
            name(left).zip(word(right)).is_some_and(|(of, word)| add(of, vec![word]))
        }
        Expr::InList { expr, list, negated: false } => {
            let words = list.iter().map(word).collect::<Option<Vec<_>>>();
            name(expr).zip(words).is_some_and(|(of, words)| add(of, words))
        }
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => {
            name(left).zip(words_of_array(right)).is_some_and(|(of, words)| add(of, words))
        }
        _ => false,
    }
}

/// The columns that a condition compares with words.
fn compared(expr: &Expr, found: &mut Vec<(String, String)>) {
    match expr {
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => compared(inner, found),
        Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
            compared(left, found);
            compared(right, found);
        }
        Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::NotEq, right }
        | Expr::IsDistinctFrom(left, right)
        | Expr::IsNotDistinctFrom(left, right) => {
            found.extend(meeting(left, right));
            found.extend(meeting(right, left));
        }
        Expr::InList { expr, list, .. } => found.extend(list.iter().filter_map(|item| meeting(expr, item))),
        Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => {
            if let Some((of, words)) = name(left).zip(words_of_array(right)) {
                found.extend(words.into_iter().map(|word| (of.clone(), word)));
            }
        }
        Expr::Case { operand, conditions, else_result, .. } => {
            for branch in conditions {
                match operand {
                    Some(operand) => found.extend(meeting(operand, &branch.condition)),
                    None => compared(&branch.condition, found),
                }
                compared(&branch.result, found);
            }
            if let Some(otherwise) = else_result {
                compared(otherwise, found);
            }
        }
        Expr::Function(function) => {
            let FunctionArguments::List(list) = &function.args else { return };
            for arg in &list.args {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) = arg {
                    compared(arg, found);
                }
            }
        }
        _ => {}
    }
}

/// A column and the word that it meets.
fn meeting(column: &Expr, value: &Expr) -> Option<(String, String)> {
    name(column).zip(word(value))
}

/// A column by its name.
fn name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(super::key::lower(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(super::key::lower),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => name(inner),
        _ => None,
    }
}

/// A text literal, cast or not.
fn word(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(word) => Some(word.clone()),
            _ => None,
        },
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => word(inner),
        _ => None,
    }
}

fn words_of_array(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Array(array) => array.elem.iter().map(word).collect(),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => words_of_array(inner),
        _ => None,
    }
}

/// Finds words in defaults, checks and predicates of indexes that their columns do not have.
pub(crate) fn check(schemas: &Both<Schema>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for schema in [&schemas.sqlite, &schemas.pg] {
        for table in schema.tables.values().filter(|table| !table.partition) {
            for (column, word, place, span) in mentions(table, schema.dialect) {
                let Some(listed) = table.column(&column).and_then(|column| column.words.as_ref()) else { continue };
                if !listed.words.contains(&word) {
                    let message = format!("schema: `{word}` is not a word of `{}.{column}`", table.name);
                    let finding = Diagnostic::error(rule::UNKNOWN_WORD, message, span, place);
                    found.push(finding.help(unknown(listed)));
                }
            }
        }
    }
    found
}

/// The words of a column and where they stand, for whoever used another.
pub(crate) fn unknown(listed: &Listed) -> String {
    format!("the words are: {}; {}", listed.words.join(", "), listed.by.place())
}

/// Every word that a table speaks of, with its column and where it stands. A CHECK that lists words is a list itself.
fn mentions(table: &Table, dialect: Dialect) -> Vec<(String, String, String, Span)> {
    let mut found = Vec::new();
    for column in &table.columns {
        let Fill::Value(filled) = &column.fill else { continue };
        if let Some(word) = text::expression(filled, dialect).as_ref().and_then(word) {
            found.push((column.name.clone(), word, "the default of this column".to_owned(), column.span));
        }
    }
    let checks = table.checks.iter().filter(|check| allowed(check, dialect).is_none());
    let checks = checks.map(|check| (&check.written, format!("CHECK ({})", check.written), check.span));
    let indexes = table.indexes.iter().filter_map(|index| {
        let written = index.written.as_ref()?;
        Some((written, format!("the index `{}` WHERE {written}", index.name), index.span))
    });
    for (written, place, span) in checks.chain(indexes) {
        let mut words = Vec::new();
        if let Some(expr) = text::expression(written, dialect) {
            compared(&expr, &mut words);
        }
        found.extend(words.into_iter().map(|(column, word)| (column, word, place.clone(), span)));
    }
    found
}

/// Words that one of two lists lacks, as a message says it.
pub(super) fn missing(settings: &[String], other: &[String]) -> Option<String> {
    let (ours, theirs): (BTreeSet<&String>, BTreeSet<&String>) = (settings.iter().collect(), other.iter().collect());
    let list = |words: &mut dyn Iterator<Item = &&String>| {
        words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    };
    let (lacks, more) = (list(&mut ours.difference(&theirs)), list(&mut theirs.difference(&ours)));
    match (lacks.is_empty(), more.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("lacks {lacks}")),
        (true, false) => Some(format!("has {more} as well")),
        (false, false) => Some(format!("lacks {lacks} and has {more}")),
    }
}

/// The words that the schema of a dialect itself lists for a column.
pub(super) fn of_schema(table: &Table, column: &Column, dialect: Dialect) -> Option<Listed> {
    enumerated(column).or_else(|| checked(table, &column.name, dialect))
}
