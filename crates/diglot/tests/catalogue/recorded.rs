//! The answers that `prepare` would have recorded for a case: the rows that both engines gave, for texts that give the
//! same at all times.

use std::collections::BTreeMap;

use diglot::answers::{self, Described};
use diglot::dialect::Dialect;
use diglot::{Compiled, Inputs};
use diglot_tools::prove::{Rows, Value};

/// The text of the file with the answers.
pub(crate) fn answers(case: &toml::Table, inputs: &Inputs, compiled: &Compiled) -> String {
    let records: BTreeMap<_, _> = compiled
        .texts
        .iter()
        .map(|text| {
            let seen = match text.dialect {
                Dialect::Sqlite => "sqlite_result",
                Dialect::Pg => "pg_result",
            };
            let rows = if text.constant { case.get(seen).and_then(rows) } else { None };
            (answers::key(text), answers::record(text, &Described { rows, ..Described::default() }))
        })
        .collect();
    answers::index(inputs, &records)
}

/// The rows of a result; none of one that is no list of rows of plain values.
fn rows(result: &toml::Value) -> Option<Rows> {
    let row = |row: &toml::Value| row.as_array()?.iter().map(|seen| value(seen.as_str()?)).collect();
    result.as_array()?.iter().map(row).collect()
}

fn value(seen: &str) -> Option<Value> {
    if seen == "null" {
        return Some(Value::Null);
    }
    let (kind, words) = seen.split_once(':')?;
    Some(match kind {
        "int" | "int2" | "int4" | "int8" => Value::Int(words.parse().ok()?),
        "real" | "float8" => Value::Real(words.parse().ok()?),
        "bool" => Value::Bool(words.parse().ok()?),
        "text" => Value::Text(words.to_owned()),
        _ => return None,
    })
}
