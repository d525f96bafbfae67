//! The tables that a pair touches, as both schemas have them: what is filled before it runs and what is looked at
//! afterwards.

use std::collections::{BTreeMap, BTreeSet};

use super::checks::Judge;
use super::written;
use diglot::config::Config;
use diglot::dialect::{Both, Dialect};
use diglot::schema::{self, Fill, ForeignKey, Index, Schema};
use diglot::types::{Base, Form, Stored, is_real};

/// What the real databases know and the schema does not: the tables that a view reads and those that a table's triggers
/// may write, by name, and the words of columns.
#[derive(Debug, Clone, Default)]
pub struct Relations {
    /// On SQLite.
    pub sqlite: BTreeMap<String, BTreeSet<String>>,
    /// On Postgres.
    pub pg: BTreeMap<String, BTreeSet<String>>,
    /// The words that a column of Postgres is made for, by table and column.
    pub words: BTreeMap<(String, String), Vec<String>>,
    /// Says of SQLite's CHECKs what values they let through.
    pub judge: Judge,
}

/// The tables that the texts of each relation mention.
pub fn mentioned(tables: &[String], texts: &[(String, String)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, text) in texts {
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let named = tables.iter().filter(|table| *table != name && words.contains(table.as_str())).cloned();
        all.entry(name.clone()).or_default().extend(named);
    }
    all
}

/// A table that both databases have.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns on either page.
    pub columns: Vec<TableColumn>,
    /// Sets of columns that no two rows share.
    pub(super) unique: Vec<Vec<String>>,
    /// The same where only some rows are held to it, with the columns that say which.
    pub(super) unique_in_part: Vec<Vec<String>>,
    /// Columns that refer to another table.
    pub(super) foreign: Vec<ForeignKey>,
}

/// A column.
#[derive(Debug, Clone)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// The finer of both types.
    pub base: Base,
    /// Whether both databases let it be NULL.
    pub nullable: bool,
    /// What SQLite holds, if it has the column.
    pub sqlite: Option<Base>,
    /// What Postgres holds, if it has the column.
    pub pg: Option<Base>,
    /// What the database computes it of.
    pub(super) computed: Option<Computed>,
    /// The database numbers its rows by it.
    pub(super) numbered: bool,
    /// The database fills it when nobody does.
    pub(super) has_default: bool,
    /// Whether each database computes it of the row's other columns, and takes no value for it.
    pub(super) generated: Both<bool>,
    /// The database's clock fills it when nobody does.
    pub(super) clock: bool,
    /// Postgres keeps 4 bytes of its floating-point numbers.
    pub(super) narrow: bool,
    /// Between which whole numbers a CHECK keeps it.
    pub(super) range: Option<schema::Range>,
    /// How SQLite holds its items.
    pub(super) list: Option<List>,
}

/// What a generated column is computed of, as far as its text says.
#[derive(Debug, Clone, Default)]
pub(super) struct Computed {
    /// The words of its text: columns are among them.
    pub(super) words: BTreeSet<String>,
    /// Its numbers.
    pub(super) numbers: Vec<i64>,
    /// Its texts: places in documents are among them.
    pub(super) texts: Vec<String>,
}

impl Computed {
    fn of(fill: &Fill) -> Option<Self> {
        let Fill::Computed(text) = fill else { return None };
        let mut computed = Self::default();
        for (at, piece) in text.split('\'').enumerate() {
            if at % 2 == 1 {
                computed.texts.push(piece.to_owned());
                continue;
            }
            for word in
                piece.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|it| !it.is_empty())
            {
                match word.parse() {
                    Ok(number) => computed.numbers.push(number),
                    Err(_) => drop(computed.words.insert(word.to_lowercase())),
                }
            }
        }
        Some(computed)
    }
}

/// How SQLite holds what is a list column of Postgres.
#[derive(Debug, Clone)]
pub(super) enum List {
    /// In a table, one row for each item.
    Table {
        /// Its name.
        name: String,
        /// The column that holds an item.
        item: String,
        /// The columns that say whose item it is; both tables have them.
        owner: Vec<String>,
    },
    /// As text, with this between the items.
    Separated(String),
}

impl TableColumn {
    /// A column that both databases have alike, and that says no more than its type.
    #[cfg(test)]
    pub(super) fn plain(name: &str, base: Base) -> Self {
        Self {
            name: name.to_owned(),
            base: base.clone(),
            nullable: false,
            sqlite: Some(base.clone()),
            pg: Some(base),
            computed: None,
            numbered: false,
            has_default: false,
            clock: false,
            generated: Both { sqlite: false, pg: false },
            narrow: false,
            range: None,
            list: None,
        }
    }

