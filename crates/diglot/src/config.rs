//! `diglot.toml`: folders, column types, project conventions.

mod assume;
mod choices;
mod declared;
mod generate;
mod keys;
mod libraries;
mod locks;
mod migrations;
mod never_null;
mod offset;
mod places;
mod prepare;
#[cfg(test)]
mod schema;
mod shards;
mod storage;
mod stripped;
mod words;

use std::collections::BTreeMap;
use std::fmt;

pub use assume::{Assume, Assumption};
pub use choices::{JsonText, Unproved};
pub use declared::{Declared, DeclaredOn, Seals};
pub use generate::{Driver, Generate, Ownership, Queries, Tables, Traits};
pub use keys::{Columns, Key};
pub use libraries::{Decimals, Libraries, Times};
pub use locks::{Locks, Transactions};
pub use migrations::Migrations;
pub use places::Places;
pub use prepare::Prepare;
pub use shards::{Distributed, Placement};
pub use storage::Storage;
pub use stripped::Stripped;
pub use words::Words;

use offset::key_offset;

pub use crate::engine::MAJORS;
use crate::extract::Built;

/// The name of the configuration's file.
pub const FILE: &str = "diglot.toml";

/// The JSON schema of that file, by which editors complete and check it.
pub const SCHEMA: &str = include_str!("config/schema.json");

/// The file beside the dialects' folders of migrations that holds declarations alone.
pub const DIVERGENCES: &str = "divergences.sql";

/// The configuration of a project. Every key has a default, so an empty file is valid.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the statement files are: a folder that holds `sqlite/` and `pg/`, or a table with a folder or a file for
    /// each.
    pub sql: Places,
    /// Where the migrations are, in the same way.
    pub schema: Places,
    /// Whether both dialects have the same files, with the same statements in the same order. Without it a statement
    /// and the one that faces it find each other by their name, in whatever files they stand.
    pub lockstep: bool,
    /// Statements that the pages name differently: the name on the SQLite page, which the function gets, and that on the
    /// Postgres page.
    pub names: BTreeMap<String, String>,
    /// What helpers give that take part in texts which programs put together.
    pub built: Built,
    /// Rust types of columns, by `table.column`; `*.column` for that column in every table. The value is a path of a
    /// type that converts to and from the column's plain type: `From<T> for Plain` for parameters,
    /// `TryFrom<Plain> for T` (whose error implements `std::error::Error`) for results. Plain is `String`
    /// for text, `i16`, `i32`, `i64`, `bool`, `f64`, `Vec<u8>`, `uuid::Uuid`, `serde_json::Value`.
    #[cfg_attr(test, schemars(transform = schema::libraries))]
    pub types: BTreeMap<String, String>,
    /// Columns that are one value together, by the name of the field that holds it: a statement that takes all of them as
    /// parameters, or gives all of them, has one field of that struct in their place.
    pub keys: BTreeMap<String, Key>,
    /// The words that a text column may hold, by `table.column` or `*.column`, and the enum that stands for them: a
    /// literal outside the list is a finding.
    pub words: BTreeMap<String, Words>,
    /// The types of JSON fields, by `table.column.step.step`, or `table.column.*` for every member: `text`, `i64`, `f64` or
    /// `bool`, or with `[]` behind it an array of those. SQLite reads a field in its own type, Postgres as text, so only this says that they read the same.
    #[cfg_attr(test, schemars(transform = schema::json_types))]
    pub json: BTreeMap<String, String>,
    /// What becomes of documents that a statement gives as text.
    pub json_text: JsonText,
    /// What is declared once for several statements.
    pub declared: Vec<Declared>,
    /// Clauses that one of the databases never gets.
    pub stripped: Stripped,
    /// The column by which Postgres tables are partitioned (`shard-key` lint); empty turns the lint off.
    pub shard_key: String,
    /// The engine that spreads the Postgres tables over several nodes by `shard_key`, if one does. With it the lints of
    /// shards look at every statement.
    pub distributed: Option<Distributed>,
    /// Where rows of a table are on that engine, by the table's name. Without a line a table that has the shard key is
    /// spread by it, and any other stays on the node that takes the statements.
    pub placement: BTreeMap<String, Placement>,
    /// The collation of the Postgres databases (`text-order` lint): `C` says that they compare text by bytes, as SQLite
    /// does.
    pub pg_collation: String,
    /// The majors of Postgres that the statements run on; without it all that are known. What one of them has not is a
    /// finding.
    #[cfg_attr(test, schemars(transform = schema::majors))]
    pub pg_majors: Vec<u16>,
    /// The time zone of the sessions on Postgres, where it is always the same: `UTC` says that a time without a zone, which
    /// Postgres takes from a clock, is the one that SQLite takes.
    pub pg_timezone: String,
    /// How columns of SQLite hold times and decimals.
    #[cfg_attr(test, schemars(transform = schema::stored_forms))]
    pub storage: Storage,
    /// Whether the schemas are held against what makes whole families of differences impossible: STRICT tables, keys
    /// without NULL, bytes for the order of ids, checks of JSON, flags and ids, and wide numbers.
    pub schema_lints: bool,
    /// The Cargo feature of the dependant that gates what is generated for SQLite; none: it is always there.
    pub sqlite_feature: Option<String>,
    /// The Cargo feature of the dependant that gates what is generated for Postgres; none: it is always there.
    pub pg_feature: Option<String>,
    /// How the generated Rust looks, and whether there is any.
    #[serde(deserialize_with = "Generate::read")]
    #[cfg_attr(test, schemars(with = "schema::Or<bool, Generate>"))]
    pub generate: Generate,
    /// What the steps of the migrations are held against: without it, nothing is said about a system that runs while they
    /// do.
    pub migrations: Option<Migrations>,
    /// How `cargo diglot prepare` asks the engines.
    pub prepare: Prepare,
    /// Whether evidence is enough where the texts alone do not say that two pages mean the same.
    pub unproved: Unproved,
    /// What `cargo diglot prove` may take for granted about the data.
    pub prove: Prove,
    /// What no program writes though the schemas would let it in.
    pub assume: Assume,
    /// In which order rows are locked on Postgres, and what is not to wait for them. Without it nothing is said about
    /// locks; with it, empty or not, the lints of locks look at all statements.
    pub locks: Option<Locks>,
    /// The statements that transactions may run, in their order.
    pub transactions: Transactions,
}

