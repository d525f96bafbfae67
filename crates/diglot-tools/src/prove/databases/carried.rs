//! Values that nobody looks at: they tell rows and columns apart.

use serde_json::json;

use crate::prove::pool::{self, Pool};
use crate::prove::tables::{List, TableColumn};
use diglot::types::{Base, Of};
use diglot::value::{Value, spelled};

/// 2024-03-01, before all clocks.
const DAY: i64 = 1_709_251_200_000_000;
const HOUR: i64 = 3_600_000_000;

/// The value of a column in the row of a number.
pub(super) fn value(base: &Base, pool: &Pool, column: usize, row: usize) -> Value {
    let known = pool.words.iter().chain(&pool.checked).filter_map(|value| value.clone().into_base(base));
    let known: Vec<Value> = known.filter(|value| pool.allows(value)).collect();
    if !known.is_empty() && (pool.closed || *base == Base::Text) {
        return known[row % known.len()].clone();
    }
    let number = i64::try_from(20 + 3 * column + 40 * row).unwrap_or(0);
    let value = match base {
        Base::Bool => Value::Bool((column + row).is_multiple_of(2)),
        Base::Int16 | Base::Int32 | Base::Int64 | Base::Numeric => Value::Int(number),
        Base::Stored(stored) if stored.of == Of::Decimal => Value::Int(number),
        Base::Stored(stored) => return value(&stored.of.base(), pool, column, row),
        Base::Float64 => Value::Real(number as f64 + 0.5),
        Base::Text => Value::Text(format!("{}{row}", letter(column))),
        Base::Bytes => Value::Bytes(vec![(number % 251) as u8, row as u8]),
        Base::Uuid => Value::Uuid(match pool::plain(base, 2 + (column * 7 + row * 3) % 200) {
            Value::Uuid(id) => id,
            _ => [0; 16],
        }),
        Base::Json => Value::Json(json!({ letter(column).to_string(): row })),
        Base::Timestamp | Base::DateTime => Value::Text(moment(column, row)),
        Base::Date => Value::Text(moment(row, column)[..10].to_owned()),
        Base::TimeOfDay => Value::Text(moment(column, row)[11..].to_owned()),
        Base::TextArray => Value::List(vec![Value::Text(format!("{}{row}", letter(column)))]),
        Base::Int64Array => Value::List(vec![Value::Int(number)]),
        Base::UuidArray | Base::Enum(_) | Base::Interval => pool::plain(base, row),
    };
    match (value, pool.range) {
        (Value::Int(number), Some((least, most))) if !(least..=most).contains(&number) => {
            Value::Int(least + number % most.saturating_sub(least).saturating_add(1).max(1))
        }
        (Value::Real(number), Some((least, most))) => Value::Real(number.clamp(least as f64, most as f64)),
        (value, _) => value,
    }
}

fn letter(column: usize) -> char {
    char::from(b'c' + (column % 20) as u8)
}

fn moment(column: usize, row: usize) -> String {
    spelled(DAY + i64::try_from(row % 250).unwrap_or(0) * 24 * HOUR + i64::try_from(column % 24).unwrap_or(0) * HOUR)
}

/// A list that SQLite can hold in its own form: without what it could not tell apart.
pub(super) fn list(mut items: Vec<Value>, column: &TableColumn) -> Value {
    match &column.list {
        Some(List::Separated(between)) => {
            items.retain(|item| !matches!(item, Value::Text(text) if text.is_empty() || text.contains(between)));
        }
        // A table has every item once.
        Some(List::Table { .. }) => {
            items.sort_by(Value::compare);
            items.dedup();
        }
        None => {}
    }
    Value::List(items)
}
