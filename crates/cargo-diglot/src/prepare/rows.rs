//! The rows of texts that give the same at all times.
//!
//! Postgres is asked twice, under settings that differ in all that a value's text may depend on; what is not the same
//! both times depends on the session after all and is not recorded. Neither is what fails, what Postgres does not finish in
//! time, and what has many rows.

use diglot::EmittedText;
use diglot_tools::prove::{Rows, Value};
use futures_util::{Stream, StreamExt};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::failure::Failure;
use crate::values;

/// More rows than that are not recorded.
const MOST: usize = 100;
/// How long Postgres may take. On SQLite describing a text has run it to its first row.
const PG_LIMIT: &str = "SET LOCAL statement_timeout = '10s'";
/// Two sessions that have as little as possible in common.
const PG_SESSIONS: [&str; 2] = [
    "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, MDY'; SET LOCAL IntervalStyle = 'postgres'; \
     SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'",
    "SET LOCAL TIME ZONE INTERVAL '+05:45' HOUR TO MINUTE; SET LOCAL DateStyle = 'German, DMY'; \
     SET LOCAL IntervalStyle = 'iso_8601'; SET LOCAL extra_float_digits = 0; SET LOCAL bytea_output = 'escape'",
];

/// The rows that SQLite gives.
pub(super) async fn of_sqlite(connection: &mut SqliteConnection, text: &EmittedText) -> Option<Rows> {
    if !text.constant {
        return None;
    }
    let query = sqlx::query(AssertSqlSafe(text.sql.clone())).persistent(false);
    few(query.fetch(connection), values::of_sqlite).await
}

/// The rows that Postgres gives, whatever the session.
pub(super) async fn of_pg(connection: &mut PgConnection, text: &EmittedText) -> Result<Option<Rows>, Failure> {
    if !text.constant {
        return Ok(None);
    }
    let mut seen: Option<Rows> = None;
    for settings in PG_SESSIONS {
        let talking = || Failure::engine(format!("run {} on Postgres", text.name));
        // What was prepared under other settings has read its literals under them.
        connection.clear_cached_statements().await.map_err(talking())?;
        let begin = sqlx::raw_sql(AssertSqlSafe(format!("BEGIN READ ONLY; {PG_LIMIT}; {settings}")));
        connection.execute(begin).await.map_err(talking())?;
        let query = sqlx::query(AssertSqlSafe(text.sql.clone())).persistent(false);
        let rows = few(query.fetch(&mut *connection), values::of_pg).await;
        connection.execute("ROLLBACK").await.map_err(talking())?;
        match (rows, &seen) {
            (Some(rows), Some(before)) if rows == *before => {}
            (Some(rows), None) => seen = Some(rows),
            _ => return Ok(None),
        }
    }
    Ok(seen)
}

/// All rows of a query, if they are few and come without an error.
async fn few<R>(
    rows: impl Stream<Item = Result<R, sqlx::Error>>,
    values: impl Fn(&R) -> Result<Vec<Value>, sqlx::Error>,
) -> Option<Rows> {
    let rows: Vec<_> = rows.take(MOST + 1).collect().await;
    if rows.len() > MOST {
        return None;
    }
    rows.into_iter().map(|row| values(&row?)).collect::<Result<_, _>>().ok()
}
