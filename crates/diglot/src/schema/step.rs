//! The step that is read: which transaction a statement runs in, how long it waits for locks, which tables the step has made
//! itself, and so what its statements do to the others.

use std::collections::BTreeSet;

use sqlparser::ast::{AlterTableOperation, RenameTableNameKind, Statement};

use super::effect::{self, Effect};
use super::hazards::Hazard;
use super::migration::{self, Piece};
use super::order::{runs_as_one_message, runs_one_by_one};
use super::read::{Reader, last};
use super::rebuild::Rebuild;
use super::routines::Words;
use crate::dialect::Dialect;
use crate::source::FileId;

/// A file of migrations while it is read.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) file: FileId,
    /// Tables that it has made, which have no rows of anybody.
    pub(super) made: BTreeSet<String>,
    /// Whether each statement is committed by itself, unless BEGIN stands before it.
    alone: bool,
    /// Whether a BEGIN of its own is open.
    block: bool,
    /// The number of the transaction.
    transaction: usize,
    /// Whether a time limit for locks holds for the session, and for the transaction.
    limits: (bool, bool),
    /// What becomes of tables of SQLite that are built anew.
    pub(super) rebuild: Rebuild,
}

impl Step {
    /// Nothing is read yet.
    pub(super) fn none() -> Self {
        Self {
            file: FileId(0),
            made: BTreeSet::new(),
            alone: false,
            block: false,
            transaction: 0,
            limits: (false, false),
            rebuild: Rebuild::default(),
        }
    }

    /// A step whose statements are about to be read.
    pub(super) fn of(file: FileId, text: &str, dialect: Dialect, last: &Self) -> Self {
        let alone = match dialect {
            Dialect::Pg => {
                let is_one = || migration::pieces(text, file, dialect).len() > 1 && runs_as_one_message(text);
                runs_one_by_one(text) && !is_one()
            }
            // Whoever is in a transaction cannot begin another one there.
            Dialect::Sqlite => {
                let begins = |piece: &Piece| piece.words.first().is_some_and(|word| word == "begin");
                runs_one_by_one(text) || migration::pieces(text, file, dialect).iter().any(begins)
            }
        };
        Self { file, alone, transaction: last.transaction + 1, ..Self::none() }
    }

    /// Whether what is read runs in a transaction with what follows.
    pub(super) fn in_transaction(&self) -> bool {
        self.block || !self.alone
    }

    /// Takes in that a statement of its own begins.
    fn next(&mut self) {
        if !self.in_transaction() {
            self.transaction += 1;
            self.limits.1 = false;
        }
    }

    /// What says where a transaction begins and ends, and how long a session waits.
    fn control(&mut self, words: &Words<'_>) {
        match (words.word(0).as_str(), words.word(1).as_str()) {
            ("rollback", "to") => {}
            ("begin" | "start", _) => self.block = true,
            ("commit" | "end" | "rollback" | "abort", _) => (self.block, self.alone) = (false, true),
            ("set" | "reset", _) => self.limit(words),
            ("select", "set_config") => {
                let is_limit = words.word(3).contains("lock_timeout") || words.word(3).contains("statement_timeout");
                self.limits.0 |= is_limit && !is_off(&words.word(5));
            }
            _ => {}
        }
    }

    fn limit(&mut self, words: &Words<'_>) {
        let is_local = words.is(1, "local");
        let at = if is_local || words.is(1, "session") { 2 } else { 1 };
        if !["lock_timeout", "statement_timeout"].iter().any(|name| words.is(at, name)) {
            return;
        }
        let limited = words.is(0, "set") && !is_off(&words.word(at + 2));
        match is_local {
            // Outside of a transaction it holds for nothing.
            true => self.limits.1 = limited && self.in_transaction(),
            false => self.limits = (limited, limited && self.limits.1),
        }
    }
}

/// Whether a limit is none.
fn is_off(value: &str) -> bool {
    let digits = value.trim_matches('\'').trim_end_matches(char::is_alphabetic);
    value == "default" || !digits.is_empty() && digits.chars().all(|c| c == '0')
}

impl Reader {
    /// Looks at a statement before the schema takes it in.
    pub(super) fn watch(&mut self, piece: &Piece, statement: Option<&Statement>) {
        let words = Words::of(&piece.raw);
        self.step.next();
        self.step.control(&words);
        match self.dialect {
            Dialect::Pg => self.watch_locks(piece, statement, &words),
            Dialect::Sqlite => self.watch_rebuild(piece, statement, &words),
        }
        let new = match statement {
            Some(Statement::CreateTable(create)) => Some(last(&create.name)),
            Some(Statement::CreateView(create)) => Some(last(&create.name)),
            _ => None,
        };
        self.step.made.extend(new.filter(|name| !self.schema.tables.contains_key(name)));
        if let Some(Statement::AlterTable(alter)) = statement {
            for operation in &alter.operations {
                if let AlterTableOperation::RenameTable {
                    table_name: RenameTableNameKind::As(new) | RenameTableNameKind::To(new),
                } = operation
                    && self.step.made.remove(&last(&alter.name))
                {
                    self.step.made.insert(last(new));
                }
            }
        }
    }

    fn watch_locks(&mut self, piece: &Piece, statement: Option<&Statement>, words: &Words<'_>) {
        let refused = ["index", "reindex", "detach"].iter().any(|word| words.has(word));
        if refused && words.has("concurrently") && self.step.in_transaction() {
            self.schema.hazards.push(Hazard::concurrently(piece.span, self.step.file));
        }
        // Rows that are changed matter where somebody waits meanwhile, and few statements of a migration change any.
        let holds = || {
            let with = |effect: &Effect| effect.transaction == self.step.transaction && effect.lock.stops_writers();
            self.schema.effects.iter().rev().take_while(|effect| effect.transaction == self.step.transaction).any(with)
        };
        let changes =
            statement.is_none() && ["update", "delete", "insert", "with"].iter().any(|word| words.is(0, word));
        let parsed = if changes && holds() { piece.parse(Dialect::Pg).ok() } else { None };
        for touch in effect::touches(self, statement.or(parsed.as_ref()), words) {
            let Some(table) = self.schema.tables.get(&touch.table) else { continue };
            if self.step.made.contains(&touch.table) {
                continue;
            }
            let made_in = table.span.file;
            let limited = self.step.limits.0 || self.step.limits.1;
            self.schema.effects.push(touch.at(piece.span, self.step.transaction, limited, made_in));
        }
    }

    /// Reads what a block does as what one transaction does.
    pub(super) fn in_block(&mut self, read: impl FnOnce(&mut Self)) {
        self.step.next();
        let outside = std::mem::replace(&mut self.step.block, true);
        read(self);
        self.step.block = outside;
    }
}
