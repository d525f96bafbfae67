//! The two dialects, as data.

use std::fmt;
use std::ops::{Index, IndexMut};

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

    /// The name of its variant in generated enums.
    pub(crate) fn variant(self) -> &'static str {
        match self {
            Dialect::Sqlite => "Sqlite",
            Dialect::Pg => "Pg",
        }
    }

    /// The name in sentences.
    pub fn title(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SQLite",
            Dialect::Pg => "Postgres",
        }
    }

    /// Words of names that say for which database something is: those of folders, of files, of functions.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Dialect::Sqlite => &["sqlite", "sqlite3", "lite", "libsql"],
            Dialect::Pg => &["pg", "postgres", "postgresql", "psql", "pgsql", "pgx"],
        }
    }

    /// The dialect that a word of a name says, in lower case.
    pub fn of_word(word: &str) -> Option<Dialect> {
        Self::ALL.into_iter().find(|dialect| dialect.words().contains(&word))
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

/// Something that each dialect has, in the order in which the pages are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Both<T> {
    /// What SQLite has.
    pub sqlite: T,
    /// What Postgres has.
    pub pg: T,
}

impl<T> Both<T> {
    /// What is made for each dialect.
    pub fn of(mut make: impl FnMut(Dialect) -> T) -> Self {
        Self { sqlite: make(Dialect::Sqlite), pg: make(Dialect::Pg) }
    }

    /// What becomes of each.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> Both<U> {
        Both { sqlite: change(self.sqlite), pg: change(self.pg) }
    }

    /// The same, borrowed.
    pub fn each_ref(&self) -> Both<&T> {
        Both { sqlite: &self.sqlite, pg: &self.pg }
    }

    /// Each of them.
    pub fn iter(&self) -> std::array::IntoIter<&T, 2> {
        self.each_ref().into_iter()
    }
}

impl<T> Index<Dialect> for Both<T> {
    type Output = T;

    fn index(&self, dialect: Dialect) -> &T {
        match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Pg => &self.pg,
        }
    }
}

impl<T> IndexMut<Dialect> for Both<T> {
    fn index_mut(&mut self, dialect: Dialect) -> &mut T {
        match dialect {
            Dialect::Sqlite => &mut self.sqlite,
            Dialect::Pg => &mut self.pg,
        }
    }
}

impl<T> IntoIterator for Both<T> {
    type Item = T;
    type IntoIter = std::array::IntoIter<T, 2>;

    fn into_iter(self) -> Self::IntoIter {
        [self.sqlite, self.pg].into_iter()
    }
}

impl<'b, T> IntoIterator for &'b Both<T> {
    type Item = &'b T;
    type IntoIter = std::array::IntoIter<&'b T, 2>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
