//! What the statements of a Postgres migration do to tables that are there before its step: the lock that each takes, and
//! what it does to all rows while it has that.
//!
//! The table is that of Postgres 15, and a test of the command line asks a server for every row of it. What text cannot tell
//! counts as the worse: a function of which nothing is known as VOLATILE, a change of type that is not known to keep the
//! stored bytes as one that writes all rows.

mod alter;
mod other;
mod retype;

use sqlparser::ast::Statement;

use super::read::Reader;
use super::routines::Words;
use crate::source::{FileId, Span};

/// The locks of a table that matter between sessions, from the weakest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lock {
    /// ROW EXCLUSIVE: what a statement takes that writes rows.
    RowExclusive,
    /// SHARE UPDATE EXCLUSIVE: one change of the schema at a time, beside readers and writers.
    ShareUpdateExclusive,
    /// SHARE: nobody writes.
    Share,
    /// SHARE ROW EXCLUSIVE: nobody writes.
    ShareRowExclusive,
    /// EXCLUSIVE: nobody writes.
    Exclusive,
    /// ACCESS EXCLUSIVE: nobody reads or writes.
    AccessExclusive,
}

impl Lock {
    /// As `pg_locks` has it.
    pub fn mode(self) -> &'static str {
        match self {
            Self::RowExclusive => "RowExclusiveLock",
            Self::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
            Self::Share => "ShareLock",
            Self::ShareRowExclusive => "ShareRowExclusiveLock",
            Self::Exclusive => "ExclusiveLock",
            Self::AccessExclusive => "AccessExclusiveLock",
        }
    }

    /// Whether nobody writes rows of the table meanwhile.
    pub fn stops_writers(self) -> bool {
        self >= Self::Share
    }

    /// What nobody does with the table meanwhile.
    pub(super) fn stopped(self) -> &'static str {
        if self == Self::AccessExclusive { "nobody reads or writes" } else { "nobody writes" }
    }

    /// The lock of a word of LOCK TABLE.
    fn of_words(words: &str) -> Option<Self> {
        Some(match words {
            "row exclusive" => Self::RowExclusive,
            "share update exclusive" => Self::ShareUpdateExclusive,
            "share" => Self::Share,
            "share row exclusive" => Self::ShareRowExclusive,
            "exclusive" => Self::Exclusive,
            "access exclusive" | "" => Self::AccessExclusive,
            _ => return None,
        })
    }
}

/// What takes as long as a table is large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// All rows are written anew, with all indexes.
    Rewrite,
    /// All rows are read, to see whether they keep to something.
    Scan,
    /// An index is built.
    Index,
    /// Rows are changed, copied or deleted without a key that names them.
    Rows,
}

/// What a statement of a migration of Postgres does to a table that is there before its step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The statement.
    pub span: Span,
    /// The table's name in lower case.
    pub table: String,
    /// What it locks the table with.
    pub lock: Lock,
    /// What it does meanwhile that takes as long as the table is large.
    pub work: Option<Work>,
    /// Whether a time limit ends the wait for the lock (`lock_timeout`).
    pub limited: bool,
    /// Statements of one number run in one transaction, which keeps their locks.
    pub transaction: usize,
    /// The words for what takes long.
    pub(super) what: String,
    /// The file that made the table.
    pub(super) made_in: FileId,
}

/// What one statement does to one table, before it is known in which step it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) table: String,
    lock: Lock,
    work: Option<(Work, String)>,
}

impl Touch {
    fn new(table: impl Into<String>, lock: Lock) -> Self {
        Self { table: table.into(), lock, work: None }
    }

    fn with(self, work: Work, what: impl Into<String>) -> Self {
        Self { work: Some((work, what.into())), ..self }
    }
}

impl Touch {
    /// The same in its step.
    pub(super) fn at(self, span: Span, transaction: usize, limited: bool, made_in: FileId) -> Effect {
        let (work, what) = self.work.map_or((None, String::new()), |(work, what)| (Some(work), what));
        Effect { span, table: self.table, lock: self.lock, work, limited, transaction, what, made_in }
    }
}

/// What a statement does to tables, whichever these are.
pub(super) fn touches(reader: &Reader, statement: Option<&Statement>, words: &Words<'_>) -> Vec<Touch> {
    match statement {
        Some(Statement::AlterTable(alter)) => {
            let touches = alter::touches(reader, alter);
            if touches.is_empty() { other::by_words(words) } else { touches }
        }
        Some(statement) => other::touches(reader, statement, words),
        None => other::by_words(words),
    }
}
