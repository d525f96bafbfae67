//! What the real engines answered, and whether it still fits.
//!
//! `cargo diglot prepare` asks the engines, once per emitted text, and hands what they said to this module as
//! [`Described`]. Two kinds of file come out: one `query-HASH.json` per text, which sqlx's macros read, and
//! `diglot.json`, which [`compile`](crate::compile) reads to see whether the others still belong to the texts
//! and the schema of today. Nothing here reads or writes a file.

mod check;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::dialect::Dialect;
use crate::digest::hex;
use crate::emitted::{EmittedText, TextColumn};
use crate::project::Inputs;
use crate::types::Base;
use crate::value::{Rows, Value};

pub use crate::digest::digest;

pub(crate) use check::{check, complete, recorded};

/// The name of the index beside the query files.
pub const INDEX_FILE: &str = "diglot.json";
/// The layout of the files that this version writes; another number is as good as no answers.
pub const VERSION: u32 = 1;

/// What an engine said of one emitted text.
#[derive(Debug, Clone, Default)]
pub struct Described {
    /// One type per parameter, as sqlx serializes its type information; `None` on SQLite, which knows none.
    pub params: Option<Vec<Json>>,
    /// The columns of the statement that returns rows; none when no statement does.
    pub columns: Vec<DescribedColumn>,
    /// The rows of a text that gives the same at all times, where they came in time and were few.
    pub rows: Option<Rows>,
}

/// What an engine said of one result column.
#[derive(Debug, Clone)]
pub struct DescribedColumn {
    /// The name that the client sees.
    pub name: String,
    /// The type, as sqlx serializes its type information: `"Int8"`, `"Text"`, `"Null"`.
    pub type_info: Json,
    /// Whether it may be NULL, where the engine knows.
    pub nullable: Option<bool>,
}

/// The whole of `diglot.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// The layout's number, [`VERSION`].
    pub version: u32,
    /// SHA-256 over paths and contents of the migrations, by dialect word.
    pub schema: BTreeMap<String, String>,
    /// One record per emitted text, by [`key`].
    pub texts: BTreeMap<String, Record>,
}

impl Index {
    /// Reads `diglot.json`; another layout counts as no answers.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str::<Self>(text).ok().filter(|index| index.version == VERSION)
    }
}

/// What is remembered of one emitted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// SHA-256 of the text in lower-case hex; also the name of the query file.
    pub hash: String,
    /// Type words of the parameters, `?` where the engine knows none.
    pub params: Vec<String>,
    /// The result columns in order.
    pub columns: Vec<RecordedColumn>,
    /// The rows of a text that gives the same at all times, as the types of its columns write their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Vec<String>>>,
}

/// What is remembered of one result column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedColumn {
    /// Its name.
    pub name: String,
    /// Its type's word.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether the engine says that it may be NULL; `null` where it does not know.
    pub nullable: Option<bool>,
}

/// The key of a text in the index: `noun.statement.dialect`, and `noun.statement+a+b.dialect` for a variant.
pub fn key(text: &EmittedText) -> String {
    format!("{}.{}{}.{}", text.noun, text.name, text.variant, text.dialect)
}

/// Whether a text is one that this compiler emits: a project may keep the answers to its own queries beside ours.
pub fn is_emitted(sql: &str) -> bool {
    let mark = sql.strip_prefix("/* ").and_then(|rest| rest.split_once(" */")).map(|(mark, _)| mark);
    mark.and_then(|mark| mark.rsplit_once(' ')).is_some_and(|(name, dialect)| {
        let is_dialect = Dialect::ALL.into_iter().any(|known| known.word() == dialect);
        is_dialect && name.contains('.') && !name.contains(' ')
    })
}

