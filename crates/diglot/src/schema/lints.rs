//! Lints of the schemas: what an engine refuses in a migration, and what makes whole families of differences
//! impossible.
//!
//! Each rule gives one finding with everything that it is about. `-- allow(RULE): reason` in a migration or in
//! `divergences.sql` silences it, `-- allow(RULE.TABLE): reason` or `-- allow(RULE.TABLE.COLUMN): reason` a part of it.

use std::collections::BTreeMap;

use super::allowed::Allowed;
use super::{Column, Fill, Schema, Table, shards};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::Both;
use crate::rule::{self, Rule};
use crate::source::Span;
use crate::types::Base;

/// One thing that a lint of the schemas is about.
#[derive(Debug, Clone)]
pub(crate) struct Remark {
    pub(crate) rule: Rule,
    /// `TABLE` or `TABLE.COLUMN`.
    pub(crate) item: String,
    pub(crate) span: Span,
    /// The words under the caret.
    pub(crate) label: String,
}

/// A rule with its severity, what it says of the items, and what to write.
type Row = (Rule, Severity, &'static str, &'static str);

const RULES: [Row; 14] = [
    (
        rule::SCHEMA_REFUSED,
        Severity::Error,
        "an engine refuses the statement about",
        "write it in a form that this engine reads",
    ),
    (
        rule::TRIGGER_WRITES_OWN_TABLE,
        Severity::Error,
        "a trigger writes the table that it is on:",
        "do the work in the statement itself, on both pages",
    ),
    (
        rule::ADDED_NOT_NULL,
        Severity::Warning,
        "columns are added NOT NULL without a default:",
        "write a DEFAULT: a table with rows takes no such column",
    ),
    (
        rule::KEY_WITHOUT_SHARD,
        Severity::Error,
        "unique keys of tables that are spread lack the shard key:",
        "add the shard key to the columns of the key",
    ),
    (
        rule::REFERENCE_ACROSS_SHARDS,
        Severity::Error,
        "foreign keys lead from one shard to another:",
        "refer by the shard key too, or make the other table a reference table",
    ),
    (
        rule::SHARD_KEY_TYPE,
        Severity::Error,
        "the shard key has another type than elsewhere:",
        "give it one type in all tables, so that equal keys are on one shard",
    ),
    (
        rule::TRIGGER_ON_SHARDS,
        Severity::Error,
        "tables that are spread have triggers:",
        "do the work in the statement itself, or set `citus.enable_unsafe_triggers` and keep to rows of the same shard",
    ),
    (rule::NOT_STRICT, Severity::Warning, "tables of SQLite are not STRICT:", "write `) STRICT;` behind the columns"),
    (
        rule::NULLABLE_KEY,
        Severity::Warning,
        "columns of a primary key may be NULL on SQLite:",
        "write NOT NULL, or make the table STRICT",
    ),
    (
        rule::KEY_COLLATION,
        Severity::Warning,
        "texts in keys and indexes are ordered by the rules of a language on Postgres:",
        "write `COLLATE \"C\"`, or `pg_collation = \"C\"` in `diglot.toml` if the database orders by bytes",
    ),
    (
        rule::UNCHECKED_JSON,
        Severity::Warning,
        "columns of JSON may hold any text on SQLite:",
        "write TEXT with `CHECK (json_valid(…))`",
    ),
    (rule::UNCHECKED_FLAG, Severity::Warning, "flags may hold any number on SQLite:", "write `CHECK (… IN (0, 1))`"),
    (rule::UNCHECKED_UUID, Severity::Warning, "ids may have any length on SQLite:", "write `CHECK (length(…) = 16)`"),
    (
        rule::NARROW_COLUMN,
        Severity::Warning,
        "numbers have fewer bits on Postgres than on SQLite:",
        "write `bigint` for what counts or measures, or CHECK the bounds in both schemas",
    ),
];

/// What a generated function sees to, and a program of its own may bind otherwise.
const BOUND_AS_IT_IS: [Rule; 3] = [rule::UNCHECKED_UUID, rule::NULLABLE_KEY, rule::NARROW_COLUMN];

