//! Tables of SQLite that a step builds anew, and what goes with the old one: rows of other tables that refer to it, triggers
//! and indexes on it, and the references that follow it under another name.

use std::collections::{BTreeMap, BTreeSet};

use sqlparser::ast::{AlterTableOperation, ObjectType, RenameTableNameKind, Statement};

use super::hazards::Hazard;
use super::migration::Piece;
use super::read::{Reader, last};
use super::routines::Words;
use super::{ForeignKey, Table};
use crate::rule::{self, Rule};
use crate::source::Span;

/// A trigger or a view of SQLite.
#[derive(Debug, Clone)]
pub(super) struct Beside {
    /// The table of a trigger.
    table: Option<String>,
    /// All names in it.
    names: BTreeSet<String>,
}

/// What was there before the first of it went in a step.
#[derive(Debug)]
struct Before {
    tables: BTreeMap<String, Table>,
    unique: BTreeMap<String, (String, Vec<String>)>,
    beside: BTreeMap<String, Beside>,
}

/// A table that got another name.
#[derive(Debug)]
struct Renamed {
    table: String,
    to: String,
    span: Span,
    referring: Vec<String>,
}

/// What a step does to tables that were there before it.
#[derive(Debug, Default)]
pub(super) struct Rebuild {
    before: Option<Before>,
    /// Tables that went, by dropping or renaming them.
    gone: BTreeMap<String, Span>,
    renamed: Vec<Renamed>,
    /// What the step drops by name.
    dropped: BTreeSet<String>,
    /// Whether foreign keys are off, and whether renaming leaves references alone.
    foreign_keys_off: bool,
    legacy: bool,
}

impl Reader {
    /// Looks at a statement of SQLite before the schema takes it in.
    pub(super) fn watch_rebuild(&mut self, piece: &Piece, statement: Option<&Statement>, words: &Words<'_>) {
        match statement {
            Some(Statement::Drop { object_type, names, .. }) => {
                self.keep();
                for name in names.iter().map(last) {
                    if *object_type == ObjectType::Table {
                        self.table_goes(&name, piece.span);
                        self.beside.retain(|_, beside| beside.table.as_ref() != Some(&name));
                    } else {
                        self.beside.remove(&name);
                        self.step.rebuild.dropped.insert(name);
                    }
                }
            }
            Some(Statement::AlterTable(alter)) => {
                for operation in &alter.operations {
                    if let AlterTableOperation::RenameTable {
                        table_name: RenameTableNameKind::As(to) | RenameTableNameKind::To(to),
                    } = operation
                    {
                        self.table_is_renamed(&last(&alter.name), &last(to), piece.span);
                    }
                }
            }
            Some(Statement::CreateView(create)) => {
                self.beside.insert(last(&create.name), Beside { table: None, names: words.names() });
            }
            _ => self.watch_beside(words),
        }
    }

    /// Triggers, and what a session is set to.
    fn watch_beside(&mut self, words: &Words<'_>) {
        let skip = |mut at: usize| {
            while ["temp", "temporary", "trigger", "if", "not", "exists"].iter().any(|word| words.is(at, word)) {
                at += 1;
            }
            at
        };
        match words.word(0).as_str() {
            "create" if (1..3).any(|at| words.is(at, "trigger")) => {
                let (name, after) = words.name(skip(1));
                let table = words.find(after, "on").map(|at| words.name(at + 1).0);
                self.beside.insert(name, Beside { table, names: words.names() });
            }
            "drop" if words.is(1, "trigger") => {
                let (name, _) = words.name(skip(1));
                self.beside.remove(&name);
                self.step.rebuild.dropped.insert(name);
            }
            "pragma" => {
                let is_off = ["off", "0", "false", "no"].iter().any(|word| words.has(word));
                let is_set = words.has("=") || words.has("(");
                if words.has("foreign_keys") && is_set && !self.step.in_transaction() {
                    // Inside of a transaction it does nothing.
                    self.step.rebuild.foreign_keys_off = is_off;
                } else if words.has("legacy_alter_table") && is_set {
                    self.step.rebuild.legacy = !is_off;
                }
            }
            _ => {}
        }
    }

    /// Keeps what there was, before the first of it goes.
    fn keep(&mut self) {
        if self.step.rebuild.before.is_none() {
            let (tables, unique, beside) = (self.schema.tables.clone(), self.indexes.clone(), self.beside.clone());
            self.step.rebuild.before = Some(Before { tables, unique, beside });
        }
    }

    fn is_old(&self, name: &str) -> bool {
        self.schema.tables.get(name).is_some_and(|table| !table.view) && !self.step.made.contains(name)
    }

    fn table_goes(&mut self, name: &str, span: Span) {
        if !self.is_old(name) {
            return;
        }
        self.keep();
        let others = self.schema.tables.values().filter(|table| table.name != name);
        let referring: Vec<(&str, &ForeignKey)> = others
            .flat_map(|table| table.foreign_keys.iter().map(|key| (table.name.as_str(), key)))
            .filter(|(_, key)| key.table == name)
            .collect();
        if let Some((child, key)) = referring.first().filter(|_| !self.step.rebuild.foreign_keys_off) {
            let label = match key.on_delete.as_str() {
                "cascade" => format!("deletes the rows of {child} that refer to it"),
                "set null" | "set default" => format!("takes {} from the rows of {child}", key.columns.join(", ")),
                _ => format!("is refused while rows of {child} refer to it"),
            };
            let mut tables: Vec<&str> = referring.iter().map(|(child, _)| *child).collect();
            tables.dedup();
            let message = format!("{name} is dropped under {}, with foreign keys on", tables.join(", "));
            let help = "begin the step with `-- no-transaction`, then `PRAGMA foreign_keys = OFF; BEGIN;`, and end it with \
                        `PRAGMA foreign_key_check; COMMIT; PRAGMA foreign_keys = ON;`: inside of a transaction the PRAGMA \
                        does nothing; or, if the migrator turns them off, write `foreign_keys = false` below `[migrations]`";
            self.hazard(rule::DROPPED_PARENT, span, message, label, help);
        }
        self.step.rebuild.gone.insert(name.to_owned(), span);
    }

