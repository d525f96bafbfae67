//! The list of rows that a statement takes, as the generated functions send it.

use diglot::prove::{Case, Subject, Value, held};
use diglot::{TextParam, types};
use serde_json::Value as Json;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, Postgres};
use sqlx::{Encode, Type};
use types::{Base, Form};

use super::{Moment, Untyped};
use crate::prepare::pg::{type_info, type_of};

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
    let digits = |bytes: &[u8]| text(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    match value {
        Value::Uuid(id) if field.stored.is_some_and(|stored| stored.form == Form::Hyphenated) => {
            text(&uuid::Uuid::from_bytes(*id).hyphenated().to_string())
        }
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
pub(super) struct Array {
    values: Vec<Value>,
    base: Base,
    ty: PgTypeInfo,
}

impl Array {
    pub(super) fn of(subject: &Subject, case: &Case, field: &str, param: &TextParam) -> Self {
        let rows = subject.rows.as_ref();
        let place = rows.and_then(|rows| rows.fields.iter().position(|known| known.name == field));
        let list = match rows.and_then(|rows| case.args.get(&rows.name)) {
            Some(Value::List(list)) => list.as_slice(),
            _ => &[],
        };
        let value = |row: &Value| match (row, place) {
            (Value::List(values), Some(at)) => values.get(at).cloned().unwrap_or(Value::Null),
            _ => Value::Null,
        };
        // A decimal is sent as the number that it is drawn as.
        let sent = if param.ty.base == Base::Numeric { Base::Float64 } else { param.ty.base.clone() };
        let ty = type_of(&TextParam { ty: types::Type { base: sent, nullable: true }, ..param.clone() });
        Self { values: list.iter().map(value).collect(), base: param.ty.base.clone(), ty }
    }

    /// The bytes of one element; nothing for NULL.
    fn element(&self, value: &Value, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        match (value, &self.base) {
            (value, base) if base.is_time() => Moment::of(value, base).encode_by_ref(buffer),
            (Value::Null, _) | (Value::List(_), _) => Ok(IsNull::Yes),
            (Value::Int(n), Base::Int16) => Encode::<Postgres>::encode_by_ref(&i16::try_from(*n)?, buffer),
            (Value::Int(n), Base::Int32) => Encode::<Postgres>::encode_by_ref(&i32::try_from(*n)?, buffer),
            (Value::Int(n), Base::Numeric) => Encode::<Postgres>::encode_by_ref(&(*n as f64), buffer),
            (Value::Int(n), _) => Encode::<Postgres>::encode_by_ref(n, buffer),
            (Value::Bool(truth), _) => Encode::<Postgres>::encode_by_ref(truth, buffer),
            (Value::Real(r), _) => Encode::<Postgres>::encode_by_ref(r, buffer),
            (Value::Json(json), _) => {
                // The version of the binary form of jsonb.
                buffer.push(1);
                buffer.extend(json.to_string().as_bytes());
                Ok(IsNull::No)
            }
            (Value::Text(text) | Value::Other(text), _) => {
                buffer.extend(text.as_bytes());
                Ok(IsNull::No)
            }
            (Value::Bytes(bytes), _) => {
                buffer.extend(bytes);
                Ok(IsNull::No)
            }
            (Value::Uuid(id), _) => {
                buffer.extend(id);
                Ok(IsNull::No)
            }
        }
    }
}

impl Type<Postgres> for Array {
    fn type_info() -> PgTypeInfo {
        Untyped::type_info()
    }
}

impl Encode<'_, Postgres> for Array {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let count = i32::try_from(self.values.len())?;
        // One dimension, the flag that there may be NULLs, the elements' type, their number, and that they begin at 1.
        buffer.extend(1_i32.to_be_bytes());
        buffer.extend(1_i32.to_be_bytes());
        buffer.extend(element_oid(&self.base).to_be_bytes());
        buffer.extend(count.to_be_bytes());
        buffer.extend(1_i32.to_be_bytes());
        for value in &self.values {
            let start = buffer.len();
            buffer.extend((-1_i32).to_be_bytes());
            if let IsNull::No = self.element(value, buffer)? {
                let length = i32::try_from(buffer.len() - start - 4)?;
                buffer[start..start + 4].copy_from_slice(&length.to_be_bytes());
            }
        }
        Ok(IsNull::No)
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(self.ty.clone())
    }
}

/// The number of a type in every Postgres.
fn element_oid(base: &Base) -> u32 {
    match base {
        Base::Timestamp => 1184,
        Base::DateTime => 1114,
        Base::Date => 1082,
        Base::TimeOfDay => 1083,
        Base::Numeric => type_info(&Base::Float64).oid().map_or(701, |oid| oid.0),
        base => type_info(base).oid().map_or(25, |oid| oid.0),
    }
}
