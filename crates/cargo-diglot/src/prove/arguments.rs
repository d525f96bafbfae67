//! Binds arguments as the generated functions do.

mod rows;

use diglot::prove::{Case, Subject, Value, held, list_as_json, microseconds};
use diglot::types::Base;
use diglot::{EmittedText, Holds};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo, Postgres};
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, Database, Encode, Type};
use uuid::Uuid;

use crate::prepare::pg::{type_info, type_of};

/// The arguments of a text on SQLite, which knows lists and documents as text.
pub(super) fn sqlite(text: &EmittedText, case: &Case) -> Result<SqliteArguments, BoxDynError> {
    let mut arguments = SqliteArguments::default();
    for param in &text.params {
        let value = case.args.get(&param.name).unwrap_or(&Value::Null);
        match value {
            Value::List(rows) if let Holds::Rows(fields) = &param.holds => {
                arguments.add(rows::document(rows, fields))?
            }
            Value::Json(json) => arguments.add(json.to_string())?,
            value if param.stored.is_some() => {
                let held = param.stored.map_or(Value::Null, |stored| held(value, stored));
                plain::<sqlx::Sqlite, _>(&mut arguments, &held, &Base::Text)?;
            }
            Value::List(items) if param.digits => {
                let digits = uuids(items).into_iter().map(|id| id.simple().to_string());
                arguments.add(digits.collect::<serde_json::Value>().to_string())?;
            }
            Value::List(items) => arguments.add(list_as_json(items).to_string())?,
            value => plain::<sqlx::Sqlite, _>(&mut arguments, value, &param.ty.base)?,
        }
    }
    Ok(arguments)
}

/// The arguments of a text on Postgres.
pub(super) fn pg(subject: &Subject, text: &EmittedText, case: &Case) -> Result<PgArguments, BoxDynError> {
    let mut arguments = PgArguments::default();
    for param in &text.params {
        if let Holds::Field(field) = &param.holds {
            arguments.add(rows::Array::of(subject, case, field, param))?;
            continue;
        }
        let value = case.args.get(&param.name).unwrap_or(&Value::Null);
        match (value, &param.ty.base) {
            _ if subject.untyped.contains(&param.name) => arguments.add(Untyped)?,
            (Value::Json(json), _) => arguments.add(json.clone())?,
            (Value::Null, Base::Json) => arguments.add(None::<serde_json::Value>)?,
            (Value::Int(n), Base::Int16) => arguments.add(i16::try_from(*n)?)?,
            (Value::Int(n), Base::Int32) => arguments.add(i32::try_from(*n)?)?,
            (Value::Null, Base::Int16) => arguments.add(None::<i16>)?,
            (Value::Null, Base::Int32) => arguments.add(None::<i32>)?,
            (Value::List(items), Base::TextArray) => arguments.add(texts(items))?,
            (Value::List(items), Base::Int64Array) => arguments.add(integers(items))?,
            (Value::List(items), Base::UuidArray) => arguments.add(uuids(items))?,
            (Value::Text(word), Base::Enum(_)) => arguments.add(Word(word.clone()))?,
            (_, Base::Enum(_)) => arguments.add(Untyped)?,
            (value, base) if base.is_time() => arguments.add(Moment::of(value, base))?,
            (Value::Int(n), Base::Numeric) => arguments.add(*n as f64)?,
            (Value::Null, Base::Numeric) => arguments.add(None::<f64>)?,
            (Value::Null, Base::TextArray) => arguments.add(None::<Vec<String>>)?,
            (Value::Null, Base::Int64Array) => arguments.add(None::<Vec<i64>>)?,
            (Value::Null, Base::UuidArray) => arguments.add(None::<Vec<Uuid>>)?,
            (value, base) => plain::<sqlx::Postgres, _>(&mut arguments, value, base)?,
        }
    }
    Ok(arguments)
}

/// The types of the same arguments.
pub(super) fn pg_types(subject: &Subject, text: &EmittedText) -> Vec<PgTypeInfo> {
    fn of<T: Type<Postgres>>() -> PgTypeInfo {
        T::type_info()
    }
    let known = text.params.iter().map(|param| match &param.ty.base {
        _ if param.holds != Holds::Value => type_of(param),
        _ if subject.untyped.contains(&param.name) => of::<Untyped>(),
        Base::Bool => of::<bool>(),
        Base::Int16 => of::<i16>(),
        Base::Int32 => of::<i32>(),
        Base::Int64 => of::<i64>(),
        Base::Float64 => of::<f64>(),
        Base::Bytes => of::<Vec<u8>>(),
        Base::Uuid => of::<Uuid>(),
        Base::Json => of::<serde_json::Value>(),
        Base::TextArray => of::<Vec<String>>(),
        Base::Int64Array => of::<Vec<i64>>(),
        Base::UuidArray => of::<Vec<Uuid>>(),
        Base::Text | Base::Stored(_) => of::<String>(),
        Base::Enum(_) => of::<Word>(),
        Base::Numeric => of::<f64>(),
        base @ (Base::Timestamp | Base::DateTime | Base::Date | Base::TimeOfDay | Base::Interval) => type_info(base),
    });
    known.collect()
}