    fn table_is_renamed(&mut self, name: &str, to: &str, span: Span) {
        let moves = |beside: &Beside| beside.table.as_deref() == Some(name);
        if self.is_old(name) {
            self.keep();
            let refers = |table: &&Table| table.name != name && table.foreign_keys.iter().any(|key| key.table == name);
            let mut referring: Vec<String> =
                self.schema.tables.values().filter(refers).map(|table| table.name.clone()).collect();
            let names = self.beside.iter().filter(|(_, beside)| beside.names.contains(name) && !moves(beside));
            referring.extend(names.map(|(name, _)| name.clone()));
            let renamed = Renamed { table: name.to_owned(), to: to.to_owned(), span, referring };
            self.step.rebuild.renamed.push(renamed);
            self.step.rebuild.gone.insert(name.to_owned(), span);
        }
        for beside in self.beside.values_mut().filter(|beside| beside.table.as_deref() == Some(name)) {
            beside.table = Some(to.to_owned());
        }
    }

    /// Tells, at the end of a step, what became of the tables that it has built anew.
    pub(super) fn end_rebuild(&mut self) {
        let Rebuild { before, gone, renamed, dropped, legacy, .. } = std::mem::take(&mut self.step.rebuild);
        let Some(before) = before else { return };
        for Renamed { table, to, span, referring } in renamed.into_iter().filter(|_| !legacy) {
            let is_made_anew = self.schema.tables.contains_key(&table);
            // What is gone with the step refers to nothing any more.
            let is_there = |name: &String| self.schema.tables.contains_key(name) || self.beside.contains_key(name);
            let referring: Vec<String> = referring.into_iter().filter(is_there).collect();
            if is_made_anew && !referring.is_empty() {
                let message = format!(
                    "{} go along when {table} is renamed, and do not lead to the new table",
                    referring.join(", ")
                );
                let help = format!(
                    "make the new table under another name, copy the rows, drop {table}, and rename the new one: \
                     https://www.sqlite.org/lang_altertable.html#otheralter"
                );
                let label = format!("refer to {to} from here on");
                self.hazard(rule::MOVED_REFERENCES, span, message, label, &help);
            }
        }
        for (table, span) in gone {
            let Some((was, is)) = before.tables.get(&table).zip(self.schema.tables.get(&table).cloned()) else {
                continue;
            };
            let lost = self.lost(&before, was, &is, &dropped);
            if !lost.is_empty() {
                let message = format!("{table} is built anew without {}", lost.join(", "));
                let label = "takes away what stands on the table".to_owned();
                self.hazard(
                    rule::LOST_WITH_REBUILD,
                    span,
                    message,
                    label,
                    "write it again behind the new table's name",
                );
            }
            let is_kept = |key: &ForeignKey| is.foreign_keys.iter().any(|other| other.columns == key.columns);
            let keys: Vec<ForeignKey> = was.foreign_keys.iter().filter(|key| !is_kept(key)).cloned().collect();
            for key in keys.into_iter().filter(|key| key.columns.iter().all(|column| is.column(column).is_some())) {
                let message = format!(
                    "{table} is built anew without the foreign key of {} to {}",
                    key.columns.join(", "),
                    key.table
                );
                let label = "takes away what stands on the table".to_owned();
                self.hazard(rule::LOST_WITH_REBUILD, span, message, label, "write it in the new table too");
                if let Some(hazard) = self.schema.hazards.last_mut() {
                    hazard.facing = Some((table.clone(), key.columns));
                }
            }
        }
    }

    /// Triggers, indexes and views that went with a table, though nobody dropped them for good.
    fn lost(&self, before: &Before, was: &Table, is: &Table, dropped: &BTreeSet<String>) -> Vec<String> {
        let mut lost = Vec::new();
        for (name, beside) in &before.beside {
            match &beside.table {
                Some(table) if *table == was.name && !dropped.contains(name) => {
                    let is_back = self.beside.get(name).is_some_and(|beside| beside.table.as_ref() == Some(&is.name));
                    lost.extend((!is_back).then(|| format!("the trigger {name}")));
                }
                // A view has to go while its table is renamed, and is to come back.
                None if beside.names.contains(&was.name) && !self.schema.tables.contains_key(name) => {
                    lost.push(format!("the view {name}"));
                }
                _ => {}
            }
        }
        let is_back =
            |index: &super::Index| is.indexes.iter().any(|other| other.name == index.name || other.keys == index.keys);
        let indexes = was.indexes.iter().filter(|index| !is_back(index) && !dropped.contains(&index.name));
        lost.extend(indexes.map(|index| format!("the index {}", index.name)));
        let unique = before.unique.iter().filter(|(name, (table, columns))| {
            *table == was.name && !dropped.contains(*name) && !is.keys().any(|key| key == columns)
        });
        lost.extend(unique.map(|(name, _)| format!("the unique index {name}")));
        lost
    }

    fn hazard(&mut self, rule: Rule, span: Span, message: String, label: String, help: &str) {
        let step = self.step.file;
        let (made_in, facing, beside) = (None, None, Vec::new());
        self.schema.hazards.push(Hazard {
            rule,
            step,
            made_in,
            facing,
            span,
            message,
            label,
            beside,
            help: help.to_owned(),
        });
    }
}