/// The record of a text: the engine's answer, with what inference knows where the engine knows nothing.
pub fn record(text: &EmittedText, described: &Described) -> Record {
    let params = match &described.params {
        Some(types) => types.iter().map(engine_word).collect(),
        None => vec!["?".to_owned(); text.params.len()],
    };
    let columns = read(text, described)
        .iter()
        .enumerate()
        .map(|(i, column)| {
            let inferred = text.columns.get(i);
            let ty = match (engine_base(&column.type_info), inferred.and_then(|c| c.base.as_ref())) {
                (None, Some(base)) if text.dialect == Dialect::Sqlite => base.word().to_owned(),
                _ => engine_word(&column.type_info),
            };
            // SQLite's word on NULL is a guess from byte code; a wrong one must not look like an answer.
            let nullable = match text.dialect {
                Dialect::Sqlite => None,
                Dialect::Pg => column.nullable,
            };
            RecordedColumn { name: column.name.clone(), ty, nullable }
        })
        .collect();
    let rows = described.rows.as_ref().and_then(|rows| rows.iter().map(|row| written(text, row)).collect());
    Record { hash: digest(text.sql.as_bytes()), params, columns, rows }
}

/// A row as the types of the columns write its values; none where one of them does not have its column's type.
fn written(text: &EmittedText, row: &[Value]) -> Option<Vec<String>> {
    let value =
        |(value, column): (&Value, &TextColumn)| Some(value.clone().into_base(column.base.as_ref()?)?.to_string());
    (row.len() == text.columns.len()).then(|| row.iter().zip(&text.columns).map(value).collect())?
}

/// The columns that somebody reads: none where the API throws the rows away, so that sqlx does too.
fn read<'d>(text: &EmittedText, described: &'d Described) -> &'d [DescribedColumn] {
    if text.columns.is_empty() { &[] } else { &described.columns }
}

/// Name and content of the file that sqlx's macros read for a text.
///
/// On SQLite every column is written as `name?: _`, sqlx's own way to ask for a look at each value: without
/// it the driver would turn NULL into zero and text into a number without a word.
pub fn query_file(text: &EmittedText, described: &Described) -> (String, String) {
    let hash = digest(text.sql.as_bytes());
    let sqlite = text.dialect == Dialect::Sqlite;
    let columns: Vec<Json> = read(text, described)
        .iter()
        .enumerate()
        .map(|(ordinal, column)| {
            let name = match is_as_read(text.dialect, &column.type_info) {
                true if sqlite => format!("{}?: _", column.name),
                true => format!("{}: _", column.name),
                false => column.name.clone(),
            };
            serde_json::json!({ "ordinal": ordinal, "name": name, "type_info": column.type_info })
        })
        .collect();
    let nullable: Vec<Json> = read(text, described)
        .iter()
        .enumerate()
        .map(|(i, column)| match (sqlite, column.nullable) {
            (true, _) => Json::Bool(true),
            (false, Some(nullable)) => Json::Bool(nullable),
            (false, None) => text.columns.get(i).map_or(Json::Null, |inferred| Json::Bool(inferred.nullable)),
        })
        .collect();
    let parameters = match &described.params {
        Some(types) => serde_json::json!({ "Left": types }),
        None => serde_json::json!({ "Right": text.params.len() + text.spare }),
    };
    let file = serde_json::json!({
        "db_name": match text.dialect { Dialect::Sqlite => "SQLite", Dialect::Pg => "PostgreSQL" },
        "query": text.sql,
        "describe": { "columns": columns, "parameters": parameters, "nullable": nullable },
        "hash": hash,
    });
    (format!("query-{hash}.json"), format!("{file:#}\n"))
}

/// What an engine said of a text, out of its record and its query file; none where they are not those of the text, and for
/// a text that gives rows at all times.
pub fn described(text: &EmittedText, record: &Record, file: &str) -> Option<Described> {
    let file: Json = serde_json::from_str(file).ok()?;
    let is_its = record.hash == digest(text.sql.as_bytes()) && file["query"].as_str() == Some(&text.sql);
    let describe = file.get("describe").filter(|_| is_its && !text.constant)?;
    let columns = describe["columns"].as_array()?.iter().zip(&record.columns).map(|(column, known)| DescribedColumn {
        name: known.name.clone(),
        type_info: column["type_info"].clone(),
        nullable: known.nullable,
    });
    let params = describe["parameters"].get("Left").and_then(Json::as_array).cloned();
    Some(Described { params, columns: columns.collect(), rows: None })
}

