//! `[stripped]`: clauses that one database never gets, though they stand in a text that both dialects read.

use crate::dialect::Dialect;

/// The table `[stripped]`: by dialect, the clauses that are taken out of its texts, as they are written there. Case and
/// white space are of no account.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Stripped {
    /// What SQLite never gets, such as `FOR UPDATE`.
    pub sqlite: Vec<String>,
    /// What Postgres never gets.
    pub pg: Vec<String>,
}

impl Stripped {
    /// The clauses of a dialect.
    pub fn of(&self, dialect: Dialect) -> &[String] {
        match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Pg => &self.pg,
        }
    }

    /// The first value that cannot be meant, with its key.
    pub(super) fn fault(&self) -> Option<(String, String)> {
        let is_empty = |dialect: &Dialect| self.of(*dialect).iter().any(|clause| clause.trim().is_empty());
        let dialect = Dialect::ALL.into_iter().find(is_empty)?;
        Some((dialect.word().to_owned(), "a clause without words takes nothing out".to_owned()))
    }
}