/// The table `[prove]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Prove {
    /// The least and the greatest number that a column or a parameter holds, by `table.column`, `*.column`,
    /// `statement.parameter` or `*.parameter`; a star in a name stands for any letters. Both ends are tried.
    pub ranges: BTreeMap<String, (i64, i64)>,
    /// How SQLite holds what is a list column of Postgres, by that column. `"job.labels" = "job_label.label"`: in a
    /// table of its own, one row for each item; what else that table shares with the first one says whose item it
    /// is. `"job.labels" = ","`: as text, with this between the items.
    pub lists: BTreeMap<String, String>,
    /// What stands in a place of a JSON column, by `table.column.field`; a star in any of them stands for any
    /// letters. `text`, `digits` (a number in a text), `number` (a whole one) and `object` may be missing, and null where a
    /// statement reads the place; without a line a place holds anything. A document with a line is an object.
    #[cfg_attr(test, schemars(transform = schema::field_kinds))]
    pub fields: BTreeMap<String, String>,
    /// Rows that no program writes, by table: a condition in words that both databases know. A column whose NULL alone
    /// makes a row such a one is taken as never NULL when pages are compared, too.
    pub impossible: BTreeMap<String, String>,
}

impl Prove {
    /// The range of a column of a table, or of a parameter of a statement.
    pub fn range(&self, owner: &str, name: &str) -> Option<(i64, i64)> {
        let fits = |key: &str| key.split_once('.').is_some_and(|(of, what)| matches(of, owner) && matches(what, name));
        closest(&self.ranges, fits).copied()
    }

    /// Whether something is said of a JSON column's or parameter's fields.
    pub fn is_object(&self, owner: &str, name: &str) -> bool {
        let fits = |key: &String| {
            let mut names = key.splitn(3, '.');
            names.next().zip(names.next()).is_some_and(|(of, what)| matches(of, owner) && matches(what, name))
        };
        self.fields.keys().any(fits)
    }

    /// What stands in a place of a JSON column.
    pub fn field(&self, table: &str, column: &str, path: &str) -> Option<&str> {
        let fits = |key: &str| {
            let mut names = key.splitn(3, '.');
            let (Some(of), Some(what), Some(place)) = (names.next(), names.next(), names.next()) else { return false };
            matches(of, table) && matches(what, column) && matches(place, path)
        };
        closest(&self.fields, fits).map(String::as_str)
    }
}