/// The content of `diglot.json` for these records.
pub fn index(inputs: &Inputs, records: &BTreeMap<String, Record>) -> String {
    let index = Index { version: VERSION, schema: schema_digests(inputs), texts: records.clone() };
    // A map with text keys always has a JSON form.
    serde_json::to_string_pretty(&index).map(|text| text + "\n").unwrap_or_default()
}

/// SHA-256 over paths and contents of the migrations, by dialect word.
pub fn schema_digests(inputs: &Inputs) -> BTreeMap<String, String> {
    Dialect::ALL
        .into_iter()
        .map(|dialect| {
            let mut files: Vec<_> =
                inputs.migrations(dialect).into_iter().map(|(id, _)| inputs.sources.file(id)).collect();
            files.sort_by(|a, b| a.path.cmp(&b.path));
            let mut sha = Sha256::new();
            for file in files {
                // Lengths keep a path and a content from flowing into each other.
                sha.update((file.path.len() as u64).to_le_bytes());
                sha.update(file.path.as_bytes());
                sha.update((file.text.len() as u64).to_le_bytes());
                sha.update(file.text.as_bytes());
            }
            (dialect.word().to_owned(), hex(&sha.finalize()))
        })
        .collect()
}

/// The logical type behind sqlx's name for a type of either engine, if it has one.
pub fn engine_base(type_info: &Json) -> Option<Base> {
    if custom_name(type_info).is_some_and(|name| name.eq_ignore_ascii_case("citext")) {
        return Some(Base::Text);
    }
    Some(match type_info.as_str()? {
        "Bool" => Base::Bool,
        "Int2" => Base::Int16,
        "Int4" => Base::Int32,
        "Int8" | "Integer" => Base::Int64,
        "Numeric" => Base::Numeric,
        "Float8" | "Float4" | "Float" => Base::Float64,
        "Text" | "Varchar" | "Bpchar" | "Name" => Base::Text,
        "Bytea" | "Blob" => Base::Bytes,
        "Uuid" => Base::Uuid,
        "Json" | "Jsonb" => Base::Json,
        "Timestamptz" | "Datetime" => Base::Timestamp,
        "Timestamp" => Base::DateTime,
        "Date" => Base::Date,
        "Time" => Base::TimeOfDay,
        "Interval" | "Timetz" => Base::Interval,
        "TextArray" | "VarcharArray" | "BpcharArray" | "NameArray" => Base::TextArray,
        "Int8Array" | "Int4Array" | "Int2Array" => Base::Int64Array,
        "UuidArray" => Base::UuidArray,
        _ => return None,
    })
}

fn engine_word(type_info: &Json) -> String {
    match (engine_base(type_info), type_info.as_str()) {
        (Some(base), _) => base.word().to_owned(),
        (None, _) if type_info.pointer("/Custom/kind/Enum").is_some() => "enum".to_owned(),
        (None, Some(name)) => name.to_lowercase(),
        (None, None) => custom_name(type_info).unwrap_or("custom").to_lowercase(),
    }
}

/// The name of a type that the driver does not know by itself.
fn custom_name(type_info: &Json) -> Option<&str> {
    type_info.pointer("/Custom/name")?.as_str()
}

/// Whether sqlx's macros are to take what the generated code reads for such a column, and not what they know of its type.
///
/// So it is for every column of SQLite, and for one of Postgres whose type comes in several widths or is no type that
/// they know.
fn is_as_read(dialect: Dialect, type_info: &Json) -> bool {
    let base = engine_base(type_info);
    dialect == Dialect::Sqlite || base.is_some_and(|base| base.has_widths() || custom_name(type_info).is_some())
}
