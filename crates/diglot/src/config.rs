//! `diglot.toml`: folders, column types, project conventions.

use std::collections::BTreeMap;

/// The configuration of a project. Every key has a default, so an empty file is valid.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Folder that holds `sqlite/` and `pg/` statement files.
    pub sql: String,
    /// Folder that holds `sqlite/` and `pg/` migrations.
    pub schema: String,
    /// Rust types of columns, by `table.column`; `*.column` for that column in every table. The value is a path of a
    /// type that converts to and from the column's plain type: `From<T> for Plain` for parameters,
    /// `TryFrom<Plain> for T` (whose error implements `std::error::Error`) for results. Plain is `String`
    /// for text, `i16`, `i32`, `i64`, `bool`, `f64`, `Vec<u8>`, `uuid::Uuid`, `serde_json::Value`.
    pub types: BTreeMap<String, String>,
    /// The words that a text column may hold, by `table.column`: a literal outside the list is a finding.
    pub words: BTreeMap<String, Vec<String>>,
    /// The column by which Postgres tables are partitioned (`shard-key` lint); empty turns the lint off.
    pub shard_key: String,
    /// How `cargo diglot prepare` asks the engines.
    pub prepare: Prepare,
}

/// The table `[prepare]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Prepare {
    /// Settings of the Postgres session in which the migrations run and the statements are described, by name.
    pub pg_settings: BTreeMap<String, String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sql: "sql".into(),
            schema: "schema".into(),
            types: BTreeMap::new(),
            words: BTreeMap::new(),
            shard_key: String::new(),
            prepare: Prepare::default(),
        }
    }
}
