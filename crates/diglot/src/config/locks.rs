//! The tables `[locks]` and `[transactions]`.

use std::collections::BTreeMap;

/// What the project says about row locks on Postgres.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Locks {
    /// The tables in the order in which a transaction locks their rows. What is not named may come at any place as
    /// long as there is no circle.
    pub order: Vec<String>,
    /// Tables whose rows are locked only by who has locked the row of another table that they belong to:
    /// `job_step = "job"`. Nobody waits for such a row then.
    pub under: BTreeMap<String, String>,
    /// Periodic work, by the names of transactions and statements; a star stands for any letters. It is to pass over
    /// rows that somebody else has locked.
    pub sweeps: Vec<String>,
    /// Folders and files of Rust whose transactions are judged: what each calls is read from there.
    pub transactions_in: Vec<String>,
    /// Statements that on SQLite run in a transaction that began as the one writer (`BEGIN IMMEDIATE`) and stays it to its
    /// end; a star stands for any letters. The row locks of their Postgres pages ask for no more than that.
    pub as_writer: Vec<String>,
}

impl Locks {
    /// Whether a transaction or a statement is periodic work.
    pub fn is_sweep(&self, name: &str) -> bool {
        self.sweeps.iter().any(|pattern| super::matches(pattern, name))
    }

    /// Whether a statement runs as SQLite's one writer.
    pub fn is_writer(&self, name: &str) -> bool {
        self.as_writer.iter().any(|pattern| super::matches(pattern, name))
    }

    /// The first value that cannot be meant, with its key.
    pub(super) fn fault(&self) -> Option<(String, String)> {
        let twice = self.order.iter().enumerate().find(|(at, table)| self.order[..*at].contains(table));
        twice.map(|(_, table)| ("order".to_owned(), format!("`{table}` stands twice in the order of locks")))
    }
}

/// Transactions with the statements that they may run, in their order. What runs again and again stands twice.
pub type Transactions = BTreeMap<String, Vec<String>>;
