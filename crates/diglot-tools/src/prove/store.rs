//! A case as a file: what `cargo diglot prove` prints for a difference and runs again when it is kept.

use std::collections::BTreeMap;

use super::cases::{Case, Row};
use diglot::value::{Value, hyphenated, list_as_json, parse_uuid};

/// What is wrong with a kept case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(String);

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    statement: String,
    #[serde(default)]
    args: BTreeMap<String, String>,
    #[serde(default)]
    rows: BTreeMap<String, Vec<BTreeMap<String, String>>>,
}

/// Values by name, as words.
type Words = BTreeMap<String, String>;

impl Case {
    /// The rows of each table and the arguments, every value as the word that a kept case has for it.
    pub fn to_words(&self) -> (BTreeMap<String, Vec<Words>>, Words) {
        let words = |row: &Row| row.iter().map(|(name, value)| (name.clone(), word(value))).collect();
        let rows = self.rows.iter().map(|(table, rows)| (table.clone(), rows.iter().map(words).collect())).collect();
        (rows, words(&self.args))
    }

    /// The case of these words; none where one of them is no value.
    pub fn from_words(rows: &BTreeMap<String, Vec<Words>>, args: &Words) -> Option<Self> {
        let row = |words: &Words| -> Option<Row> {
            words.iter().map(|(name, word)| Some((name.clone(), value(word)?))).collect()
        };
        let table = |(table, rows): (&String, &Vec<Words>)| {
            Some((table.clone(), rows.iter().map(row).collect::<Option<Vec<Row>>>()?))
        };
        Some(Self { rows: rows.iter().map(table).collect::<Option<_>>()?, args: row(args)? })
    }

    /// The text of the file that keeps this case of a statement.
    pub fn to_toml(&self, statement: &str) -> String {
        let (rows, args) = self.to_words();
        let stored = Stored { statement: statement.to_owned(), args, rows };
        // Maps of texts always have a form in TOML.
        toml::to_string(&stored).unwrap_or_default()
    }

    /// Reads a kept case, with the name of its statement.
    ///
    /// # Errors
    /// When the text is not TOML of this form, or a value is none.
    pub fn from_toml(text: &str) -> Result<(String, Case), StoreError> {
        let stored: Stored = toml::from_str(text).map_err(|error| StoreError(error.message().to_owned()))?;
        let row = |words: BTreeMap<String, String>| -> Result<Row, StoreError> {
            let value = |(name, word): (String, String)| match value(&word) {
                Some(value) => Ok((name, value)),
                None => Err(StoreError(format!("`{word}` of `{name}` is no value: write `null`, `int:1`, `text:a`…"))),
            };
            words.into_iter().map(value).collect()
        };
        let mut case = Case { args: row(stored.args)?, rows: BTreeMap::new() };
        for (table, rows) in stored.rows {
            case.rows.insert(table, rows.into_iter().map(row).collect::<Result<_, _>>()?);
        }
        Ok((stored.statement, case))
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(truth) => format!("bool:{truth}"),
        Value::Int(n) => format!("int:{n}"),
        Value::Real(r) => format!("real:{r:?}"),
        Value::Text(text) => format!("text:{text}"),
        Value::Bytes(_) => format!("bytes:{}", value.to_string().trim_start_matches("0x")),
        Value::Uuid(id) => format!("uuid:{}", hyphenated(id)),
        Value::Json(json) => format!("json:{json}"),
        Value::List(items) if items.iter().any(|item| matches!(item, Value::Uuid(_))) => {
            format!("uuids:{}", list_as_json(items))
        }
        Value::List(rows) if rows.iter().any(|row| matches!(row, Value::List(_))) => {
            let row = |row: &Value| match row {
                Value::List(values) => values.iter().map(word).collect(),
                _ => Vec::new(),
            };
            let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
            format!("rows:{}", serde_json::json!(rows))
        }
        Value::List(items) => format!("list:{}", list_as_json(items)),
        Value::Other(words) => format!("other:{words}"),
    }
}

fn value(word: &str) -> Option<Value> {
    let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
    let items = || serde_json::from_str::<Vec<serde_json::Value>>(rest).ok();
    Some(match kind {
        "null" => Value::Null,
        "bool" => Value::Bool(rest.parse().ok()?),
        "int" => Value::Int(rest.parse().ok()?),
        "real" => Value::Real(rest.parse().ok()?),
        "text" => Value::Text(rest.to_owned()),
        "bytes" => {
            let pairs = rest.as_bytes().chunks(2);
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            Value::Bytes(pairs.map(byte).collect::<Option<_>>()?)
        }
        "uuid" => Value::Uuid(parse_uuid(rest)?),
        "json" => Value::Json(serde_json::from_str(rest).ok()?),
        "uuids" => {
            let ids = items()?.into_iter().map(|item| item.as_str().and_then(parse_uuid).map(Value::Uuid));
            Value::List(ids.collect::<Option<_>>()?)
        }
        "list" => {
            let item = |item: serde_json::Value| match item {
                serde_json::Value::String(text) => Value::Text(text),
                serde_json::Value::Null => Value::Null,
                item => item.as_i64().map_or(Value::Json(item), Value::Int),
            };
            Value::List(items()?.into_iter().map(item).collect())
        }
        "rows" => {
            let rows: Vec<Vec<String>> = serde_json::from_str(rest).ok()?;
            let row =
                |row: Vec<String>| row.iter().map(|word| value(word)).collect::<Option<Vec<_>>>().map(Value::List);
            Value::List(rows.into_iter().map(row).collect::<Option<_>>()?)
        }
        "other" => Value::Other(rest.to_owned()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_survives_its_file() {
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Real(-0.0),
            Value::Text("a:b\n\"ä\"".into()),
            Value::Bytes(vec![0, 255]),
            Value::Uuid([7; 16]),
            Value::Json(serde_json::json!({"a": [null, 1.5]})),
            Value::List(vec![Value::Uuid([1; 16])]),
            Value::List(vec![Value::Text("x".into()), Value::Null]),
            Value::List(vec![Value::Int(3)]),
            Value::List(vec![
                Value::List(vec![Value::Null, Value::Bytes(vec![1])]),
                Value::List(vec![Value::Int(1), Value::Null]),
            ]),
        ];
        let row: Row = values.into_iter().enumerate().map(|(at, value)| (format!("c{at}"), value)).collect();
        let case = Case { args: row.clone(), rows: [("job".to_owned(), vec![row, Row::new()])].into() };
        assert_eq!(Case::from_toml(&case.to_toml("job_read")), Ok(("job_read".to_owned(), case)));
    }

    #[test]
    fn a_word_that_is_no_value_is_told() {
        let error = Case::from_toml("statement = \"x\"\n[args]\nn = \"integer:1\"\n").unwrap_err();
        assert!(error.to_string().starts_with("`integer:1` of `n` is no value"), "{error}");
    }
}