    /// What a page holds there.
    pub fn on(&self, dialect: Dialect) -> Option<&Base> {
        match dialect {
            Dialect::Sqlite => self.sqlite.as_ref(),
            Dialect::Pg => self.pg.as_ref(),
        }
    }

    /// Between which whole numbers CHECKs keep it.
    pub(super) fn whole_range(&self) -> Option<(i64, i64)> {
        let (least, most) = self.range?;
        let end = |n: i128| n.clamp(i64::MIN.into(), i64::MAX.into()).try_into().ok();
        Some((end(least)?, end(most)?))
    }

    /// Whether one page alone has it, in any form.
    pub(super) fn is_one_sided(&self) -> bool {
        self.list.is_none() && (self.sqlite.is_none() || self.pg.is_none())
    }
}

impl Table {
    /// The query for all rows, in the order of [`Table::shown`].
    pub fn select(&self, dialect: Dialect) -> String {
        written::select(self, dialect)
    }

    /// The columns that both pages have, in one form or another.
    pub fn shown(&self) -> impl Iterator<Item = &TableColumn> {
        self.columns.iter().filter(|column| !column.is_one_sided())
    }

    /// The columns that a reference to it means.
    pub(super) fn referred(&self, key: &ForeignKey) -> Vec<String> {
        if key.referred.is_empty() { self.unique.last().cloned().unwrap_or_default() } else { key.referred.clone() }
    }

    /// The number column, if there is one.
    pub fn numbered(&self) -> Option<&str> {
        self.columns.iter().find(|column| column.numbered).map(|column| column.name.as_str())
    }
}

/// The shared tables of a project.
pub(super) struct Tables<'a> {
    config: &'a Config,
    sqlite: &'a Schema,
    pg: &'a Schema,
    relations: &'a Relations,
}

impl<'a> Tables<'a> {
    pub(super) fn new(config: &'a Config, Both { sqlite, pg }: &'a Both<Schema>, relations: &'a Relations) -> Self {
        Self { config, sqlite, pg, relations }
    }