/// What a column without a type holds: nothing makes a text of bytes there.
const AS_BOUND: &str = "bytes or text, as they are bound";

/// Whether a lint of the schemas has that name.
pub(crate) fn is_lint(rule: &str) -> bool {
    RULES.iter().any(|row| row.0.name == rule)
}

/// The names of the lints of the schemas.
pub(super) fn names() -> Vec<&'static str> {
    RULES.iter().map(|row| row.0.name).collect()
}

/// What the lints find.
pub(crate) fn check(config: &Config, schemas: &Both<Schema>, allowed: &mut Allowed<'_>) -> Vec<Diagnostic> {
    let mut remarks: Vec<Remark> = schemas.iter().flat_map(|schema| schema.remarks.iter().cloned()).collect();
    let Both { sqlite, pg } = schemas;
    remarks.extend(without_parent(pg));
    remarks.extend(shards::check(config, pg));
    if config.schema_lints || !config.generate.enabled {
        let is_asked =
            |remark: &Remark| config.schema_lints || BOUND_AS_IT_IS.contains(&remark.rule) || remark.label == AS_BOUND;
        remarks.extend(careless(config, sqlite, pg).into_iter().filter(is_asked));
    }
    let mut found = Vec::new();
    let mut by_rule: BTreeMap<&str, Vec<Remark>> = BTreeMap::new();
    for remark in remarks {
        if !allowed.fits(remark.rule, &remark.item, None) {
            by_rule.entry(remark.rule.name).or_default().push(remark);
        }
    }
    for (rule, severity, says, help) in RULES {
        let is_by_itself = rule == rule::UNCHECKED_UUID && !config.generate.enabled;
        let severity = if is_by_itself { Severity::Error } else { severity };
        found.extend(by_rule.get(rule.name).and_then(|remarks| finding(rule, severity, says, help, remarks)));
    }
    found
}

/// How many items a message names.
const NAMED: usize = 8;

fn finding(rule: Rule, severity: Severity, says: &str, help: &str, remarks: &[Remark]) -> Option<Diagnostic> {
    let first = remarks.first()?;
    let mut names: Vec<&str> = Vec::new();
    for remark in remarks {
        // Both schemas may be told of one item.
        if !names.contains(&remark.item.as_str()) {
            names.push(&remark.item);
        }
    }
    let rest = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let message = format!("schema: {says} {}{more}", names.join(", "));
    let mut found = Diagnostic { severity, ..Diagnostic::error(rule, message, first.span, first.label.clone()) };
    // How wide a number is has to be judged for each column by itself.
    let shown = if rule == rule::NARROW_COLUMN { remarks.len() } else { NAMED };
    for remark in remarks.iter().take(shown).skip(1) {
        found = found.context(remark.span, remark.label.clone());
    }
    let allow = format!("or, if it is meant, in a migration or in `divergences.sql`: `-- allow({}): <why>`", rule.name);
    Some(found.help(help).help(allow))
}

/// References that Postgres refuses: to columns that are no key, which SQLite takes until rows come, and between columns
/// of different kinds, with which SQLite never finds a parent.
fn without_parent(pg: &Schema) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for table in pg.tables.values().filter(|table| !table.partition) {
        for key in &table.foreign_keys {
            let Some(parent) = pg.tables.get(&key.table) else { continue };
            let wanted = if key.referred.is_empty() { &parent.primary_key } else { &key.referred };
            let fits =
                |key: &Vec<String>| key.len() == wanted.len() && key.iter().all(|column| wanted.contains(column));
            let label = if parent.keys().any(fits) {
                let mut pairs = key.columns.iter().zip(wanted);
                let Some((own, there)) = pairs.find(|(own, there)| !is_alike(table.column(own), parent.column(there)))
                else {
                    continue;
                };
                format!("`{own}` holds no values of the kind of `{}.{there}`", parent.name)
            } else {
                format!("refers to columns of `{}` that are no key", parent.name)
            };
            let item = format!("{}.{}", table.name, key.columns.join("."));
            remarks.push(Remark { rule: rule::SCHEMA_REFUSED, item, span: key.span, label });
        }
    }
    remarks
}

