//! What Postgres gives in one of several widths: a `real` is read as it is and widened, and so is a list of `integer`.

use crate::config::Driver;
use crate::dialect::Dialect;
use crate::infer::{ResultColumn, Signature};
use crate::types::Base;

use super::types;

/// The macro by which the types are made that hold the widest of several.
fn of_driver(driver: Driver) -> &'static str {
    match driver {
        Driver::Sqlx => include_str!("support/pg_widths.in"),
        Driver::Pair => include_str!("support/pg_widths_tokio.in"),
    }
}

/// The type that the driver of Postgres reads such a value as.
pub(super) fn record(dialect: Dialect, given: &Base) -> Option<&'static str> {
    match given {
        _ if dialect == Dialect::Sqlite => None,
        Base::Float64 => Some("diglot_support::PgReal"),
        Base::Int64Array => Some("diglot_support::PgIntegers"),
        _ => None,
    }
}

/// The field of a record as a value of the widest type.
pub(super) fn widened(dialect: Dialect, given: &Base, field: &str) -> String {
    match record(dialect, given) {
        Some(_) => format!("record.{field}.map(|wide| wide.0)"),
        None => format!("record.{field}"),
    }
}

/// What the columns of all statements need.
pub(super) fn conversions<'s>(driver: Driver, signatures: impl Iterator<Item = &'s Signature>) -> Vec<&'static str> {
    let columns = signatures.flat_map(|signature| &signature.columns);
    let given = |column: &ResultColumn| types::driver(Dialect::Pg, column.on(Dialect::Pg), &column.ty.base);
    let all: Vec<Base> = columns.map(given).collect();
    let texts: Vec<&str> = [
        (Base::Float64, "pg_widths!(PgReal, f64, f32, f64::from);\n"),
        (Base::Int64Array, include_str!("support/pg_lists.in")),
    ]
    .into_iter()
    .filter(|(base, _)| all.contains(base))
    .map(|(_, text)| text)
    .collect();
    if texts.is_empty() { texts } else { [&[of_driver(driver)], texts.as_slice()].concat() }
}
