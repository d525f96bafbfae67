//! The module of conversions that every generated file carries, so that it depends on nothing of diglot.

use super::code::{Code, line};
use super::{LINTS, structs};
use crate::config::Config;
use crate::dialect::Dialect;

/// The error of calls that the driver alone would let through.
pub(super) fn error(code: &mut Code, style: &structs::Style) {
    code.gap();
    let text = ERROR.replace("pub ", &format!("{} ", style.seen));
    code.block(&["#[derive(", "impl "].iter().fold(text, |text, item| text.replace(item, &format!("{LINTS}\n{item}"))));
}

const ERROR: &str = include_str!("support/error.in");

/// The conversions that all statements need, `others` that some do, and those that need the driver of Postgres.
pub(super) fn module(code: &mut Code, config: &Config, others: &[&str], on_pg: &[&str]) {
    code.gap();
    code.doc("Conversions between what the drivers know and what the API shows.");
    line!(code, "{LINTS}");
    code.open(format_args!("mod diglot_support {{"));
    code.block(CONVERSIONS);
    for text in others {
        code.gap();
        code.block(text);
    }
    if !on_pg.is_empty() {
        code.gap();
        super::feature(code, config, Dialect::Pg);
        line!(code, "pub(super) use self::pg::*;");
        code.gap();
        super::feature(code, config, Dialect::Pg);
        code.open(format_args!("mod pg {{"));
        line!(code, "#[allow(unused_imports)] // Not all of what follows needs the conversions above.");
        line!(code, "use super::*;");
        for text in on_pg {
            code.gap();
            code.block(text);
        }
        code.close("}");
    }
    code.close("}");
}

const CONVERSIONS: &str = r#"use std::error::Error as StdError;
use std::fmt::Display;

use super::StatementError;

pub(super) fn decode(column: &str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: column.to_owned(), source: source.into() }
}

/// Puts the column's name where the driver knows its number alone.
pub(super) fn named(error: sqlx::Error, columns: &[&str]) -> sqlx::Error {
    match error {
        sqlx::Error::ColumnDecode { index, source } => {
            let name = index.parse::<usize>().ok().and_then(|i| columns.get(i)).map(|name| (*name).to_owned());
            sqlx::Error::ColumnDecode { index: name.unwrap_or(index), source }
        }
        error => error,
    }
}

/// The first two rows: what comes behind them is never read.
pub(super) async fn first_two<R>(
    mut next: impl FnMut(&mut std::task::Context<'_>) -> std::task::Poll<Option<Result<R, sqlx::Error>>>,
) -> Result<Vec<R>, sqlx::Error> {
    let mut rows = Vec::with_capacity(1);
    while rows.len() < 2 {
        match std::future::poll_fn(&mut next).await {
            Some(row) => rows.push(row?),
            None => break,
        }
    }
    Ok(rows)
}

/// What came back.
pub(super) fn came(error: StatementError) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

/// What was given.
pub(super) fn given(error: StatementError) -> sqlx::Error {
    sqlx::Error::Encode(error.into())
}

/// The row, if there is one; a second one is an error that names the statement.
pub(super) fn at_most_one<T>(statement: &'static str, rows: Vec<T>) -> Result<Option<T>, sqlx::Error> {
    let mut rows = rows.into_iter();
    match (rows.next(), rows.next()) {
        (row, None) => Ok(row),
        _ => Err(came(StatementError::MoreThanOneRow { statement })),
    }
}

/// The one row.
pub(super) fn exactly_one<T>(statement: &'static str, rows: Vec<T>) -> Result<T, sqlx::Error> {
    at_most_one(statement, rows)?.ok_or(sqlx::Error::RowNotFound)
}

pub(super) fn required<T>(column: &str, value: Option<T>) -> Result<T, sqlx::Error> {
    value.ok_or_else(|| decode(column, "NULL in a column that is never NULL"))
}

pub(super) fn integer<T, N>(column: &str, value: T) -> Result<N, sqlx::Error>
where
    T: Copy + Display,
    N: TryFrom<T>,
{
    N::try_from(value).map_err(|_| {
        decode(column, format!("{value} does not fit into {}", std::any::type_name::<N>()))
    })
}

pub(super) fn boolean(column: &str, value: i64) -> Result<bool, sqlx::Error> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(decode(column, format!("{other} is neither 0 nor 1"))),
    }
}

pub(super) fn uuid(column: &str, value: Vec<u8>) -> Result<uuid::Uuid, sqlx::Error> {
    uuid::Uuid::from_slice(&value).map_err(|error| decode(column, error))
}

pub(super) fn json(column: &str, value: String) -> Result<serde_json::Value, sqlx::Error> {
    serde_json::from_str(&value).map_err(|error| decode(column, error))
}

pub(super) fn newtype<P, T>(column: &str, value: P) -> Result<T, sqlx::Error>
where
    T: TryFrom<P>,
    T::Error: StdError + Send + Sync + 'static,
{
    T::try_from(value).map_err(|error| decode(column, error))
}

pub(super) fn list<T>(column: &str, value: String) -> Result<Vec<T>, sqlx::Error>
where
    Vec<T>: TryFromJson,
{
    from_json(column, json(column, value)?)
}

pub(super) fn from_json<T: TryFromJson>(column: &str, value: serde_json::Value) -> Result<T, sqlx::Error> {
    T::try_from_json(value).ok_or_else(|| decode(column, "not a JSON array of the column's type"))
}

