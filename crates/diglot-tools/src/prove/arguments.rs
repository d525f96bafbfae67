//! What a text is given for its parameters, as the generated functions bind it.

mod rows;

use super::{Case, Fault, Subject, printed};
use diglot::digest::hex;
use diglot::emit::element;
use diglot::emitted::{EmittedText, Holds, TextParam};
use diglot::types::{Base, Type};
use diglot::value::{Value, held, hyphenated, list_as_json, microseconds, spelled};

/// The server's words for a text that no literal and no parameter can hold.
const NUL: &str = "invalid byte sequence for encoding \"UTF8\": 0x00";

/// The arguments of a text on SQLite: each of them NULL, a number, text or bytes. Lists and documents are text there.
pub fn sqlite_arguments(text: &EmittedText, case: &Case) -> Vec<Value> {
    let argument = |param: &TextParam| {
        let value = case.args.get(&param.name).unwrap_or(&Value::Null);
        match (value, &param.holds, param.stored) {
            (Value::List(rows), Holds::Rows(fields), _) => Value::Text(rows::document(rows, fields)),
            (Value::Json(json), ..) => Value::Text(json.to_string()),
            (value, _, Some(stored)) => bound(&held(value, stored)),
            (Value::List(items), ..) if param.digits => {
                let digits = items.iter().filter_map(|item| match item {
                    Value::Uuid(id) => Some(hex(id)),
                    _ => None,
                });
                Value::Text(digits.collect::<serde_json::Value>().to_string())
            }
            (value, ..) => bound(value),
        }
    };
    text.params.iter().map(argument).collect()
}

fn bound(value: &Value) -> Value {
    match value {
        Value::Null | Value::Int(_) | Value::Real(_) | Value::Text(_) | Value::Bytes(_) => value.clone(),
        Value::Bool(truth) => Value::Int(i64::from(*truth)),
        Value::Other(text) => Value::Text(text.clone()),
        Value::Uuid(id) => Value::Bytes(id.to_vec()),
        Value::Json(json) => Value::Text(json.to_string()),
        Value::List(items) => Value::Text(list_as_json(items).to_string()),
    }
}

/// The arguments of a text on Postgres, as literals for EXECUTE: they have the types that were prepared for, and say
/// the value exactly.
///
/// # Errors
/// When one of them is a text that the server has no place for.
pub fn pg_arguments(subject: &Subject, text: &EmittedText, case: &Case) -> Result<Vec<String>, Fault> {
    let literal = |param: &TextParam| {
        let words = match &param.holds {
            Holds::Field(field) => Some(rows::array(subject, case, field, &param.ty.base)),
            _ if subject.untyped.contains(&param.name) => None,
            _ => case.args.get(&param.name).and_then(|value| match value {
                Value::Text(text) if subject.printed.contains(&param.name) => Some(as_read(text)),
                value => words(value, &param.ty.base),
            }),
        };
        match words {
            None => Ok("NULL".to_owned()),
            Some(words) if words.contains('\0') => Err(Fault::of(NUL)),
            Some(words) => Ok(format!("'{}'", words.replace('\'', "''"))),
        }
    };
    text.params.iter().map(literal).collect()
}

/// A text that a program read of a document, as the server printed it.
fn as_read(text: &str) -> String {
    serde_json::from_str(text).map_or_else(|_| text.to_owned(), |document| printed(&document))
}

/// A parameter with the type in which Postgres gets it; none where the server finds out.
pub fn as_sent_to_pg(subject: &Subject, param: &TextParam) -> Option<TextParam> {
    let of = |base: Base| TextParam { ty: Type::required(base), ..param.clone() };
    match &param.ty.base {
        // The server finds out what the column takes.
        _ if matches!(param.holds, Holds::Carried(_)) => None,
        // A decimal is sent as the number that it is drawn as.
        Base::Numeric => Some(of(Base::Float64)),
        _ if param.holds != Holds::Value => Some(param.clone()),
        _ if subject.untyped.contains(&param.name) => None,
        // What SQLite alone has in such a form is text.
        Base::Stored(_) => Some(of(Base::Text)),
        // The server finds an enum by what the parameter stands beside.
        Base::Enum(_) => None,
        _ => Some(param.clone()),
    }
}

/// The types of the same arguments, as PREPARE takes them.
pub fn pg_types(subject: &Subject, text: &EmittedText) -> Vec<String> {
    let name = |param: &TextParam| match as_sent_to_pg(subject, param) {
        None => "unknown".to_owned(),
        Some(TextParam { holds: Holds::Value, ty, .. }) => match ty.base {
            Base::Int16 => "smallint".to_owned(),
            Base::Int32 => "integer".to_owned(),
            base => base.pg_name().to_owned(),
        },
        Some(field) => format!("{}[]", element(&field.ty.base)),
    };
    text.params.iter().map(name).collect()
}

/// How the server reads a value of a type; none for NULL.
fn words(value: &Value, base: &Base) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Text(text) if base.is_time() => moment(text, base),
        Value::Text(text) | Value::Other(text) => text.clone(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Real(r) => r.to_string(),
        Value::Bytes(bytes) => format!("\\x{}", hex(bytes)),
        Value::Uuid(id) => hyphenated(id),
        Value::Json(json) => json.to_string(),
        Value::List(items) => list(items.iter().map(|item| words(item, &Base::Text))),
    })
}

/// An array of one dimension.
fn list(items: impl Iterator<Item = Option<String>>) -> String {
    let quoted = |item: Option<String>| match item {
        None => "NULL".to_owned(),
        Some(words) => format!("\"{}\"", words.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    format!("{{{}}}", items.map(quoted).collect::<Vec<_>>().join(","))
}

/// A time in UTC, as far as a type keeps it.
fn moment(text: &str, base: &Base) -> String {
    // What is no time in one of the forms that are known is for the server to read.
    let Some(since_1970) = microseconds(text) else { return text.to_owned() };
    let whole = spelled(since_1970);
    match (base, whole.split_once(' ')) {
        (Base::Timestamp, _) => format!("{whole}+00"),
        (Base::Date, Some((day, _))) => day.to_owned(),
        (Base::TimeOfDay, Some((_, time))) => time.to_owned(),
        _ => whole,
    }
}