/// The line that fits best: a name that is written out says more than one with a star.
fn closest<T>(lines: &BTreeMap<String, T>, fits: impl Fn(&str) -> bool) -> Option<&T> {
    let found = lines.iter().filter(|(key, _)| fits(key));
    found.min_by_key(|(key, _)| key.matches('*').count()).map(|(_, said)| said)
}

/// What `[prove.fields]` may say.
const FIELD_KINDS: [&str; 4] = ["text", "digits", "number", "object"];

impl Config {
    /// The libraries of the generated Rust.
    pub fn libraries(&self) -> Libraries {
        Libraries::of(&self.types)
    }

    /// Whether times without a zone are in UTC on Postgres too.
    pub fn is_utc(&self) -> bool {
        ["utc", "etc/utc", "gmt"].contains(&self.pg_timezone.to_ascii_lowercase().as_str())
    }

    /// Where the rows of a table are on the engine that spreads tables, if there is one; `has_key` says whether the table
    /// has the shard key.
    pub fn placement_of(&self, table: &str, has_key: bool) -> Option<Placement> {
        self.distributed?;
        let by_column = if has_key { Placement::Distributed } else { Placement::Local };
        Some(self.placement.get(table).copied().unwrap_or(by_column))
    }

    /// Whether statements take steps where the tables are spread: the functions that take them call sqlx.
    pub(crate) fn takes_steps(&self) -> bool {
        self.distributed.is_some() && self.generate.driver == Driver::Sqlx
    }
}

/// Whether a pattern with at most one star in it stands for a name.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
        None => pattern == name,
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sql: Places::below("sql"),
            schema: Places::below("schema"),
            lockstep: true,
            names: BTreeMap::new(),
            built: Built::default(),
            types: BTreeMap::new(),
            keys: BTreeMap::new(),
            words: BTreeMap::new(),
            json: BTreeMap::new(),
            json_text: JsonText::default(),
            unproved: Unproved::default(),
            declared: Vec::new(),
            stripped: Stripped::default(),
            shard_key: String::new(),
            distributed: None,
            placement: BTreeMap::new(),
            pg_collation: String::new(),
            pg_majors: MAJORS.to_vec(),
            pg_timezone: String::new(),
            storage: Storage::default(),
            schema_lints: false,
            sqlite_feature: None,
            pg_feature: None,
            generate: Generate::default(),
            migrations: None,
            prepare: Prepare::default(),
            prove: Prove::default(),
            assume: Assume::default(),
            locks: None,
            transactions: Transactions::new(),
        }
    }
}

