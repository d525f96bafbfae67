//! The list of rows that a statement takes, as each driver gets it: an array for each field on Postgres, one JSON
//! document on SQLite.

use crate::dialect::Dialect;
use crate::emitted::{Holds, TextParam};
use crate::infer::RowsParam;
use crate::page::ORDINALITY;
use crate::types::{Base, Form, Stored, Type};

/// What is bound behind the other parameters.
pub(super) fn params(dialect: Dialect, rows: &RowsParam) -> Vec<TextParam> {
    let RowsParam { name, fields, .. } = rows;
    let fields = fields.iter().map(|field| TextParam {
        name: format!("{name}.{}", field.name),
        ty: field.ty.clone(),
        digits: false,
        stored: field.stored,
        holds: Holds::Field(field.name.clone()),
    });
    match dialect {
        Dialect::Pg => fields.collect(),
        Dialect::Sqlite => {
            let (ty, holds) = (Type::required(Base::Json), Holds::Rows(fields.collect()));
            vec![TextParam { name: name.clone(), ty, digits: false, stored: None, holds }]
        }
    }
}

/// The relation that stands in the place of the name.
pub(super) fn relation(dialect: Dialect, alias: &str, params: &[TextParam]) -> String {
    match dialect {
        Dialect::Pg => arrays(alias, params),
        Dialect::Sqlite => document(alias, params),
    }
}

fn arrays(alias: &str, params: &[TextParam]) -> String {
    let (mut arrays, mut names) = (Vec::new(), Vec::new());
    for (at, param) in params.iter().enumerate() {
        let Holds::Field(name) = &param.holds else { continue };
        arrays.push(format!("{}::{}[]", Dialect::Pg.placeholder(at + 1), element(&param.ty.base)));
        names.push(quoted(name));
    }
    names.push(quoted(ORDINALITY));
    format!("unnest({}) WITH ORDINALITY AS {}({})", arrays.join(", "), quoted(alias), names.join(", "))
}

fn document(alias: &str, params: &[TextParam]) -> String {
    let found = params.iter().enumerate().find_map(|(at, param)| match &param.holds {
        Holds::Rows(fields) => Some((Dialect::Sqlite.placeholder(at + 1), fields)),
        _ => None,
    });
    let Some((placeholder, fields)) = found else { return quoted(alias) };
    let column = |(at, field): (usize, &TextParam)| {
        let value = format!("json_extract(value, '$[{at}]')");
        let value = if is_real(&field.ty.base, field.stored) { real(at, &value) } else { value };
        let value = if is_digits(&field.ty.base, field.stored) { format!("unhex({value})") } else { value };
        let Holds::Field(name) = &field.holds else { return value };
        format!("{value} AS {}", quoted(name))
    };
    let mut columns: Vec<String> = fields.iter().enumerate().map(column).collect();
    columns.push(format!("key + 1 AS {}", quoted(ORDINALITY)));
    format!("(SELECT {} FROM json_each({placeholder})) AS {}", columns.join(", "), quoted(alias))
}

/// Whether the document has a value's bytes as digits, because JSON knows no bytes.
fn is_digits(base: &Base, stored: Option<Stored>) -> bool {
    match base {
        Base::Bytes => true,
        Base::Uuid => stored.is_none_or(|stored| stored.form != Form::Hyphenated),
        _ => false,
    }
}

/// Whether it is a real, which the document may have in pieces.
fn is_real(base: &Base, stored: Option<Stored>) -> bool {
    *base == Base::Float64 || stored.is_some_and(|stored| stored.form == Form::Julian)
}

/// A real. Where its digits alone could be read as a neighbour, the document has a whole number, `r`, `b` and whether it is
/// below one: it is multiplied or divided by 2 to the power of `62 * b + r`, in steps none of which rounds.
fn real(at: usize, value: &str) -> String {
    let piece = |of: usize| format!("json_extract(value, '$[{at}][{of}]')");
    let step = |times: usize| format!("CASE WHEN b & {times} THEN {} ELSE 1 END", vec!["p"; times].join(" * "));
    let steps = [1, 2, 4, 8, 16].map(step).join(" * ");
    let power = |count: &str| format!("CASE WHEN {} THEN 1.0 / (1 << {count}) ELSE 1.0 * (1 << {count}) END", piece(3));
    let (whole, rest, times) = (piece(0), power(&piece(1)), piece(2));
    let put_together =
        format!("(SELECT m * q * {steps} FROM (SELECT {whole} AS m, {rest} AS q, {times} AS b, {} AS p))", power("62"));
    format!("CASE json_type(value, '$[{at}]') WHEN 'array' THEN {put_together} ELSE {value} END")
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// The type of an array's elements in Postgres's words.
pub fn element(base: &Base) -> &'static str {
    match base {
        Base::Bool => "bool",
        Base::Int16 => "int2",
        Base::Int32 => "int4",
        Base::Int64 => "int8",
        Base::Numeric => "numeric",
        Base::Float64 => "float8",
        Base::Bytes => "bytea",
        Base::Uuid => "uuid",
        Base::Json => "jsonb",
        Base::Timestamp => "timestamptz",
        Base::DateTime => "timestamp",
        Base::Date => "date",
        Base::TimeOfDay => "time",
        // No field is of another type.
        Base::Text | Base::Interval | Base::Enum(_) | Base::Stored(_) => "text",
        Base::TextArray | Base::Int64Array | Base::UuidArray => "text",
    }
}
