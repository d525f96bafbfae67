//! A value that both engines hold, each in its own way.

mod moment;

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value as Json;

use crate::dialect::Dialect;
use crate::digest::hex;
use crate::types::Base;

pub use moment::canonical;
pub use moment::{held, microseconds, spelled};

/// Rows of values.
pub type Rows = Vec<Vec<Value>>;

/// A value of a row, an argument or a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number of any width.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A UUID.
    Uuid([u8; 16]),
    /// A JSON document.
    Json(Json),
    /// An array.
    List(Vec<Value>),
    /// What no other kind holds, in the engine's own words: a decimal number, a time stamp.
    Other(String),
}

impl Value {
    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Real(_) => 3,
            Self::Text(_) => 4,
            Self::Bytes(_) => 5,
            Self::Uuid(_) => 6,
            Self::Json(_) => 7,
            Self::List(_) => 8,
            Self::Other(_) => 9,
        }
    }

    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Bool(_) => "a truth value",
            Self::Int(_) => "a whole number",
            Self::Real(_) => "a floating-point number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::Uuid(_) => "an id",
            Self::Json(_) => "a document",
            Self::List(_) => "a list",
            Self::Other(_) => "of another type",
        }
    }

    /// An order that has nothing to do with any engine's: it makes multisets comparable.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Real(a), Self::Real(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) | (Self::Other(a), Self::Other(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Uuid(a), Self::Uuid(b)) => a.cmp(b),
            (Self::Json(a), Self::Json(b)) => a.to_string().cmp(&b.to_string()),
            (Self::List(a), Self::List(b)) => {
                let items = a.iter().zip(b).map(|(a, b)| a.compare(b)).find(|order| order.is_ne());
                items.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }

    /// The value as one of another kind, where that says the same: what a column of that kind would hold.
    pub fn into_base(self, base: &Base) -> Option<Self> {
        Some(match (self, base) {
            (Self::Null, _) => Self::Null,
            (Self::Uuid(id), Base::Text) => Self::Text(hyphenated(&id)),
            (Self::Uuid(id), Base::Bytes) => Self::Bytes(id.to_vec()),
            (value @ Self::Uuid(_), Base::Uuid) => value,
            (Self::Text(text), Base::Bytes) => Self::Bytes(text.into_bytes()),
            (Self::Text(text), Base::Uuid) => Self::Uuid(parse_uuid(&text)?),
            (value @ Self::Text(_), Base::Text) => value,
            (Self::Text(text), Base::Enum(words)) => words.words.contains(&text).then_some(Self::Text(text))?,
            (Self::Text(text), Base::Timestamp | Base::DateTime | Base::Date | Base::TimeOfDay) => {
                microseconds(&text).map(|_| Self::Text(text))?
            }
            (Self::Text(text), Base::Int16 | Base::Int32 | Base::Int64) => Self::Int(text.trim().parse().ok()?),
            (Self::Text(text), Base::Json) => Self::Json(serde_json::from_str(&text).unwrap_or(Json::String(text))),
            (Self::Bool(b), Base::Int16 | Base::Int32 | Base::Int64) => Self::Int(i64::from(b)),
            (value @ Self::Bool(_), Base::Bool) => value,
            (Self::Int(n), Base::Bool) => Self::Bool(match n {
                0 => false,
                1 => true,
                _ => return None,
            }),
            (Self::Int(n), Base::Int16) => Self::Int(i16::try_from(n).ok()?.into()),
            (Self::Int(n), Base::Int32) => Self::Int(i32::try_from(n).ok()?.into()),
            (value @ Self::Int(_), Base::Int64 | Base::Numeric) => value,
            (Self::Int(n), Base::Float64) => Self::Real(n as f64),
            (Self::Int(n), Base::Text) => Self::Text(n.to_string()),
            (Self::Int(n), Base::Json) => Self::Json(n.into()),
            (value @ Self::Real(_), Base::Float64 | Base::Numeric) => value,
            (value @ Self::Bytes(_), Base::Bytes) => value,
            (value @ Self::Json(_), Base::Json) => value,
            (value @ Self::List(_), Base::TextArray | Base::Int64Array | Base::UuidArray) => value,
            _ => return None,
        })
    }

    /// The literal for an INSERT into a column of a kind.
    pub fn literal(&self, dialect: Dialect, column: &Base) -> String {
        if let (Some(stored), Dialect::Sqlite) = (column.stored(), dialect) {
            return held(self, stored).literal(dialect, stored.form.seen());
        }
        match (self, dialect) {
            (Self::Null, _) => "NULL".into(),
            (Self::Bool(b), Dialect::Sqlite) => u8::from(*b).to_string(),
            // The least integer has no literal of its own: what stands behind the minus would be too large.
            (Self::Int(i64::MIN), Dialect::Sqlite) => "(-9223372036854775807 - 1)".into(),
            (Self::Int(n), Dialect::Sqlite) => n.to_string(),
            (Self::Real(r), Dialect::Sqlite) if r.is_infinite() => {
                if *r > 0.0 {
                    "9e999".into()
                } else {
                    "-9e999".into()
                }
            }
            (Self::Real(r), Dialect::Sqlite) => format!("{r:?}"),
            (Self::Bytes(bytes), Dialect::Sqlite) => format!("X'{}'", hex(bytes)),
            (Self::Uuid(id), Dialect::Sqlite) => match column {
                Base::Text => quoted(&hyphenated(id)),
                _ => format!("X'{}'", hex(id)),
            },
            (Self::Json(json), _) => quoted(&json.to_string()),
            (Self::List(items), Dialect::Sqlite) => quoted(&list_as_json(items).to_string()),
            (Self::Text(text) | Self::Other(text), _) => quoted(text),
            // A literal without a type takes the column's on Postgres.
            (Self::Bool(b), Dialect::Pg) => quoted(&b.to_string()),
            (Self::Int(n), Dialect::Pg) => quoted(&n.to_string()),
            (Self::Real(r), Dialect::Pg) => quoted(&r.to_string()),
            (Self::Bytes(bytes), Dialect::Pg) => quoted(&format!("\\x{}", hex(bytes))),
            (Self::Uuid(id), Dialect::Pg) => quoted(&hyphenated(id)),
            (Self::List(items), Dialect::Pg) => {
                let item = |item: &Value| {
                    let text = item.to_string();
                    let text = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).unwrap_or(&text).to_owned();
                    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
                };
                quoted(&format!("{{{}}}", items.iter().map(item).collect::<Vec<_>>().join(",")))
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Real(r) => write!(f, "{r:?}"),
            Self::Text(text) => write!(f, "'{text}'"),
            Self::Bytes(bytes) => write!(f, "0x{}", hex(bytes)),
            Self::Uuid(id) => f.write_str(&hyphenated(id)),
            Self::Json(json) => write!(f, "{json}"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Other(words) => f.write_str(words),
        }
    }
}