/// What is wrong with a configuration file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file as the user knows it.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.path, self.line, self.column, self.message)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads the text of a `diglot.toml`; `path` is the file's name for the user.
    ///
    /// # Errors
    ///
    /// When the text is not TOML, has a key that does not exist here, or a value that cannot be meant.
    pub fn parse(text: &str, path: &str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut config: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            error_at(text, path, start, error.message().trim().replace('\n', ", "))
        })?;
        Words::share(&mut config.words);
        match config.fault() {
            Some((key, message)) => Err(error_at(text, path, key_offset(text, &key), message)),
            None => Ok(config),
        }
    }

    /// The first value that cannot be meant, with its key.
    fn fault(&self) -> Option<(String, String)> {
        for (key, places) in [("sql", &self.sql), ("schema", &self.schema)] {
            if let Some(message) = places.fault(key) {
                return Some((key.to_owned(), message));
            }
        }
        if self.pg_majors.is_empty() || self.pg_majors.iter().any(|major| !MAJORS.contains(major)) {
            let message = format!("`pg_majors` is a list of some of {MAJORS:?}");
            return Some(("pg_majors".to_owned(), message));
        }
        if let Some(fault) = self.storage.fault().or_else(|| self.assume.fault()).or_else(|| self.generate.fault()) {
            return Some(fault);
        }
        if let Some(fault) = self.stripped.fault().or_else(|| shards::fault(self)) {
            return Some(fault);
        }
        if let Some(fault) = self.locks.as_ref().and_then(Locks::fault) {
            return Some(fault);
        }
        if self.libraries().times == Times::Jiff && self.generate.queries.is_macro() {
            let message = "sqlx's macros do not know jiff: write `queries = \"plain\"` below `[generate]`";
            return Some(("times".to_owned(), message.to_owned()));
        }
        for (column, path) in &self.types {
            if Libraries::KEYS.contains(&column.as_str()) {
                match Libraries::fault(column, path) {
                    Some(message) => return Some((column.clone(), message)),
                    None => continue,
                }
            }
            if !is_column(column) {
                return Some((column.clone(), bad_column(column)));
            }
            if syn::parse_str::<syn::Type>(path).is_err() {
                return Some((column.clone(), format!("`{path}` is not a Rust type")));
            }
        }
        if let Some(fault) = keys::fault(self) {
            return Some(fault);
        }
        for (column, words) in &self.words {
            let message = if is_column(column) { words.fault(column, &self.words) } else { Some(bad_column(column)) };
            if let Some(message) = message {
                return Some((column.clone(), message));
            }
        }
        for (field, word) in &self.json {
            let column = field.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
            let is_whole = field.matches('.').count() == 1 && word.ends_with("[]");
            if !is_column(&column) || !is_whole && field.splitn(3, '.').nth(2).is_none_or(str::is_empty) {
                return Some((field.clone(), format!("`{field}` names no JSON field: write \"table.column.key\"")));
            }
            if !JSON_TYPES.contains(&word.strip_suffix(" always").unwrap_or(word)) {
                let message = format!("`{word}` is no type of a JSON field; write one of: {}", JSON_TYPES.join(", "));
                return Some((field.clone(), message));
            }
        }
        for (key, kind) in &self.prove.fields {
            if !FIELD_KINDS.contains(&kind.as_str()) {
                return Some((key.clone(), format!("`{kind}` is none of {}", FIELD_KINDS.join(", "))));
            }
        }
        for (key, (least, most)) in &self.prove.ranges {
            if least > most {
                return Some((key.clone(), format!("no number is at least {least} and at most {most}")));
            }
        }
        for (key, feature) in [("sqlite_feature", &self.sqlite_feature), ("pg_feature", &self.pg_feature)] {
            if feature.as_ref().is_some_and(|name| name.is_empty() || name.contains(['"', ' '])) {
                return Some((key.to_owned(), format!("`{key}` must be the name of a Cargo feature")));
            }
        }
        None
    }

    /// What `[json]` says of a place of a JSON column.
    pub fn json_type(&self, table: &str, column: &str, path: &str) -> Option<&str> {
        let fits = |key: &str| {
            let mut names = key.splitn(3, '.');
            let (Some(of), Some(what), Some(place)) = (names.next(), names.next(), names.next()) else { return false };
            matches(of, table) && matches(what, column) && matches(place, path)
        };
        closest(&self.json, fits).map(String::as_str)
    }

    /// What `[json]` says of a JSON column as a whole: that it holds an array.
    pub fn json_list(&self, table: &str, column: &str) -> Option<&str> {
        let fits = |key: &str| {
            key.split_once('.')
                .is_some_and(|(of, what)| !what.contains('.') && matches(of, table) && matches(what, column))
        };
        closest(&self.json, fits).map(String::as_str)
    }

    /// Whether `[json]` says something of a column's members, which is then an object.
    pub fn is_json_object(&self, table: &str, column_name: &str) -> bool {
        let fits = |key: &String| {
            let mut names = key.splitn(3, '.');
            let column = names.next().zip(names.next());
            column.is_some_and(|(of, what)| matches(of, table) && matches(what, column_name)) && names.next().is_some()
        };
        self.json.keys().any(fits)
    }

    /// The file beside the migrations that declares differences of the schemas: `divergences.sql` in their folder, or
    /// in the project's folder where they have no folder in common.
    pub fn divergences(&self) -> String {
        let file = DIVERGENCES;
        self.schema.shared().map_or_else(|| file.to_owned(), |folder| format!("{folder}/{file}"))
    }

    /// The Rust type that the configuration gives to a column: that of `[types]`, or the enum of its words.
    pub fn rust_type(&self, table: &str, column: &str) -> Option<&str> {
        let of_words = || self.words_of(table, column).and_then(|words| words.rust.as_deref());
        of_column(&self.types, table, column).map(String::as_str).or_else(of_words)
    }

    /// What `[words]` says of a column.
    pub fn words_of(&self, table: &str, column: &str) -> Option<&Words> {
        of_column(&self.words, table, column)
    }

    /// The enum to generate of that name, if there is one.
    pub fn generated_words(&self, rust: &str) -> Option<&Words> {
        self.words.values().find(|words| words.rust.as_deref() == Some(rust) && words.is_generated())
    }
}

