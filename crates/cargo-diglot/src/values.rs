//! Reads the drivers' values, whatever their type.

use diglot_tools::prove::{Value, spelled};
use sqlx::postgres::{PgRow, PgTypeKind, PgValueRef};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, TypeInfo, ValueRef};
use uuid::Uuid;

/// A row of SQLite: every value is of the kind that it is stored as.
pub(crate) fn of_sqlite(row: &SqliteRow) -> Result<Vec<Value>, sqlx::Error> {
    (0..row.len()).map(|at| sqlite(row, at)).collect()
}

fn sqlite(row: &SqliteRow, at: usize) -> Result<Value, sqlx::Error> {
    let kind = {
        let raw = row.try_get_raw(at)?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        raw.type_info().name().to_owned()
    };
    Ok(match kind.as_str() {
        "INTEGER" | "BOOLEAN" => Value::Int(row.try_get_unchecked(at)?),
        "REAL" => Value::Real(row.try_get_unchecked(at)?),
        "TEXT" => Value::Text(row.try_get_unchecked(at)?),
        _ => Value::Bytes(row.try_get_unchecked(at)?),
    })
}

/// A row of Postgres.
pub(crate) fn of_pg(row: &PgRow) -> Result<Vec<Value>, sqlx::Error> {
    (0..row.len()).map(|at| pg(row, at)).collect()
}

fn pg(row: &PgRow, at: usize) -> Result<Value, sqlx::Error> {
    let raw = row.try_get_raw(at)?;
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let kind = raw.type_info().name().to_owned();
    Ok(match kind.as_str() {
        "BOOL" => Value::Bool(row.try_get(at)?),
        "INT2" => Value::Int(row.try_get::<i16, _>(at)?.into()),
        "INT4" => Value::Int(row.try_get::<i32, _>(at)?.into()),
        "INT8" => Value::Int(row.try_get(at)?),
        "FLOAT4" => Value::Real(row.try_get::<f32, _>(at)?.into()),
        "FLOAT8" => Value::Real(row.try_get(at)?),
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "UNKNOWN" | "CITEXT" => Value::Text(row.try_get_unchecked(at)?),
        "BYTEA" => Value::Bytes(row.try_get(at)?),
        "UUID" => Value::Uuid(row.try_get::<Uuid, _>(at)?.into_bytes()),
        "JSON" | "JSONB" => Value::Json(row.try_get(at)?),
        "TEXT[]" | "VARCHAR[]" => {
            let items: Vec<Option<String>> = row.try_get(at)?;
            Value::List(items.into_iter().map(|item| item.map_or(Value::Null, Value::Text)).collect())
        }
        "INT8[]" => {
            let items: Vec<Option<i64>> = row.try_get(at)?;
            Value::List(items.into_iter().map(|item| item.map_or(Value::Null, Value::Int)).collect())
        }
        "INT4[]" => {
            let items: Vec<Option<i32>> = row.try_get(at)?;
            Value::List(items.into_iter().map(|item| item.map_or(Value::Null, |n| Value::Int(n.into()))).collect())
        }
        "UUID[]" => {
            let items: Vec<Option<Uuid>> = row.try_get(at)?;
            Value::List(
                items.into_iter().map(|item| item.map_or(Value::Null, |id| Value::Uuid(id.into_bytes()))).collect(),
            )
        }
        "TIMESTAMPTZ" | "TIMESTAMP" | "DATE" | "TIME" => {
            time(&kind, &raw).map_or_else(|| Value::Other(other(&kind, &raw)), Value::Text)
        }
        _ if matches!(raw.type_info().kind(), PgTypeKind::Enum(_)) => Value::Text(row.try_get_unchecked(at)?),
        kind => Value::Other(other(kind, &raw)),
    })
}

/// The text of a time, which the server counts in microseconds, or days, from the beginning of 2000.
fn time(kind: &str, raw: &PgValueRef<'_>) -> Option<String> {
    const START: i64 = 946_684_800_000_000;
    let bytes = raw.as_bytes().ok()?;
    let number = || bytes.try_into().ok().map(i64::from_be_bytes);
    match kind {
        "DATE" => {
            let days = i64::from(i32::from_be_bytes(bytes.try_into().ok()?));
            let text = spelled(days.checked_mul(86_400_000_000)?.checked_add(START)?);
            text.split_once(' ').map(|(day, _)| day.to_owned())
        }
        "TIME" => spelled(number()?).split_once(' ').map(|(_, time)| time.to_owned()),
        _ => number()?.checked_add(START).map(spelled),
    }
}

/// What no other kind holds: a decimal number in digits, everything else by its bytes.
fn other(kind: &str, raw: &PgValueRef<'_>) -> String {
    let bytes = raw.as_bytes().unwrap_or_default();
    match kind {
        "NUMERIC" => decimal(bytes).unwrap_or_else(|| "NaN".into()),
        kind => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{} {digits}", kind.to_lowercase())
        }
    }
}

/// A number in the server's own form: groups of four digits with a weight.
fn decimal(bytes: &[u8]) -> Option<String> {
    let words: Vec<i16> = bytes.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect();
    let [count, weight, sign, scale, groups @ ..] = words.as_slice() else { return None };
    if groups.len() != usize::try_from(*count).ok()? || !matches!(*sign, 0 | 0x4000) {
        return None;
    }
    let group = |place: i32| {
        let at = usize::try_from(i32::from(*weight) - place).ok();
        at.and_then(|at| groups.get(at)).copied().unwrap_or(0)
    };
    let whole: String = (0..=i32::from(*weight).max(0)).rev().map(|place| format!("{:04}", group(place))).collect();
    let whole = whole.trim_start_matches('0');
    let scale = usize::try_from(*scale).ok()?;
    let fraction: String =
        (1..=scale.div_ceil(4)).map(|n| format!("{:04}", group(-i32::try_from(n).unwrap_or(0)))).collect();
    let sign = if *sign == 0 { "" } else { "-" };
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if scale == 0 { "" } else { "." };
    Some(format!("{sign}{whole}{point}{}", fraction.get(..scale)?))
}

#[cfg(test)]
mod tests {
    use super::decimal;

    fn bytes(words: &[i16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_decimal_number_is_written_in_digits() {
        assert_eq!(decimal(&bytes(&[2, 0, 0, 2, 12, 3400])).as_deref(), Some("12.34"));
        assert_eq!(decimal(&bytes(&[1, 1, 0x4000, 0, 1])).as_deref(), Some("-10000"));
        assert_eq!(decimal(&bytes(&[0, 0, 0, 0])).as_deref(), Some("0"));
        assert_eq!(decimal(&bytes(&[1, -1, 0, 4, 5])).as_deref(), Some("0.0005"));
        assert_eq!(decimal(&[0]), None);
    }
}
