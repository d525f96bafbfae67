//! The list of rows that a statement takes, as the generated functions send it.

use serde_json::Value as Json;

use super::words;
use crate::prove::{Case, Subject};
use diglot::digest::hex;
use diglot::emitted::TextParam;
use diglot::types::{Base, Form};
use diglot::value::{Value, held, hyphenated};

/// The document that SQLite gets: every row an array of the values of its fields.
pub(super) fn document(rows: &[Value], fields: &[TextParam]) -> String {
    let row = |row: &Value| match row {
        Value::List(values) => {
            let cells = values.iter().zip(fields).map(|(value, field)| cell(value, field));
            format!("[{}]", cells.collect::<Vec<_>>().join(","))
        }
        _ => "[]".to_owned(),
    };
    format!("[{}]", rows.iter().map(row).collect::<Vec<_>>().join(","))
}

fn cell(value: &Value, field: &TextParam) -> String {
    let text = |text: &str| Json::from(text).to_string();
    let digits = |bytes: &[u8]| text(&hex(bytes));
    match value {
        Value::Uuid(id) if field.stored.is_some_and(|stored| stored.form == Form::Hyphenated) => text(&hyphenated(id)),
        value if field.stored.is_some() => {
            let plain = TextParam { stored: None, ..field.clone() };
            field.stored.map_or_else(String::new, |stored| cell(&held(value, stored), &plain))
        }
        Value::Null | Value::List(_) => "null".to_owned(),
        Value::Bool(truth) => i64::from(*truth).to_string(),
        Value::Int(n) => n.to_string(),
        Value::Real(r) if r.is_nan() => "null".to_owned(),
        Value::Real(r) if r.is_infinite() => if *r > 0.0 { "9e999" } else { "-9e999" }.to_owned(),
        Value::Real(r) => format!("{r:?}"),
        Value::Text(plain) | Value::Other(plain) => text(plain),
        Value::Json(json) => text(&json.to_string()),
        Value::Bytes(bytes) => digits(bytes),
        Value::Uuid(id) => digits(id),
    }
}

/// The array that Postgres gets for one field.
pub(super) fn array(subject: &Subject, case: &Case, field: &str, base: &Base) -> String {
    let rows = subject.rows.as_ref();
    let place = rows.and_then(|rows| rows.fields.iter().position(|known| known.name == field));
    let list = match rows.and_then(|rows| case.args.get(&rows.name)) {
        Some(Value::List(list)) => list.as_slice(),
        _ => &[],
    };
    let value = |row: &Value| match (row, place) {
        (Value::List(values), Some(at)) => values.get(at).and_then(|value| words(value, base)),
        _ => None,
    };
    super::list(list.iter().map(value))
}