    /// What stands behind a relation on either page.
    pub(super) fn behind<'n>(&'n self, name: &str) -> impl Iterator<Item = &'n String> {
        let sqlite = self.relations.sqlite.get(name).into_iter().flatten();
        sqlite.chain(self.relations.pg.get(name).into_iter().flatten())
    }

    /// Whether either page has a view of that name.
    pub(super) fn is_view(&self, name: &str) -> bool {
        [self.sqlite, self.pg].iter().any(|schema| schema.tables.get(name).is_some_and(|table| table.view))
    }

    /// All tables that both pages have.
    pub(super) fn all(&self) -> Vec<Table> {
        let names = self.sqlite.tables.keys().filter(|name| !self.is_view(name));
        names.filter_map(|name| self.shared(name)).collect()
    }

    /// The tables that refer to one, each with the reference.
    pub(super) fn referring(&self, name: &str) -> Vec<(String, ForeignKey)> {
        let tables = [self.sqlite, self.pg].into_iter().flat_map(|schema| schema.tables.values());
        let keys = tables.flat_map(|table| table.foreign_keys.iter().map(|key| (table.name.clone(), key.clone())));
        keys.filter(|(other, key)| key.table == name && other != name).collect()
    }

    /// A table or view that both pages have.
    pub(super) fn shared(&self, name: &str) -> Option<Table> {
        let (sqlite, pg) = (self.sqlite.tables.get(name)?, self.pg.tables.get(name)?);
        let mut names: Vec<&str> = pg.columns.iter().map(|column| column.name.as_str()).collect();
        names.extend(sqlite.columns.iter().map(|column| column.name.as_str()).filter(|name| pg.column(name).is_none()));
        let columns = names.into_iter().map(|column| self.column(name, sqlite.column(column), pg.column(column)));
        let mut unique: Vec<Vec<String>> = Vec::new();
        for table in [sqlite, pg] {
            unique.extend(table.keys().cloned());
        }
        let columns: Vec<TableColumn> = columns.flatten().collect();
        // Items are found by their owner alone, so no two rows share one.
        unique.extend(columns.iter().filter_map(|column| match &column.list {
            Some(List::Table { owner, .. }) => Some(owner.clone()),
            _ => None,
        }));
        let unique_in_part =
            [sqlite, pg].into_iter().flat_map(|table| table.indexes.iter().filter_map(in_part)).collect();
        let foreign = sqlite.foreign_keys.iter().chain(&pg.foreign_keys).cloned().collect();
        Some(Table { name: name.to_owned(), columns, unique, unique_in_part, foreign })
    }

    fn column(&self, table: &str, sqlite: Option<&schema::Column>, pg: Option<&schema::Column>) -> Option<TableColumn> {
        let both: Vec<&schema::Column> = [sqlite, pg].into_iter().flatten().collect();
        let first = *both.first()?;
        let base = match (sqlite, pg) {
            (Some(sqlite), Some(pg)) => Base::finer(&sqlite.ty.base, &pg.ty.base).unwrap_or_else(|| pg.ty.base.clone()),
            _ => first.ty.base.clone(),
        };
        let is_clock = |column: &&schema::Column| match &column.fill {
            Fill::Value(value) => CLOCKS.iter().any(|clock| value.to_lowercase().contains(clock)),
            _ => false,
        };
        let is_generated = |column: Option<&schema::Column>| matches!(column?.fill, Fill::Computed(_)).then_some(());
        Some(TableColumn {
            name: first.name.clone(),
            base,
            nullable: both.iter().all(|column| column.ty.nullable),
            sqlite: sqlite.map(written_form),
            pg: pg.map(|column| column.ty.base.clone()),
            computed: both.iter().find_map(|column| Computed::of(&column.fill)),
            numbered: both.iter().any(|column| numbers(&column.fill)),
            has_default: both.iter().any(|column| column.has_default),
            generated: Both { sqlite: is_generated(sqlite).is_some(), pg: is_generated(pg).is_some() },
            clock: both.iter().any(is_clock),
            narrow: pg.is_some_and(|column| is_real(&column.declared)),
            range: self.range(table, &first.name),
            list: self.list(table, &first.name),
        })
    }

    /// What the CHECKs of both schemas leave of the whole numbers of a column, if they leave any.
    fn range(&self, table: &str, column: &str) -> Option<schema::Range> {
        let checks = [self.sqlite, self.pg].into_iter().filter_map(|schema| schema.tables.get(table));
        let ranges = checks.flat_map(|table| &table.checks).filter_map(|check| check.ranges.get(column).copied());
        let left = ranges.reduce(|(least, most), (low, high)| (least.max(low), most.min(high)))?;
        (left.0 <= left.1).then_some(left)
    }

    /// What `[prove.lists]` says of a column.
    fn list(&self, table: &str, column: &str) -> Option<List> {
        let said = self.config.prove.lists.get(&format!("{table}.{column}"))?;
        let own = self.sqlite.tables.get(table)?;
        if own.column(column).is_some() {
            return Some(List::Separated(said.clone()));
        }
        let (name, item) = said.split_once('.')?;
        let list = self.sqlite.tables.get(name)?;
        let owner =
            list.columns.iter().map(|column| &column.name).filter(|name| *name != item && own.column(name).is_some());
        Some(List::Table { name: name.to_owned(), item: item.to_owned(), owner: owner.cloned().collect() })
    }
}

/// What a unique index over some rows names: its own columns, and the words of its condition.
fn in_part(index: &Index) -> Option<Vec<String>> {
    let condition = index.written.as_ref().filter(|_| index.unique)?;
    let words = condition.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
    Some(index.columns().map(str::to_owned).chain(words).collect())
}

/// What SQLite holds. Where nothing says how it writes times, they are written as its type suggests.
fn written_form(column: &schema::Column) -> Base {
    let Base::Stored(stored @ Stored { form: Form::Unsaid, .. }) = &column.ty.base else {
        return column.ty.base.clone();
    };
    let is = |words: &[&str]| words.iter().any(|word| column.declared.contains(word));
    let form = if is(&["int"]) {
        Form::Seconds
    } else if is(&["real", "floa", "doub"]) {
        Form::Julian
    } else {
        Form::Datetime
    };
    Base::Stored(Stored { form, ..*stored })
}

/// Whether the database makes a number of its own for every row.
fn numbers(fill: &Fill) -> bool {
    match fill {
        Fill::Numbered | Fill::RowId => true,
        Fill::Value(text) => text.to_lowercase().starts_with("nextval("),
        Fill::Nothing | Fill::Computed(_) => false,
    }
}

/// Functions that read a clock.
pub(super) const CLOCKS: [&str; 8] = [
    "now",
    "clock_timestamp",
    "current_timestamp",
    "current_date",
    "current_time",
    "unixepoch",
    "julianday",
    "strftime",
];
