//! SQLite, as the page brings it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use diglot::dialect::Dialect;
use diglot::{EmittedText, Inputs};
use diglot_tools::prove::{
    CHECK, ENDLESS, Fault, MOST_ROWS, NOT_NULL, REFERENCE, Rows, SqliteConnection, SqliteSchema, UNIQUE, Value,
    mentioned,
};
use serde::Deserialize;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Opens an empty database in the place of the one before.
    #[wasm_bindgen(js_name = openSqlite)]
    fn open_empty();

    /// Runs a text and gives an [`Answer`] in JSON. With arguments, a list in JSON, it is one statement, which takes as many
    /// of them as it asks for; no more than so many of its rows come back.
    #[wasm_bindgen(js_name = runSqlite)]
    fn run_text(sql: &str, arguments: Option<String>, most: usize) -> String;
}

/// What a text gave. A value is a letter for its kind, and its text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answer {
    Refused { code: String, words: String },
    Taken { rows: Vec<Vec<String>>, changes: u64 },
}

/// The connection to the database, which has the project's schema.
#[derive(Debug)]
pub(crate) struct Connection;

impl Connection {
    /// Brings the project's schema into an empty database, without the rows that it has.
    pub(crate) fn open(inputs: &Inputs) -> Result<(Self, SqliteSchema), String> {
        open_empty();
        let failed = |fault: Fault| format!("SQLite refuses the schema: {}", fault.words);
        Self.run("PRAGMA foreign_keys = ON").map_err(failed)?;
        for (file, _) in inputs.migrations(Dialect::Sqlite) {
            Self.run(&inputs.sources.file(file).text).map_err(failed)?;
        }
        Self.run(&SqliteSchema::emptying(&Self.words(SqliteSchema::TABLES)?)).map_err(failed)?;
        let schema = SqliteSchema::new(Self.words(SqliteSchema::NUMBERED)?, Self.words(SqliteSchema::TRIGGERED)?);
        Ok((Self, schema))
    }

    /// The name of the database with its version.
    pub(crate) fn version(&self) -> Result<String, String> {
        Ok(format!("SQLite {}", self.words("SELECT sqlite_version()")?.concat()))
    }

    /// What a query of one row and one column gives; nothing where it is refused.
    pub(crate) fn single(&self, query: &str) -> Option<Value> {
        self.part(query, &[]).ok()?.0.into_iter().flatten().next()
    }

    /// Whether it takes a text: its first statement, as the command line asks.
    pub(crate) fn takes(&self, text: &EmittedText) -> Result<(), Fault> {
        let first = text.parts.first().unwrap_or(&text.sql);
        self.part(&format!("EXPLAIN {first}"), &[]).map(drop)
    }

    /// What views read and triggers may write.
    pub(crate) fn relations(&self) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
        let texts = self.texts(SqliteSchema::TEXTS)?;
        let texts = texts.into_iter().filter_map(|row| <[String; 2]>::try_from(row).ok()).map(Into::into);
        Ok(mentioned(&self.words(SqliteSchema::TABLES)?, &texts.collect::<Vec<(String, String)>>()))
    }

    /// The texts of one column.
    fn words(&self, query: &str) -> Result<Vec<String>, String> {
        Ok(self.texts(query)?.into_iter().flatten().collect())
    }

    fn texts(&self, query: &str) -> Result<Vec<Vec<String>>, String> {
        let text = |value| if let Value::Text(text) = value { text } else { String::new() };
        let rows = self.part(query, &[]).map_err(|fault| fault.words)?.0;
        Ok(rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
    }
}

impl SqliteConnection for Connection {
    fn part(&self, sql: &str, arguments: &[Value]) -> Result<(Rows, u64), Fault> {
        let arguments: Vec<String> = arguments.iter().map(sent).collect();
        let (rows, changes) = answer(&run_text(sql, serde_json::to_string(&arguments).ok(), MOST_ROWS + 1))?;
        if rows.len() > MOST_ROWS {
            return Err(Fault { kind: ENDLESS, ..Fault::of("too many rows") });
        }
        let value = |text: &String| value(text).ok_or_else(|| Fault::of(format!("{text} is no value")));
        let rows = rows.iter().map(|row| row.iter().map(value).collect()).collect::<Result<_, _>>()?;
        Ok((rows, changes))
    }

    fn run(&self, sql: &str) -> Result<(), Fault> {
        answer(&run_text(sql, None, 0)).map(drop)
    }

    fn is_autocommit(&self) -> bool {
        // The library does not show its own flag: a transaction begins where none is open.
        self.run("BEGIN").and_then(|()| self.run("ROLLBACK")).is_ok()
    }
}

fn answer(json: &str) -> Result<(Vec<Vec<String>>, u64), Fault> {
    match serde_json::from_str(json) {
        Ok(Answer::Taken { rows, changes }) => Ok((rows, changes)),
        Ok(Answer::Refused { code, words }) => Err(Fault { kind: kind(&code), ..Fault::of(words) }),
        Err(error) => Err(Fault::of(error.to_string())),
    }
}

fn kind(code: &str) -> &'static str {
    match code {
        "SQLITE_CONSTRAINT_UNIQUE" | "SQLITE_CONSTRAINT_PRIMARYKEY" => UNIQUE,
        "SQLITE_CONSTRAINT_FOREIGNKEY" => REFERENCE,
        "SQLITE_CONSTRAINT_NOTNULL" => NOT_NULL,
        "SQLITE_CONSTRAINT_CHECK" => CHECK,
        _ => "",
    }
}

/// A plain value as it is sent.
fn sent(value: &Value) -> String {
    match value {
        Value::Int(n) => format!("i{n}"),
        Value::Real(r) if r.is_infinite() => if *r > 0.0 { "rInfinity" } else { "r-Infinity" }.to_owned(),
        Value::Real(r) => format!("r{r:?}"),
        Value::Text(text) => format!("t{text}"),
        Value::Bytes(bytes) => bytes.iter().fold("b".to_owned(), |mut text, byte| {
            // A String takes everything.
            let _ = write!(text, "{byte:02x}");
            text
        }),
        _ => "n".to_owned(),
    }
}

fn value(text: &str) -> Option<Value> {
    let (kind, rest) = text.split_at_checked(1)?;
    Some(match kind {
        "n" => Value::Null,
        "i" => Value::Int(rest.parse().ok()?),
        "r" => Value::Real(rest.parse().ok()?),
        "t" => Value::Text(rest.to_owned()),
        _ => {
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            Value::Bytes(rest.as_bytes().chunks(2).map(byte).collect::<Option<_>>()?)
        }
    })
}
