//! The two dialects, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A SQL dialect: one page of the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL 15 and later.
    Pg,
}

impl Dialect {
    /// Both, in the order in which the pages are read.
    pub const ALL: [Dialect; 2] = [Dialect::Sqlite, Dialect::Pg];

    /// The word that names the dialect in annotations, folders and emitted SQL.
    pub fn word(self) -> &'static str {
        match self {
            Dialect::Sqlite => "sqlite",
            Dialect::Pg => "pg",
        }
    }

    /// The name in sentences.
    pub fn title(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SQLite",
            Dialect::Pg => "Postgres",
        }
    }

    /// The facing page.
    pub fn other(self) -> Dialect {
        match self {
            Dialect::Sqlite => Dialect::Pg,
            Dialect::Pg => Dialect::Sqlite,
        }
    }

    /// The numbered placeholder of the dialect: `?1` or `$1`.
    pub fn placeholder(self, number: usize) -> String {
        match self {
            Dialect::Sqlite => format!("?{number}"),
            Dialect::Pg => format!("${number}"),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
