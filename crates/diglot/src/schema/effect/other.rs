//! What statements beside ALTER TABLE do to tables of Postgres, and what is told by their words alone.

use sqlparser::ast::{
    BinaryOperator, ColumnOption, CreateIndex, CreateTable, Expr, FromTable, ObjectType, SetExpr, Statement,
    TableConstraint, TableFactor, TableWithJoins,
};

use super::{Lock, Touch, Work};
use crate::schema::key::lower;
use crate::schema::read::{Reader, last};
use crate::schema::routines::Words;

/// What a parsed statement does.
pub(super) fn touches(reader: &Reader, statement: &Statement, words: &Words<'_>) -> Vec<Touch> {
    match statement {
        Statement::CreateTable(create) => of_table(create),
        Statement::CreateIndex(create) => of_index(reader, create, words),
        Statement::CreateView(create) => vec![Touch::new(last(&create.name), Lock::AccessExclusive)],
        Statement::Drop { object_type, names, .. } => names
            .iter()
            .flat_map(|name| match object_type {
                ObjectType::Index if words.has("concurrently") => {
                    of_dropped_index(reader, &last(name), Lock::ShareUpdateExclusive)
                }
                ObjectType::Index => of_dropped_index(reader, &last(name), Lock::AccessExclusive),
                _ => of_dropped_table(reader, &last(name)),
            })
            .collect(),
        Statement::Update(update) => {
            let rows = is_many(reader, &update.table, update.selection.as_ref());
            rows.then(|| changed(&update.table)).flatten().into_iter().collect()
        }
        Statement::Delete(delete) => {
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
            let many = from.iter().find(|from| is_many(reader, from, delete.selection.as_ref()));
            many.and_then(changed).into_iter().collect()
        }
        Statement::Insert(insert) => {
            // Rows that stand in the text are few.
            let source = insert.source.as_ref().map(|query| &*query.body);
            let Some(SetExpr::Select(select)) = source else { return Vec::new() };
            let many = select.from.iter().find(|from| is_many(reader, from, select.selection.as_ref()));
            many.and_then(changed).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A new table locks those that it refers to, and the one that it is a partition of.
fn of_table(create: &CreateTable) -> Vec<Touch> {
    let of_columns =
        create.columns.iter().flat_map(|column| &column.options).filter_map(|option| match &option.option {
            ColumnOption::ForeignKey(key) => Some(last(&key.foreign_table)),
            _ => None,
        });
    let of_constraints = create.constraints.iter().filter_map(|constraint| match constraint {
        TableConstraint::ForeignKey(key) => Some(last(&key.foreign_table)),
        _ => None,
    });
    let parents = of_columns.chain(of_constraints).map(|name| Touch::new(name, Lock::ShareRowExclusive));
    let whole = create.partition_of.iter().map(|name| Touch::new(last(name), Lock::AccessExclusive));
    parents.chain(whole).collect()
}

fn of_index(reader: &Reader, create: &CreateIndex, words: &Words<'_>) -> Vec<Touch> {
    let table = last(&create.table_name);
    let lock = if create.concurrently { Lock::ShareUpdateExclusive } else { Lock::Share };
    let touch = Touch::new(table.as_str(), lock);
    let name = create.name.as_ref().map(last).unwrap_or_default();
    let is_there = create.if_not_exists && table_of_index(reader, &name).is_some();
    // On a table alone that has partitions, nothing is built.
    let is_split = reader.schema.tables.get(&table).is_some_and(|table| !table.partitioned_by.is_empty());
    if is_there || is_split && words.has("only") {
        return vec![touch];
    }
    vec![touch.with(Work::Index, "reads all of it for the index")]
}

fn table_of_index(reader: &Reader, name: &str) -> Option<String> {
    let plain = || reader.schema.tables.values().find(|table| table.indexes.iter().any(|index| index.name == name));
    let unique = reader.indexes.get(name).map(|(table, _)| table.clone());
    unique.or_else(|| plain().map(|table| table.name.clone()))
}

fn of_dropped_index(reader: &Reader, name: &str, lock: Lock) -> Vec<Touch> {
    table_of_index(reader, name).map(|table| Touch::new(table, lock)).into_iter().collect()
}

/// The triggers of foreign keys go from the tables that they refer to, too.
fn of_dropped_table(reader: &Reader, name: &str) -> Vec<Touch> {
    let keys = reader.schema.tables.get(name).into_iter().flat_map(|table| &table.foreign_keys);
    let parents = keys.filter(|key| key.table != name).map(|key| Touch::new(key.table.as_str(), Lock::AccessExclusive));
    parents.chain([Touch::new(name, Lock::AccessExclusive)]).collect()
}

fn name_of(from: &TableWithJoins) -> Option<String> {
    match &from.relation {
        TableFactor::Table { name, .. } => Some(last(name)),
        _ => None,
    }
}

fn changed(from: &TableWithJoins) -> Option<Touch> {
    Some(Touch::new(name_of(from)?, Lock::RowExclusive).with(Work::Rows, "goes through its rows"))
}

/// Whether a condition leaves more rows than one: it names no whole key.
fn is_many(reader: &Reader, from: &TableWithJoins, condition: Option<&Expr>) -> bool {
    let Some(table) = name_of(from).and_then(|name| reader.schema.tables.get(&name)) else { return false };
    let mut given = Vec::new();
    let mut open: Vec<&Expr> = condition.into_iter().collect();
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Nested(inner) => open.push(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => open.extend([&**left, &**right]),
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                let value = |expr: &Expr| matches!(expr, Expr::Value(_));
                match (&**left, &**right) {
                    (column, other) | (other, column) if value(other) => given.extend(column_of(column)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    !table.keys().any(|key| key.iter().all(|column| given.contains(column)))
}

fn column_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(lower(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(lower),
        _ => None,
    }
}

/// What a statement does that the parser does not read, or reads without its meaning.
pub(super) fn by_words(words: &Words<'_>) -> Vec<Touch> {
    let skip = |mut at: usize, over: &[&str]| {
        while over.iter().any(|word| words.is(at, word)) {
            at += 1;
        }
        at
    };
    let named = |at: usize, lock| Touch::new(words.name(skip(at, &["if", "exists", "only"])).0, lock);
    let on = |lock| words.find(2, "on").map(|at| named(at + 1, lock)).into_iter().collect::<Vec<Touch>>();
    let concurrently = words.has("concurrently");
    match (words.word(0).as_str(), words.word(1).as_str()) {
        ("alter", "table") => altered(words, skip(2, &["if", "exists", "only"])),
        ("truncate", _) => vec![named(skip(1, &["table"]), Lock::AccessExclusive)],
        ("lock", _) => {
            let at = skip(1, &["table", "only"]);
            let (table, after) = words.name(at);
            let mode = words.find(after, "mode").filter(|_| words.is(after, "in"));
            let mode: Vec<String> = (after + 1..mode.unwrap_or(after + 1)).map(|at| words.word(at)).collect();
            Lock::of_words(&mode.join(" ")).map(|lock| Touch::new(table, lock)).into_iter().collect()
        }
        ("reindex", "table") => {
            let touch = named(skip(2, &["concurrently"]), Lock::ShareUpdateExclusive);
            let blocking = Touch { lock: Lock::Share, ..touch.clone() };
            vec![if concurrently { touch } else { blocking.with(Work::Index, "builds all its indexes anew") }]
        }
        ("cluster", _) if !words.word(1).is_empty() => {
            vec![
                named(skip(1, &["verbose"]), Lock::AccessExclusive)
                    .with(Work::Rewrite, "writes all of it in another order"),
            ]
        }
        ("vacuum", _) if words.has("full") => {
            let at = (1..).find(|at| {
                !["full", "(", ")", ",", "analyze", "verbose", "freeze"].iter().any(|word| words.is(*at, word))
            });
            let touch = at.filter(|at| !words.word(*at).is_empty()).map(|at| named(at, Lock::AccessExclusive));
            touch.map(|touch| touch.with(Work::Rewrite, "writes all of it anew")).into_iter().collect()
        }
        ("refresh", "materialized") => {
            let at = skip(2, &["view", "concurrently"]);
            let (lock, work) = match concurrently {
                true => (Lock::Exclusive, None),
                false => (Lock::AccessExclusive, Some((Work::Rewrite, "writes all of it anew".to_owned()))),
            };
            vec![Touch { work, ..named(at, lock) }]
        }
        ("create", _) if words.creates("trigger") => on(Lock::ShareRowExclusive),
        ("create", "policy") | ("drop" | "alter", "trigger" | "policy" | "rule") => on(Lock::AccessExclusive),
        ("create", _) if words.creates("rule") => {
            words.find(2, "to").map(|at| named(at + 1, Lock::AccessExclusive)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// ALTER TABLE by its words: what is done to the storage of a table, and to its partitions.
fn altered(words: &Words<'_>, at: usize) -> Vec<Touch> {
    let (table, at) = words.name(at);
    let (first, second) = (words.word(at), words.word(at + 1));
    let own = |lock| vec![Touch::new(table.as_str(), lock)];
    let rewritten = |what: &str| vec![Touch::new(table.as_str(), Lock::AccessExclusive).with(Work::Rewrite, what)];
    match (first.as_str(), second.as_str()) {
        ("attach", _) => {
            let part = Touch::new(words.name(at + 2).0, Lock::AccessExclusive);
            let part = part.with(Work::Scan, "holds each row against the bounds of the partition");
            vec![Touch::new(table, Lock::ShareUpdateExclusive), part]
        }
        ("detach", _) => {
            let lock = if words.has("concurrently") { Lock::ShareUpdateExclusive } else { Lock::AccessExclusive };
            vec![Touch::new(table, lock), Touch::new(words.name(at + 2).0, lock)]
        }
        ("validate", _) => {
            vec![Touch::new(table, Lock::ShareUpdateExclusive).with(Work::Scan, "reads all of it for the constraint")]
        }
        ("set", "(") | ("reset", _) | ("cluster", _) => own(Lock::ShareUpdateExclusive),
        ("set", "without") if words.is(at + 2, "cluster") => own(Lock::ShareUpdateExclusive),
        ("alter", _) if words.has("statistics") => own(Lock::ShareUpdateExclusive),
        ("set", "logged" | "unlogged" | "access" | "tablespace") => rewritten("writes all of it anew"),
        ("enable" | "disable", "trigger" | "always" | "replica") => own(Lock::ShareRowExclusive),
        _ => own(Lock::AccessExclusive),
    }
}
