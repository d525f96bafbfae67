//! What the evidence of a pair rests on, as a digest.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::Assume;
use crate::dialect::{Both, Dialect};
use crate::digest::digest;
use crate::project::Inputs;
use crate::schema::{Schema, Table};

/// How many letters a digest has: enough that no two bases of a project share one, few enough to be read past.
const LETTERS: usize = 16;

/// The letters that stand for all that a record rests on.
pub(crate) fn digest_of(text: &str) -> String {
    let mut digest = digest(text.as_bytes());
    digest.truncate(LETTERS);
    digest
}

/// What all pairs share.
pub(crate) struct Basis {
    /// The settings that data and answers depend on, and all that runs beside a statement: triggers, views, functions.
    shared: String,
    /// What each table says of its rows, in either dialect.
    tables: Both<BTreeMap<String, String>>,
    /// The tables that stand in references with each table.
    near: BTreeMap<String, BTreeSet<String>>,
    /// What is assumed of values.
    assume: Assume,
}

impl Basis {
    pub(crate) fn new(inputs: &Inputs, schemas: &Both<Schema>) -> Self {
        let tables = schemas.each_ref().map(|schema| {
            let of = |table: &Table| (table.name.clone(), described(table));
            schema.tables.values().map(of).collect::<BTreeMap<_, _>>()
        });
        let mut near: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for table in schemas.iter().flat_map(|schema| schema.tables.values()) {
            for key in &table.foreign_keys {
                near.entry(table.name.clone()).or_default().insert(key.table.clone());
                near.entry(key.table.clone()).or_default().insert(table.name.clone());
            }
        }
        Self { shared: shared(inputs), tables, near, assume: inputs.config.assume.clone() }
    }

    /// The digest of what a pair rests on that has these texts and names these tables.
    pub(crate) fn of<'t>(&self, texts: impl Iterator<Item = &'t str>, tables: BTreeSet<String>) -> String {
        let mut all = self.shared.clone();
        for text in texts {
            all.push_str(&format!("\u{0}{text}"));
        }
        let reached = self.reached(tables);
        // What is no table is a statement, whose parameters it is about.
        let is_table = |name: &str| self.tables.iter().any(|tables| tables.contains_key(name));
        all.push_str(&self.assume.said_of(|owner| reached.contains(owner) || !is_table(owner)));
        for table in reached {
            for dialect in Dialect::ALL {
                let described = self.tables[dialect].get(&table).map_or("", String::as_str);
                all.push_str(&format!("\u{0}{table}\u{0}{described}"));
            }
        }
        digest_of(&all)
    }

    /// The tables with all that stand in references with them.
    fn reached(&self, tables: BTreeSet<String>) -> BTreeSet<String> {
        let mut open: Vec<String> = tables.iter().cloned().collect();
        let mut reached = tables;
        while let Some(table) = open.pop() {
            for next in self.near.get(&table).into_iter().flatten() {
                if reached.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        reached
    }
}

/// The settings and the routines.
fn shared(inputs: &Inputs) -> String {
    let config = &inputs.config;
    let mut text = format!(
        "{:?}{:?}{:?}{:?}{:?}{:?}{:?}",
        config.words,
        config.json,
        config.json_text,
        config.prove,
        config.prepare,
        config.storage,
        (&config.pg_collation, &config.pg_timezone),
    );
    for dialect in Dialect::ALL {
        for (file, _) in inputs.migrations(dialect) {
            let migration = &inputs.sources.file(file).text;
            let lower = migration.to_lowercase();
            if ["trigger", "view", "function"].iter().any(|word| lower.contains(word)) {
                text.push_str(migration);
            }
        }
    }
    text
}

/// What a table says of its rows, without the places where it says so.
fn described(table: &Table) -> String {
    let mut text = format!(
        "{:?}",
        (&table.primary_key, &table.unique, &table.nulls_equal, &table.partitioned_by, table.strict, table.view)
    );
    for column in &table.columns {
        text.push_str(&format!(
            "{:?}",
            (&column.name, &column.declared, column.ty.nullable, &column.fill, &column.collation, &column.words)
        ));
    }
    for check in &table.checks {
        text.push_str(&format!("{:?}", (&check.written, check.holds_of_all_rows)));
    }
    for key in &table.foreign_keys {
        text.push_str(&format!("{:?}", (&key.columns, &key.table, &key.referred, &key.on_delete, &key.on_update)));
    }
    for index in table.indexes.iter().filter(|index| index.unique) {
        text.push_str(&format!("{:?}", (&index.keys, &index.written, index.nulls_equal)));
    }
    text
}