/// What is said of a column by its name, or else of that column in every table.
fn of_column<'a, T>(said: &'a BTreeMap<String, T>, table: &str, column: &str) -> Option<&'a T> {
    // This is asked for every column of every text, so no key is put together for it.
    let of = |owner: &str| {
        let is_it = |key: &str| key.strip_prefix(owner).and_then(|rest| rest.strip_prefix('.')) == Some(column);
        said.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value)
    };
    of(table).or_else(|| of("*"))
}

/// The words for what a JSON field holds.
const JSON_TYPES: [&str; 10] =
    ["text", "i64", "f64", "bool", "i64 or text", "f64 or text", "text[]", "i64[]", "f64[]", "bool[]"];

/// `table.column` or `*.column`, in lower case.
fn is_column(key: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| (c.is_alphanumeric() && !c.is_uppercase()) || c == '_');
    key.split_once('.').is_some_and(|(table, column)| (table == "*" || is_name(table)) && is_name(column))
}

fn bad_column(key: &str) -> String {
    format!("`{key}` names no column: write \"table.column\" or \"*.column\", in lower case and in quotes")
}

fn error_at(text: &str, path: &str, offset: usize, message: String) -> ConfigError {
    let file = crate::source::SourceFile::new(path, text);
    let (line, column) = file.line_column(offset);
    ConfigError { path: path.to_owned(), message, line, column }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    pub(super) fn fault(text: &str) -> String {
        Config::parse(text, "diglot.toml").unwrap_err().to_string()
    }

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(Config::parse("", "diglot.toml"), Ok(Config::default()));
    }

    #[test]
    fn every_key_is_read() {
        let text = "\u{feff}sql = \"db/sql\"\r\nschema = \"db\"\nshard_key = \"partition_key\"\nlockstep = false\nsqlite_feature = \"sqlite\"\n\
                    pg_feature = \"postgres\"\n[types]\n\"lease.epoch\" = \"crate::model::Epoch\"\n\"*.state\" = \"crate::State\"\n\
                    [words]\n\"lease.state\" = [\"held\", \"free\"]\n[json]\n\"lease.doc.ns\" = \"text\"\n[prepare.pg_settings]\n\"ff.partitions\" = \"4\"\n";
        let config = Config::parse(text, "diglot.toml").unwrap();
        assert_eq!(
            (&config.sql, &config.schema, config.shard_key.as_str(), config.lockstep),
            (&Places::below("db/sql"), &Places::below("db"), "partition_key", false)
        );
        assert_eq!(
            (config.sqlite_feature.as_deref(), config.pg_feature.as_deref()),
            (Some("sqlite"), Some("postgres"))
        );
        assert_eq!(config.words["lease.state"].words, ["held", "free"]);
        assert_eq!(config.json["lease.doc.ns"], "text");
        assert_eq!(config.prepare.pg_settings["ff.partitions"], "4");
        assert_eq!(config.rust_type("lease", "epoch"), Some("crate::model::Epoch"));
        assert_eq!(config.rust_type("other", "state"), Some("crate::State"));
        assert_eq!(config.rust_type("other", "epoch"), None);
    }

    #[test]
    fn each_dialect_may_have_a_place_of_its_own() {
        let text =
            "schema = { sqlite = \"db/lite.sql\", pg = \"migrations/\" }\n[sql]\nsqlite = \"a/queries\"\npg = \"b\"\n";
        let config = Config::parse(text, "diglot.toml").unwrap();
        assert_eq!(config.sql, Places::each(vec!["a/queries".to_owned()], vec!["b".to_owned()]));
        assert_eq!(config.schema.stem(Dialect::Sqlite, "db/lite.sql"), Some("lite"));
        assert_eq!(config.schema.stem(Dialect::Pg, "migrations/1_a.sql"), Some("1_a"));
        assert_eq!(config.schema.stem(Dialect::Pg, "migrations_2/1_a.sql"), None);
        assert_eq!(config.divergences(), "divergences.sql");
        assert_eq!(config.sql.common("a/queries/job.sql"), None);
        let common = Config::parse("[sql]\nsqlite = [\"a\", \"b\"]\npg = [\"a\", \"c\"]\n", "diglot.toml").unwrap().sql;
        assert_eq!((common.common("a/job.sql"), common.common("b/job.sql")), (Some("job"), None));
        assert_eq!(
            (common.page(Dialect::Pg, "job"), common.page(Dialect::Sqlite, "job")),
            ("c/job.sql".to_owned(), "b/job.sql".to_owned())
        );
        assert_eq!(Config::default().divergences(), "schema/divergences.sql");
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        assert_eq!(
            fault("sql = \"sql\"\nshema = \"x\"\n"),
            "diglot.toml:2:1: unknown field `shema`, expected one of `sql`, `schema`, `lockstep`, `names`, `built`, `types`, `keys`, `words`, `json`, \
             `json_text`, `declared`, `stripped`, `shard_key`, `distributed`, `placement`, `pg_collation`, `pg_majors`, `pg_timezone`, `storage`, `schema_lints`, `sqlite_feature`, `pg_feature`, `generate`, `migrations`, `prepare`, `unproved`, `prove`, `assume`, `locks`, `transactions`"
        );
        assert_eq!(
            fault("sql = 3"),
            "diglot.toml:1:7: invalid type: integer `3`, expected a folder, or `sqlite` and `pg` with folders and files each"
        );
        assert_eq!(fault("[sql]\nsqlite = \"a\""), "diglot.toml:1:1: missing field `pg`");
        assert_eq!(
            fault("[stripped]\nsqlite = [\"FOR UPDATE\"]\npg = [\" \"]\n"),
            "diglot.toml:3:1: a clause without words takes nothing out"
        );
        assert_eq!(
            fault("\n  sql = \"../up\""),
            "diglot.toml:2:3: `sql` must be a folder inside the project, written with forward slashes"
        );
        assert_eq!(
            fault("[types]\n\"Lease.epoch\" = \"u8\""),
            "diglot.toml:2:1: `Lease.epoch` names no column: write \"table.column\" or \"*.column\", in lower case and in quotes"
        );
        assert_eq!(fault("[types]\n\"a.b\" = \"u 8\""), "diglot.toml:2:1: `u 8` is not a Rust type");
        assert_eq!(
            fault("[words]\n\"a.b\" = []"),
            "diglot.toml:2:1: `a.b` may hold no word at all; remove the line to allow every text"
        );
        assert_eq!(
            fault("[generate]\nvisibility = \"pub(super)\""),
            "diglot.toml:2:1: `pub(super)` must be `pub`, `pub(crate)` or `pub(in crate::…)`"
        );
        assert_eq!(fault("[generate]\nmodule = \"a::1\""), "diglot.toml:2:1: `a::1` is not the path of a module");
        assert_eq!(fault("[generate]\nderive = [\"a b\"]"), "diglot.toml:2:1: `a b` is not the path of a trait");
        assert_eq!(
            fault("[json]\n\"a.b\" = \"text\""),
            "diglot.toml:2:1: `a.b` names no JSON field: write \"table.column.key\""
        );
        assert_eq!(
            fault("[json]\n\"a.b.c\" = \"json\""),
            "diglot.toml:2:1: `json` is no type of a JSON field; write one of: text, i64, f64, bool, i64 or text, f64 or text, text[], i64[], f64[], bool[]"
        );
        assert_eq!(
            fault("[prove.fields]\n\"a.b.*\" = \"list\""),
            "diglot.toml:2:1: `list` is none of text, digits, number, object"
        );
        assert_eq!(fault("[prove.ranges]\n\"a.b\" = [2, 1]"), "diglot.toml:2:1: no number is at least 2 and at most 1");
        assert_eq!(fault("pg_majors = [14, 15]"), "diglot.toml:1:1: `pg_majors` is a list of some of [15, 16, 17, 18]");
        assert_eq!(fault("pg_feature = \"\""), "diglot.toml:1:1: `pg_feature` must be the name of a Cargo feature");
    }

    #[test]
    fn the_line_with_the_fewest_stars_says_what_a_place_holds() {
        let text = "[prove.ranges]\n\"*.*_ms\" = [0, 9]\n\"*.due_ms\" = [1, 2]\n\
                    [prove.fields]\n\"*.doc.*\" = \"text\"\n\"job.doc.tags.*\" = \"digits\"\n";
        let prove = Config::parse(text, "diglot.toml").unwrap().prove;
        assert_eq!((prove.range("job", "due_ms"), prove.range("job", "made_ms")), (Some((1, 2)), Some((0, 9))));
        assert_eq!(prove.range("job", "tries"), None);
        assert_eq!(prove.field("job", "doc", "tags.a"), Some("digits"));
        assert_eq!(prove.field("job", "doc", "kind"), Some("text"));
        assert_eq!(prove.field("job", "other", "kind"), None);
    }

    #[test]
    fn a_text_that_is_not_toml_is_told_with_its_place() {
        let fault = fault("sql = \"sql\"\nü = = 1\n");
        assert!(fault.starts_with("diglot.toml:2:"), "{fault}");
    }
}