pub(super) fn uuid_list(column: &str, value: String) -> Result<Vec<uuid::Uuid>, sqlx::Error> {
    let texts: Vec<String> = list(column, value)?;
    let parsed = texts.iter().map(|text| uuid::Uuid::parse_str(text));
    parsed.collect::<Result<_, _>>().map_err(|error| decode(column, error))
}

/// Lists that a JSON array may hold.
pub(super) trait TryFromJson: Sized {
    fn try_from_json(value: serde_json::Value) -> Option<Self>;
}

impl TryFromJson for Vec<String> {
    fn try_from_json(value: serde_json::Value) -> Option<Self> {
        let serde_json::Value::Array(items) = value else { return None };
        let text = |item| match item {
            serde_json::Value::String(text) => Some(text),
            _ => None,
        };
        items.into_iter().map(text).collect()
    }
}

impl TryFromJson for Vec<i64> {
    fn try_from_json(value: serde_json::Value) -> Option<Self> {
        value.as_array()?.iter().map(serde_json::Value::as_i64).collect()
    }
}

/// The JSON array that SQLite reads with `json_each`.
pub(super) fn texts(list: &[String]) -> String {
    list.iter().map(String::as_str).collect::<serde_json::Value>().to_string()
}

/// The JSON array that SQLite reads with `json_each`.
pub(super) fn integers(list: &[i64]) -> String {
    list.iter().copied().collect::<serde_json::Value>().to_string()
}

/// The JSON array that SQLite reads with `json_each`; `unhex(value, '-')` makes a blob of an element.
pub(super) fn uuids(list: &[uuid::Uuid]) -> String {
    list.iter().map(uuid::Uuid::to_string).collect::<serde_json::Value>().to_string()
}

/// The same for what is compared with `lower(hex(id))`.
pub(super) fn digits(list: &[uuid::Uuid]) -> String {
    list.iter().map(|id| id.simple().to_string()).collect::<serde_json::Value>().to_string()
}

/// What a stub answers; it is never reached, because the file that holds it does not compile.
pub(super) fn broken() -> sqlx::Error {
    sqlx::Error::Protocol("the statements have errors".to_owned())
}
"#;

/// The conversion of units with a guard.
pub(super) const GUARD: &str = r#"/// Nothing, where the unit ended because its guard has no row.
pub(super) fn unless_required<T: Default>(error: sqlx::Error) -> Result<T, sqlx::Error> {
    match &error {
        sqlx::Error::Database(found) if found.message().contains("no row of the guard") => Ok(T::default()),
        _ => Err(error),
    }
}
"#;

/// What runs a unit of SQLite whose rows are joined.
pub(super) const RETURNED: &str = r#"/// Runs every statement of a text, and gives what each returned.
#[sqlite]
pub(super) async fn returned<'q, A>(
    connection: &mut sqlx::SqliteConnection,
    query: sqlx::query::Query<'q, sqlx::Sqlite, A>,
    count: usize,
) -> Result<Vec<Vec<sqlx::sqlite::SqliteRow>>, sqlx::Error>
where
    A: 'q + Send + sqlx::IntoArguments<sqlx::Sqlite>,
{
    let mut found = sqlx::Executor::fetch_many(connection, query);
    let mut returned = Vec::with_capacity(count);
    let mut open = Vec::new();
    while let Some(next) = std::future::poll_fn(|task| futures_core::Stream::poll_next(found.as_mut(), task)).await {
        match next? {
            sqlx::Either::Left(_) => returned.push(std::mem::take(&mut open)),
            sqlx::Either::Right(row) => open.push(row),
        }
    }
    Ok(returned)
}

/// The rows that a statement of the text returned; none of one that was not run.
#[sqlite]
pub(super) fn of(returned: &[Vec<sqlx::sqlite::SqliteRow>], at: usize) -> Vec<&sqlx::sqlite::SqliteRow> {
    returned.get(at).map_or_else(Vec::new, |rows| rows.iter().collect())
}
"#;

/// What joins the rows that several statements returned.
pub(super) const JOINED: &str = r#"/// Every row of one with every row of the others; one that may have none is left out then.
pub(super) fn joined<'r, R>(sources: &[(Vec<&'r R>, bool)]) -> Vec<Vec<Option<&'r R>>> {
    let mut joined = vec![Vec::new()];
    for (rows, optional) in sources {
        let mut beside: Vec<Option<&'r R>> = rows.iter().copied().map(Some).collect();
        if beside.is_empty() && *optional {
            beside.push(None);
        }
        let with = |row: &Vec<Option<&'r R>>| {
            let row = row.clone();
            beside.iter().map(move |other| row.iter().copied().chain([*other]).collect()).collect::<Vec<Vec<_>>>()
        };
        joined = joined.iter().flat_map(with).collect();
    }
    joined
}

pub(super) fn value<'r, R, T>(row: Option<&'r R>, place: usize) -> Result<Option<T>, sqlx::Error>
where
    R: sqlx::Row,
    usize: sqlx::ColumnIndex<R>,
    T: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
{
    row.map_or(Ok(None), |row| row.try_get(place))
}
"#;

#[cfg(test)]
mod tests {
    #[test]
    fn units_with_a_guard_know_what_its_error_says() {
        assert!(super::GUARD.contains(&format!("{:?}", crate::emitted::EmittedText::NO_ROW)));
    }
}
