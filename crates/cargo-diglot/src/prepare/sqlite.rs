//! Asks SQLite, in process: a database in memory with the project's schema.
//!
//! A statement is described as sqlx's macros would describe it, then explained, so that the planner has seen
//! it as well. Rows are never there. The bundled library reads a double-quoted word that is no column as a
//! string, which only a call into C could switch off; the compiler finds such words as unknown columns.

use diglot::answers::{Described, DescribedColumn};
use diglot::dialect::Dialect;
use diglot::{EmittedText, Inputs};
use diglot_migrate::{statements, tokens};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, Describe, Executor, SqlSafeStr, Statement};

use super::{Asked, Project, Refusal, columns, migrations, rows};
use crate::failure::Failure;

/// Asks about every text of the SQLite pages.
pub(super) async fn ask(project: &Project<'_>) -> Result<Asked, Failure> {
    let mut connection = open().await?;
    let mut asked = Asked { engine: named(&mut connection).await, ..Asked::default() };
    for (file, text) in migrations(project.inputs, Dialect::Sqlite) {
        if let Err(error) = connection.execute(sqlx::raw_sql(AssertSqlSafe(without_stubs(text)))).await {
            asked.findings.push(project.migration_refused(Dialect::Sqlite, file, Refusal::of(error, None)?));
            return Ok(asked);
        }
    }
    for (index, text) in project.texts(Dialect::Sqlite) {
        let described = answer(&mut connection, text).await;
        let explained = explain(&mut connection, &text.parts).await;
        match described.and_then(|described| explained.map(|()| described)) {
            Ok(described) => {
                let rows = rows::of_sqlite(&mut connection, text).await;
                asked.answers.push((index, Described { rows, ..described }));
            }
            Err(error) => asked.findings.push(project.refused(text, Refusal::of(error, None)?)),
        }
        project.progress.inc(1);
    }
    connection.close().await.ok();
    Ok(asked)
}

async fn open() -> Result<SqliteConnection, Failure> {
    let options = SqliteConnectOptions::new().in_memory(true).foreign_keys(true);
    SqliteConnection::connect_with(&options).await.map_err(Failure::engine("open SQLite in memory"))
}

/// A database with the project's schema, for a command that needs it whole.
pub(crate) async fn migrated(inputs: &Inputs) -> Result<SqliteConnection, Failure> {
    let mut connection = open().await?;
    for (file, text) in migrations(inputs, Dialect::Sqlite) {
        let failed = Failure::engine(format!("run {} on SQLite", inputs.sources.file(file).path));
        connection.execute(sqlx::raw_sql(AssertSqlSafe(without_stubs(text)))).await.map_err(failed)?;
    }
    Ok(connection)
}

/// A migration without the tables that SQLite has by itself and lets nobody make: other tools are told of them so. What
/// is left stands where it stood.
pub(crate) fn without_stubs(text: &str) -> String {
    let mut left = text.to_owned();
    for statement in statements(text) {
        let mut words = tokens(&text[statement.clone()]).map(|word| text[statement.clone()][word].to_lowercase());
        let is_create = words.next().is_some_and(|word| word == "create");
        let mut rest = words.skip_while(|word| ["temp", "temporary"].contains(&word.as_str())).peekable();
        if !is_create || rest.next().is_none_or(|word| word != "table") {
            continue;
        }
        let name = rest.find(|word| !["if", "not", "exists"].contains(&word.as_str()));
        let name = match name.as_deref() {
            // A bracket is a piece of its own.
            Some("[" | "`") => rest.next(),
            _ => name,
        };
        if name.is_some_and(|name| name.trim_matches('"').starts_with("sqlite_")) {
            let blank: String = text[statement.clone()].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
            left.replace_range(statement.clone(), &format!("{blank:<width$}", width = statement.len()));
        }
    }
    left
}

/// What a text gives: the rows of one of its statements, or columns of several.
async fn answer(connection: &mut SqliteConnection, text: &EmittedText) -> Result<Described, sqlx::Error> {
    if let Some(joined) = &text.joined {
        let mut of_sources = Vec::new();
        for (at, _) in &joined.sources {
            of_sources.push(describe(connection, text.parts.get(*at).map_or("", String::as_str)).await?.columns);
        }
        let column = |(source, place): &(usize, usize)| of_sources.get(*source)?.get(*place).cloned();
        let named = joined.columns.iter().filter_map(column).zip(&text.columns);
        let columns = named.map(|(column, shown)| DescribedColumn { name: shown.name.clone(), ..column }).collect();
        return Ok(Described { columns, ..Described::default() });
    }
    match text.result.and_then(|result| text.parts.get(result)) {
        Some(part) => describe(connection, part).await,
        None => Ok(Described::default()),
    }
}

/// The driver asks where each column comes from, which SQLite cannot say of those of a function such as `json_each`. What
/// such a statement gives is told without it.
async fn describe(connection: &mut SqliteConnection, sql: &str) -> Result<Described, sqlx::Error> {
    let text = || AssertSqlSafe(sql.to_owned()).into_sql_str();
    let describe = match connection.describe(text()).await {
        Ok(describe) => describe,
        Err(_) => {
            let columns = connection.prepare(text()).await?.columns().to_vec();
            Describe { nullable: vec![None; columns.len()], parameters: None, columns }
        }
    };
    Ok(Described { columns: columns(&describe)?, ..Described::default() })
}

async fn explain(connection: &mut SqliteConnection, parts: &[String]) -> Result<(), sqlx::Error> {
    for part in parts {
        connection.execute(sqlx::raw_sql(AssertSqlSafe(format!("EXPLAIN {part}")))).await?;
    }
    Ok(())
}

/// Its name with its version.
pub(crate) async fn named(connection: &mut SqliteConnection) -> String {
    let version: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(connection).await.unwrap_or_default();
    format!("SQLite {version}")
}

#[cfg(test)]
mod tests {
    use super::without_stubs;

    #[test]
    fn only_tables_of_sqlite_itself_are_left_out_and_the_rest_stands_where_it_stood() {
        let text =
            "CREATE TABLE a (b TEXT);\nCREATE TABLE IF NOT EXISTS \"sqlite_master\" (\n  ä TEXT);\nCREATE TABLE c (d);";
        let left = without_stubs(text);
        assert_eq!(left.len(), text.len());
        assert_eq!(left.lines().count(), text.lines().count());
        assert_eq!(
            left.split_whitespace().collect::<Vec<_>>().join(" "),
            "CREATE TABLE a (b TEXT); ; CREATE TABLE c (d);"
        );
        for same in ["CREATE TABLE my_sqlite_master (a);", "CREATE INDEX sqlite_x ON a (b);", "SELECT 1"] {
            assert_eq!(without_stubs(same), same);
        }
    }
}
