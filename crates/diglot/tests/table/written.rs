//! A row with its values, as each engine writes it.

use diglot::dialect::Dialect;
use diglot::operations::{Form, Row};

use super::values::Value;

/// How many rows a group or window has.
const ROWS: usize = 3;

/// How many values an expression needs: those of a group or window have as many as its rows have places.
pub(crate) fn places(form: Form, length: usize) -> usize {
    match form {
        Form::Aggregate | Form::Window => ROWS * length,
        Form::Collate => 0,
        _ => length,
    }
}

/// Two texts for every order and fold.
const SORTED: &str = "'a' COLLATE \"{word}\" < 'B'";

/// The text of a row over its values.
pub(crate) fn expression(row: &Row, dialect: Dialect, values: &[Value], length: usize) -> String {
    // What a column of a database in some language would have.
    let in_language = format!("{:?}", row.means).contains("Language");
    let written = |value: &Value| match dialect {
        Dialect::Sqlite => value.sqlite.clone(),
        Dialect::Pg if in_language && value.pg.ends_with("::text)") => format!("({} COLLATE \"en-x-icu\")", value.pg),
        Dialect::Pg if row.word.starts_with("json_") => value.pg.replace("::jsonb)", "::json)"),
        Dialect::Pg => value.pg.clone(),
    };
    let values: Vec<String> = values.iter().map(written).collect();
    let list = values.join(", ");
    let word = row.word;
    match (row.form, word, values.as_slice()) {
        (Form::Infix, "[]", [of, at]) => format!("({of})[{at}]"),
        (Form::Infix, _, [left, right]) => format!("({left} {word} {right})"),
        (Form::Prefix, _, [only]) => format!("({word} {only})"),
        (Form::Cast, _, [only]) => format!("CAST({only} AS {word})"),
        (Form::Collate, ..) => SORTED.replace("{word}", word),
        (Form::Call, "extract", [_, of]) => format!("extract(epoch FROM {of})"),
        (Form::Call, "date_part" | "date_trunc", [_, of]) => format!("{word}('day', {of})"),
        (Form::Call, "position", [what, of]) => format!("position({what} IN {of})"),
        (Form::Call, "array", [only]) => format!("ARRAY(SELECT {only})"),
        (Form::Call, "row_to_json", [only]) => format!("row_to_json(ROW({only}))"),
        (Form::Call, "encode", [of, _]) => format!("encode({of}, 'hex')"),
        (Form::Call, "current_timestamp" | "current_date" | "current_time" | "localtimestamp", _) => word.to_owned(),
        (Form::Aggregate, "count", []) => format!("(SELECT count(*) FROM {} AS t)", numbered(&values, 0)),
        (Form::Aggregate, ..) => {
            format!("(SELECT {word}({}) FROM {} AS t)", columns(length), numbered(&values, length))
        }
        (Form::Window, ..) => format!(
            "(SELECT {word}({}) OVER (ORDER BY column1) FROM {} AS t ORDER BY column1 LIMIT 1 OFFSET 1)",
            columns(length),
            numbered(&values, length)
        ),
        (Form::Source, "generate_series", _) => "(SELECT count(*) FROM generate_series(1, 3))".to_owned(),
        (Form::Source, ..) => format!("(SELECT count(*) FROM {word}({list}) AS t)"),
        _ => format!("{word}({list})"),
    }
}

fn columns(length: usize) -> String {
    (0..length).map(|at| format!("column{}", at + 2)).collect::<Vec<_>>().join(", ")
}

/// The rows of a group, each with its number.
fn numbered(values: &[String], length: usize) -> String {
    let rows = (0..ROWS).map(|row| {
        let own = values.iter().skip(row * length).take(length).map(|value| format!(", {value}"));
        format!("({row}{})", own.collect::<String>())
    });
    format!("(VALUES {})", rows.collect::<Vec<_>>().join(", "))
}