/// Whether Postgres compares two columns with each other: numbers of every width, otherwise one type.
fn is_alike(own: Option<&Column>, there: Option<&Column>) -> bool {
    let kind = |column: &Column| match &column.ty.base {
        Base::Int16 | Base::Int32 | Base::Float64 | Base::Numeric => Base::Int64,
        other => other.clone(),
    };
    own.zip(there).is_none_or(|(own, there)| kind(own) == kind(there))
}

/// What could be said by the schemas and is not.
fn careless(config: &Config, sqlite: &Schema, pg: &Schema) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let bytes = config.pg_collation.eq_ignore_ascii_case("c");
    for table in sqlite.tables.values().filter(|table| !table.view) {
        if !table.strict {
            let label = "takes any value in any column".to_owned();
            remarks.push(Remark { rule: rule::NOT_STRICT, item: table.name.clone(), span: table.span, label });
        }
        for column in table.primary_key.iter().filter_map(|name| table.column(name)) {
            if column.ty.nullable {
                remarks.push(of(rule::NULLABLE_KEY, table, column, "may be NULL on SQLite"));
            }
        }
        let Some(facing) = pg.tables.get(&table.name).filter(|facing| !facing.view) else { continue };
        for (ours, theirs) in table.columns.iter().filter_map(|ours| Some((ours, facing.column(&ours.name)?))) {
            remarks.extend(column(table, ours, facing, theirs));
            if !bytes && is_loose_text(theirs) && is_indexed(facing, &theirs.name) {
                remarks.push(of(rule::KEY_COLLATION, facing, theirs, "by the collation of the database"));
            }
        }
    }
    remarks
}

/// What a pair of columns leaves open.
fn column(table: &Table, ours: &Column, facing: &Table, theirs: &Column) -> Option<Remark> {
    let name = &ours.name;
    let holds = |conditions: &[String]| {
        table.checks.iter().any(|check| conditions.iter().any(|text| check.condition.contains(text.as_str())))
    };
    let mentions = |table: &Table| {
        let word = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        table.checks.iter().any(|check| word(&check.condition))
    };
    match (&ours.ty.base, &theirs.ty.base) {
        (Base::Text | Base::Bytes, Base::Json) if ours.declared.is_empty() && !holds(&[format!("typeof({name})")]) => {
            Some(of(rule::UNCHECKED_JSON, table, ours, AS_BOUND))
        }
        (Base::Text, Base::Json) if !holds(&[format!("json_valid({name})")]) => {
            Some(of(rule::UNCHECKED_JSON, table, ours, "any text"))
        }
        (Base::Int64, Base::Bool) if !holds(&[format!("in({name}, list(0, 1))")]) => {
            Some(of(rule::UNCHECKED_FLAG, table, ours, "any number"))
        }
        (Base::Bytes, Base::Uuid) if !holds(&[format!("=(16, length({name}))"), format!("=(length({name}), 16)")]) => {
            Some(of(rule::UNCHECKED_UUID, table, ours, "any length"))
        }
        // A row id that numbers rows is as wide as the other schema says; nobody calculates with it.
        (Base::Int64, Base::Int16 | Base::Int32)
            if !mentions(table) && !mentions(facing) && ours.fill != Fill::Numbered =>
        {
            Some(of(rule::NARROW_COLUMN, facing, theirs, "64 bits on SQLite"))
        }
        _ => None,
    }
}

fn of(rule: Rule, table: &Table, column: &Column, label: &str) -> Remark {
    Remark { rule, item: format!("{}.{}", table.name, column.name), span: column.span, label: label.to_owned() }
}

fn is_loose_text(column: &Column) -> bool {
    column.ty.base == Base::Text && column.collation.is_none()
}

fn is_indexed(table: &Table, column: &str) -> bool {
    table.keys().any(|key| key.iter().any(|name| name == column))
        || table.indexes.iter().any(|index| index.columns().any(|name| name == column))
}
