//! Binds arguments as the generated functions do.

use diglot::EmittedText;
use diglot::prove::{Case, Subject, Value, list_as_json};
use diglot::types::Base;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo, Postgres};
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, Database, Encode, Type};
use uuid::Uuid;

/// The arguments of a text on SQLite, which knows lists and documents as text.
pub(super) fn sqlite(text: &EmittedText, case: &Case) -> Result<SqliteArguments, BoxDynError> {
    let mut arguments = SqliteArguments::default();
    for param in &text.params {
        let value = case.args.get(&param.name).unwrap_or(&Value::Null);
        match value {
            Value::Json(json) => arguments.add(json.to_string())?,
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
        Base::Text | Base::Numeric | Base::Timestamp => of::<String>(),
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