/// The JSON array by which SQLite knows a list.
pub fn list_as_json(items: &[Value]) -> Json {
    let item = |item: &Value| match item {
        Value::Int(n) => Json::from(*n),
        Value::Text(text) => Json::from(text.as_str()),
        Value::Uuid(id) => Json::from(hyphenated(id)),
        Value::Bool(b) => Json::from(*b),
        Value::Json(json) => json.clone(),
        _ => Json::Null,
    };
    items.iter().map(item).collect()
}

pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A UUID as text.
pub fn hyphenated(id: &[u8; 16]) -> String {
    let text = hex(id);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

pub fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| *byte != b'-')
        .map(|byte| char::from(byte).to_digit(16).map_or(255, |d| d as u8))
        .collect();
    if text.len() != 36 || digits.len() != 32 || digits.contains(&255) {
        return None;
    }
    let mut id = [0; 16];
    for (byte, pair) in id.iter_mut().zip(digits.chunks(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_what_its_column_understands() {
        let id = Value::Uuid([0x11; 16]);
        assert_eq!(id.literal(Dialect::Sqlite, &Base::Bytes), format!("X'{}'", "11".repeat(16)));
        assert_eq!(id.literal(Dialect::Sqlite, &Base::Text), "'11111111-1111-1111-1111-111111111111'");
        assert_eq!(Value::Text("it's".into()).literal(Dialect::Pg, &Base::Text), "'it''s'");
        let list = Value::List(vec![Value::Text("a\"b\\".into()), Value::Text(String::new())]);
        assert_eq!(list.literal(Dialect::Pg, &Base::TextArray), r#"'{"a\"b\\",""}'"#);
        assert_eq!(list.literal(Dialect::Sqlite, &Base::Text), r#"'["a\"b\\",""]'"#);
        assert_eq!(Value::Int(i64::MIN).literal(Dialect::Pg, &Base::Int64), "'-9223372036854775808'");
    }

    #[test]
    fn a_uuid_survives_its_text() {
        let id = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xab, 0xcd, 0xef, 13, 14, 255];
        assert_eq!(parse_uuid(&hyphenated(&id)), Some(id));
        assert_eq!(parse_uuid("nonsense"), None);
        assert_eq!(parse_uuid(&"x".repeat(36)), None);
    }

    #[test]
    fn a_number_that_does_not_fit_is_no_value_of_the_narrower_kind() {
        assert_eq!(Value::Int(40_000).into_base(&Base::Int16), None);
        assert_eq!(Value::Int(2).into_base(&Base::Bool), None);
        assert_eq!(Value::Int(1).into_base(&Base::Bool), Some(Value::Bool(true)));
    }
}
