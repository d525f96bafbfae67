//! What statements lock on Postgres: which rows of which tables, in which order, and whether they wait for them.
//!
//! `routines` reads the triggers and functions of the schema, `body` the SQL in PL/pgSQL, `names` tells when two rows
//! are the same, `statement` puts a statement's locks in order, `graph` puts those of all statements and transactions
//! together. Rows are told apart by the terms of their keys: a parameter, a literal, or a column of a source. A
//! parameter of the same name is the same value everywhere in a transaction.

mod body;
mod graph;
mod names;
mod routines;
mod stale;
mod statement;
mod when;

use serde::{Deserialize, Serialize};

pub use graph::{Graph, Held, Run, Wait};
pub(crate) use statement::Reader;

/// What identifies a row beside its table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Term {
    /// A parameter.
    Param(String),
    /// A literal.
    Literal(String),
    /// An item of a list parameter.
    Each(String),
    /// A column of a source of the statement.
    Column(u32, String),
    /// Something worked out; the same only as itself. It is one value if the flag says so.
    Made(u32, bool),
}

/// How strongly a row is locked, from the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Strength {
    /// FOR KEY SHARE, and what a foreign key asks of the row that it refers to.
    KeyShare,
    /// FOR SHARE.
    Share,
    /// FOR NO KEY UPDATE, and what an UPDATE takes.
    NoKeyUpdate,
    /// FOR UPDATE, and what a DELETE takes.
    Update,
}

impl Term {
    /// Whether it is the same value in every statement of a transaction.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self, Self::Param(_) | Self::Literal(_))
    }
}

impl Strength {
    /// Whether one session that has the one keeps another from the other.
    pub(crate) fn excludes(self, other: Self) -> bool {
        let (weak, strong) = (self.min(other), self.max(other));
        match weak {
            Self::KeyShare => strong == Self::Update,
            Self::Share => strong > Self::Share,
            Self::NoKeyUpdate | Self::Update => true,
        }
    }
}

/// What takes a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Act {
    /// FOR UPDATE and the like.
    Select,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// INSERT under a key that another session may be inserting.
    Insert,
    /// INSERT … ON CONFLICT.
    Upsert,
    /// A foreign key.
    Reference,
}

impl Act {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Select => "locks",
            Self::Update => "updates",
            Self::Delete => "deletes",
            Self::Insert => "inserts",
            Self::Upsert => "upserts",
            Self::Reference => "refers to",
        }
    }
}

/// How many rows a lock takes, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Extent {
    /// One row.
    One,
    /// Several, in the order of a key.
    Ordered,
    /// Several, in any order.
    Any,
}

/// A lock that a statement takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lock {
    /// The table.
    pub(crate) table: String,
    /// What takes it.
    pub(crate) act: Act,
    /// How strong it is.
    pub(crate) strength: Strength,
    /// Whether the statement waits for it, instead of passing over the row or failing.
    pub(crate) waits: bool,
    /// The row: the terms of the primary key.
    pub(crate) key: Vec<Term>,
    /// What is fixed of the rows: columns with their terms, those of the key too.
    pub(crate) fixed: Vec<(String, Term)>,
    /// Whether it takes all rows of which this is fixed, and waits for each.
    pub(crate) whole: bool,
    /// Rows of other tables to which the rows belong, and which the statement only reads.
    pub(crate) parents: Vec<Parent>,
    /// How many rows.
    pub(crate) extent: Extent,
    /// Whether the rows belong to something that the statement names, or are found by what they hold.
    pub(crate) pinned: bool,
    /// The triggers and functions through which it is taken, the outermost first.
    pub(crate) via: Vec<String>,
    /// Its place, from the start of the page's statement.
    pub(crate) start: u32,
    /// Where the place ends.
    pub(crate) end: u32,
}

/// Rows of a table of which others have the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parent {
    /// The table.
    pub(crate) table: String,
    /// What is fixed of the rows: columns with their terms.
    pub(crate) fixed: Vec<(String, Term)>,
}

/// What one statement locks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// The locks. Those of a row that the statement has already are not there.
    pub(crate) locks: Vec<Lock>,
    /// Pairs of them of which the first may be taken when the second one is.
    pub(crate) pairs: Vec<(u32, u32)>,
    /// Pairs of them of which the second takes rows that belong to those of the first, each after the row it belongs to.
    pub(crate) under: Vec<(u32, u32)>,
    /// What it decides by rows that it does not lock, when it has waited for others.
    pub(crate) stale: Vec<Stale>,
    /// Triggers and functions that it runs and that could not be read.
    pub(crate) unread: Vec<String>,
}

/// A condition on rows that are not locked, in a statement that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stale {
    /// The table whose rows it asks.
    pub(crate) table: String,
    /// Its place, from the start of the page's statement.
    pub(crate) start: u32,
    /// Where the place ends.
    pub(crate) end: u32,
    /// The locks that are waited for.
    pub(crate) waits: Vec<u32>,
}

impl Summary {
    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.locks.is_empty() && self.unread.is_empty()
    }
}
