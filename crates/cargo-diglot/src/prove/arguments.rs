//! What a text is given for its parameters, as the generated functions bind it.

mod rows;

use diglot::prove::{Case, Fault, Subject, Value, held, list_as_json, microseconds, printed, spelled};
use diglot::types::{Base, Type};
use diglot::{EmittedText, Holds, TextParam};
use rusqlite::types::Value as Bound;
use sqlx::postgres::PgTypeInfo;
use uuid::Uuid;

use crate::prepare::pg::{FOUND_OUT, type_info, type_of};

/// The server's words for a text that no literal and no parameter can hold.
const NUL: &str = "invalid byte sequence for encoding \"UTF8\": 0x00";

/// The arguments of a text on SQLite, which knows lists and documents as text.
pub(super) fn sqlite(text: &EmittedText, case: &Case) -> Vec<Bound> {
    let argument = |param: &TextParam| {
        let value = case.args.get(&param.name).unwrap_or(&Value::Null);
        match (value, &param.holds, param.stored) {
            (Value::List(rows), Holds::Rows(fields), _) => Bound::Text(rows::document(rows, fields)),
            (Value::Json(json), ..) => Bound::Text(json.to_string()),
            (value, _, Some(stored)) => bound(&held(value, stored)),
            (Value::List(items), ..) if param.digits => {
                let digits = items.iter().filter_map(|item| match item {
                    Value::Uuid(id) => Some(Uuid::from_bytes(*id).simple().to_string()),
                    _ => None,
                });
                Bound::Text(digits.collect::<serde_json::Value>().to_string())
            }
            (value, ..) => bound(value),
        }
    };
    text.params.iter().map(argument).collect()
}

fn bound(value: &Value) -> Bound {
    match value {
        Value::Null => Bound::Null,
        Value::Bool(truth) => Bound::Integer(i64::from(*truth)),
        Value::Int(n) => Bound::Integer(*n),
        Value::Real(r) => Bound::Real(*r),
        Value::Text(text) | Value::Other(text) => Bound::Text(text.clone()),
        Value::Bytes(bytes) => Bound::Blob(bytes.clone()),
        Value::Uuid(id) => Bound::Blob(id.to_vec()),
        Value::Json(json) => Bound::Text(json.to_string()),
        Value::List(items) => Bound::Text(list_as_json(items).to_string()),
    }
}

/// The arguments of a text on Postgres, as literals for EXECUTE: they have the types that were prepared for, and say
/// the value exactly.
pub(super) fn pg(subject: &Subject, text: &EmittedText, case: &Case) -> Result<Vec<String>, Fault> {
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

/// The types of the same arguments.
pub(super) fn pg_infos(subject: &Subject, text: &EmittedText) -> Vec<PgTypeInfo> {
    let of_param = |param: &TextParam| match &param.ty.base {
        // A decimal is sent as the number that it is drawn as.
        Base::Numeric => type_of(&TextParam { ty: Type::required(Base::Float64), ..param.clone() }),
        _ if param.holds != Holds::Value => type_of(param),
        _ if subject.untyped.contains(&param.name) => PgTypeInfo::with_oid(FOUND_OUT),
        // What SQLite alone has in such a form is text.
        Base::Stored(_) => type_info(&Base::Text),
        base => type_info(base),
    };
    text.params.iter().map(of_param).collect()
}

/// Their names, as PREPARE takes them.
pub(super) fn pg_types(subject: &Subject, text: &EmittedText) -> Vec<String> {
    // A type that the server is to find out has no name that PREPARE takes.
    let name = |ty: PgTypeInfo| if ty.oid() == Some(FOUND_OUT) { "unknown".to_owned() } else { ty.to_string() };
    pg_infos(subject, text).into_iter().map(name).collect()
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
        Value::Bytes(bytes) => format!("\\x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        Value::Uuid(id) => Uuid::from_bytes(*id).hyphenated().to_string(),
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
