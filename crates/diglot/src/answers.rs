//! What the real engines answered, and whether it still fits.
//!
//! `cargo diglot prepare` asks the engines, once per emitted text, and hands what they said to this module as
//! [`Described`]. Two kinds of file come out: one `query-HASH.json` per text, which sqlx's macros read, and
//! `diglot.json`, which [`compile`](crate::compile) reads to see whether the others still belong to the texts
//! and the schema of today. Nothing here reads or writes a file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::infer::Signature;
use crate::pipeline::{EmittedText, Inputs};
use crate::source::Span;
use crate::types::Base;

/// The name of the index beside the query files.
pub const INDEX_FILE: &str = "diglot.json";
/// The layout of the files that this version writes; another number is as good as no answers.
pub const VERSION: u32 = 1;

/// What an engine said of one emitted text.
#[derive(Debug, Clone, Default)]
pub struct Described {
    /// One type per parameter, as sqlx serializes its type information; `None` on SQLite, which knows none.
    pub params: Option<Vec<Value>>,
    /// The columns of the statement that returns rows; none when no statement does.
    pub columns: Vec<DescribedColumn>,
}

/// What an engine said of one result column.
#[derive(Debug, Clone)]
pub struct DescribedColumn {
    /// The name that the client sees.
    pub name: String,
    /// The type, as sqlx serializes its type information: `"Int8"`, `"Text"`, `"Null"`.
    pub type_info: Value,
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

/// What is remembered of one emitted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// SHA-256 of the text in lower-case hex; also the name of the query file.
    pub hash: String,
    /// Type words of the parameters, `?` where the engine knows none.
    pub params: Vec<String>,
    /// The result columns in order.
    pub columns: Vec<RecordedColumn>,
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

/// The key of a text in the index: `noun.statement.dialect`.
pub fn key(text: &EmittedText) -> String {
    format!("{}.{}.{}", text.noun, text.name, text.dialect)
}

/// SHA-256 in lower-case hex.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The record of a text: the engine's answer, with what inference knows where the engine knows nothing.
pub fn record(text: &EmittedText, described: &Described) -> Record {
    let params = match &described.params {
        Some(types) => types.iter().map(|ty| engine_word(ty)).collect(),
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
    Record { hash: digest(text.sql.as_bytes()), params, columns }
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
    let columns: Vec<Value> = read(text, described)
        .iter()
        .enumerate()
        .map(|(ordinal, column)| {
            let name = if sqlite { format!("{}?: _", column.name) } else { column.name.clone() };
            serde_json::json!({ "ordinal": ordinal, "name": name, "type_info": column.type_info })
        })
        .collect();
    let nullable: Vec<Value> = read(text, described)
        .iter()
        .enumerate()
        .map(|(i, column)| match (sqlite, column.nullable) {
            (true, _) => Value::Bool(true),
            (false, Some(nullable)) => Value::Bool(nullable),
            (false, None) => text.columns.get(i).map_or(Value::Null, |inferred| Value::Bool(inferred.nullable)),
        })
        .collect();
    let parameters = match &described.params {
        Some(types) => serde_json::json!({ "Left": types }),
        None => serde_json::json!({ "Right": text.params.len() }),
    };
    let file = serde_json::json!({
        "db_name": match text.dialect { Dialect::Sqlite => "SQLite", Dialect::Pg => "PostgreSQL" },
        "query": text.sql,
        "describe": { "columns": columns, "parameters": parameters, "nullable": nullable },
        "hash": hash,
    });
    (format!("query-{hash}.json"), format!("{file:#}\n"))
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
            let prefix = format!("{}/{}/", inputs.config.schema.trim_end_matches('/'), dialect.word());
            let mut files: Vec<_> = inputs
                .sources
                .iter()
                .map(|(_, file)| file)
                .filter(|file| file.path.starts_with(&prefix) && file.path.ends_with(".sql"))
                .collect();
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
pub fn engine_base(type_info: &Value) -> Option<Base> {
    Some(match type_info.as_str()? {
        "Bool" => Base::Bool,
        "Int2" => Base::Int16,
        "Int4" => Base::Int32,
        "Int8" | "Integer" => Base::Int64,
        "Numeric" => Base::Numeric,
        "Float8" | "Float" => Base::Float64,
        "Text" | "Varchar" | "Bpchar" | "Name" => Base::Text,
        "Bytea" | "Blob" => Base::Bytes,
        "Uuid" => Base::Uuid,
        "Json" | "Jsonb" => Base::Json,
        "Timestamp" | "Timestamptz" | "Date" | "Time" | "Datetime" => Base::Timestamp,
        "TextArray" | "VarcharArray" => Base::TextArray,
        "Int8Array" => Base::Int64Array,
        "UuidArray" => Base::UuidArray,
        _ => return None,
    })
}

fn engine_word(type_info: &Value) -> String {
    match (engine_base(type_info), type_info.as_str()) {
        (Some(base), _) => base.word().to_owned(),
        (None, Some(name)) => name.to_lowercase(),
        (None, None) => "custom".to_owned(),
    }
}

/// Reads `diglot.json`; another layout counts as no answers.
pub(crate) fn parse(text: &str) -> Option<Index> {
    serde_json::from_str::<Index>(text).ok().filter(|index| index.version == VERSION)
}

/// Fills in what inference does not know and the engine does: the type of a declared column on Postgres.
pub(crate) fn complete(index: &Index, texts: &mut [EmittedText], signatures: &mut [Signature]) {
    for text in texts.iter_mut().filter(|text| text.dialect == Dialect::Pg) {
        let Some(record) = index.texts.get(&key(text)).filter(|record| fits(record, text)) else { continue };
        let signature = signatures.iter_mut().find(|signature| signature.name == text.name);
        let mut shown = signature.map(|signature| signature.columns.iter_mut().collect::<Vec<_>>()).unwrap_or_default();
        for (i, (column, recorded)) in text.columns.iter_mut().zip(&record.columns).enumerate() {
            if column.base.is_none() {
                column.base = Base::from_word(&recorded.ty);
                if let Some(shown) = shown.get_mut(i) {
                    shown.pg = column.base.clone();
                }
            }
        }
    }
}

fn fits(record: &Record, text: &EmittedText) -> bool {
    record.hash == digest(text.sql.as_bytes())
}

/// Compares the recorded answers with today's texts and schema.
pub(crate) fn check(
    inputs: &Inputs,
    index: Option<&Index>,
    texts: &[EmittedText],
    place: impl Fn(&EmittedText) -> Option<Span>,
) -> Vec<Diagnostic> {
    let Some(first) = texts.first() else { return Vec::new() };
    let somewhere = place(first).unwrap_or(Span::new(crate::source::FileId(0), 0..0));
    let Some(index) = index else {
        let message = "the engines were never asked about these statements, or by another version of diglot";
        let finding = Diagnostic::error("stale-answers", message, somewhere, "the first of them");
        return vec![finding.help(PREPARE)];
    };
    let digests = schema_digests(inputs);
    let changed: Vec<&str> = Dialect::ALL
        .into_iter()
        .filter(|dialect| index.schema.get(dialect.word()) != digests.get(dialect.word()))
        .map(Dialect::title)
        .collect();
    let stale = |text: &&EmittedText| !index.texts.get(&key(text)).is_some_and(|record| fits(record, text));
    let stale: Vec<&EmittedText> = texts.iter().filter(stale).collect();
    if !changed.is_empty() || !stale.is_empty() {
        let span = stale.first().and_then(|text| place(text)).unwrap_or(somewhere);
        return vec![stale_answers(&changed, &stale, span)];
    }
    let mut found = Vec::new();
    for text in texts {
        if let (Some(record), Some(span)) = (index.texts.get(&key(text)), place(text)) {
            differs(text, record, span, &mut found);
        }
    }
    found
}

const PREPARE: &str = "run `cargo diglot prepare`";

fn stale_answers(changed: &[&str], stale: &[&EmittedText], span: Span) -> Diagnostic {
    let label = if stale.is_empty() { "the first of the statements" } else { "changed since" };
    let message = "the recorded answers are out of date".to_owned();
    let mut finding = Diagnostic::error("stale-answers", message, span, label).help(PREPARE);
    if !changed.is_empty() {
        finding = finding.note(format!("the schema of {} has changed since the engines were asked", changed.join(" and ")));
    }
    const SHOWN: usize = 20;
    if !stale.is_empty() {
        let mut names: Vec<String> = stale.iter().take(SHOWN).map(|text| key(text)).collect();
        if stale.len() > SHOWN {
            names.push(format!("and {} more", stale.len() - SHOWN));
        }
        finding = finding.note(format!("not asked as they are now: {}", names.join(", ")));
    }
    finding
}

/// An engine that sees a type otherwise than inference did.
fn differs(text: &EmittedText, record: &Record, span: Span, found: &mut Vec<Diagnostic>) {
    let title = text.dialect.title();
    let name = &text.name;
    if record.columns.len() != text.columns.len() {
        let (engine, here) = (record.columns.len(), text.columns.len());
        let message = format!("{name}: {title} gives {engine} columns where {here} were understood");
        found.push(Diagnostic::error("answer-differs", message, span, "this statement"));
    }
    for (param, given) in text.params.iter().zip(&record.params) {
        let word = param.ty.base.word();
        if text.dialect == Dialect::Pg && given != word {
            let message = format!("{name}: {title} takes `{given}` for `:{0}`, the API gives `{word}`", param.name);
            found.push(
                Diagnostic::error("answer-differs", message, span, "this statement")
                    .help(format!("declare what the engine takes: `-- param: {} {given}`", param.name))
                    .help(format!("or write a CAST around `:{}` to the API's type", param.name)),
            );
        }
    }
    for (column, given) in text.columns.iter().zip(&record.columns) {
        let word = column.base.as_ref().map_or("?", Base::word);
        let known = Base::from_word(&given.ty).is_some();
        if text.dialect == Dialect::Pg && given.ty != word {
            let message = format!("{name}: {title} gives `{}` for `{}`, `{word}` was understood", given.ty, column.name);
            let finding = Diagnostic::error("answer-differs", message, span, "this statement");
            let help = if known { "write a CAST to the type that is meant" } else { "write a CAST to a type that has a Rust type" };
            found.push(finding.help(help));
        }
        if given.nullable == Some(true) && !column.nullable && !column.declared {
            let message = format!("{name}: {title} says that `{}` may be NULL, which was not understood", column.name);
            found.push(
                Diagnostic::error("answer-differs", message, span, "this statement")
                    .help(format!("declare it: `-- column: {} {word} null`, or without `null` if it never is", column.name)),
            );
        }
    }
}