/// A NULL of whatever type the server takes the parameter for.
struct Untyped;

impl Type<Postgres> for Untyped {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl Encode<'_, Postgres> for Untyped {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(IsNull::Yes)
    }
}

/// A word of an enum, which the server finds by what it stands beside.
struct Word(String);

impl Type<Postgres> for Word {
    fn type_info() -> PgTypeInfo {
        Untyped::type_info()
    }
}

impl Encode<'_, Postgres> for Word {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }
}

/// A time in the form in which the server takes it: microseconds, or days, since 2000.
struct Moment {
    value: Option<i64>,
    base: Base,
}

impl Moment {
    const START: i64 = 946_684_800_000_000;

    fn of(value: &Value, base: &Base) -> Self {
        let since_1970 = match value {
            Value::Text(text) => microseconds(text),
            _ => None,
        };
        let value = since_1970.map(|moment| match base {
            Base::TimeOfDay => moment,
            Base::Date => (moment - Self::START).div_euclid(86_400_000_000),
            _ => moment - Self::START,
        });
        Self { value, base: base.clone() }
    }
}

impl Type<Postgres> for Moment {
    fn type_info() -> PgTypeInfo {
        type_info(&Base::Timestamp)
    }
}

impl Encode<'_, Postgres> for Moment {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        match (self.value, &self.base) {
            (None, _) => Ok(IsNull::Yes),
            (Some(days), Base::Date) => Encode::<Postgres>::encode_by_ref(&i32::try_from(days)?, buffer),
            (Some(moment), _) => Encode::<Postgres>::encode_by_ref(&moment, buffer),
        }
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(type_info(&self.base))
    }
}

/// What both drivers bind alike.
fn plain<DB: Database, A: Arguments<Database = DB>>(
    arguments: &mut A,
    value: &Value,
    base: &Base,
) -> Result<(), BoxDynError>
where
    for<'q> bool: Encode<'q, DB> + Type<DB>,
    for<'q> i64: Encode<'q, DB> + Type<DB>,
    for<'q> f64: Encode<'q, DB> + Type<DB>,
    for<'q> String: Encode<'q, DB> + Type<DB>,
    for<'q> Vec<u8>: Encode<'q, DB> + Type<DB>,
    for<'q> Uuid: Encode<'q, DB> + Type<DB>,
    for<'q> Option<bool>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<i64>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<f64>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<String>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<Vec<u8>>: Encode<'q, DB> + Type<DB>,
    for<'q> Option<Uuid>: Encode<'q, DB> + Type<DB>,
{
    match (value, base) {
        (Value::Bool(truth), _) => arguments.add(*truth),
        (Value::Int(n), _) => arguments.add(*n),
        (Value::Real(r), _) => arguments.add(*r),
        (Value::Text(text) | Value::Other(text), _) => arguments.add(text.clone()),
        (Value::Bytes(bytes), _) => arguments.add(bytes.clone()),
        (Value::Uuid(id), _) => arguments.add(Uuid::from_bytes(*id)),
        (Value::Null, Base::Bool) => arguments.add(None::<bool>),
        (Value::Null, Base::Int16 | Base::Int32 | Base::Int64) => arguments.add(None::<i64>),
        (Value::Null, Base::Float64) => arguments.add(None::<f64>),
        (Value::Null, Base::Bytes) => arguments.add(None::<Vec<u8>>),
        (Value::Null, Base::Uuid) => arguments.add(None::<Uuid>),
        (Value::Null | Value::Json(_) | Value::List(_), _) => arguments.add(None::<String>),
    }
}

fn texts(items: &[Value]) -> Vec<String> {
    let text = |item: &Value| match item {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

fn integers(items: &[Value]) -> Vec<i64> {
    let integer = |item: &Value| match item {
        Value::Int(n) => Some(*n),
        _ => None,
    };
    items.iter().filter_map(integer).collect()
}

fn uuids(items: &[Value]) -> Vec<Uuid> {
    let uuid = |item: &Value| match item {
        Value::Uuid(id) => Some(Uuid::from_bytes(*id)),
        _ => None,
    };
    items.iter().filter_map(uuid).collect()
}
