//! Runs cases on SQLite, in a database in memory that every case leaves as it was.

use std::collections::{BTreeMap, BTreeSet};

use diglot::dialect::{Both, Dialect};
use diglot::prove::{Answer, Case, Fault, NEW_IDS, Rows, Subject};
use diglot::{EmittedText, Inputs};
use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;
use sea_query::{DeleteStatement, Expr, ExprTrait as _, InsertStatement, SqliteQueryBuilder};
use sqlx::sqlite::{SqliteConnection, SqliteQueryResult, SqliteRow};
use sqlx::{AssertSqlSafe, Either, Executor, SqlSafeStr};

use super::{Ran, arguments, fault};
use crate::failure::Failure;
use crate::prepare::sqlite as prepare;
use crate::values;

/// Where SQLite keeps the numbers of AUTOINCREMENT.
const NUMBERS: &str = "sqlite_sequence";

pub(super) struct Sqlite {
    connection: SqliteConnection,
    /// Tables that number their rows by AUTOINCREMENT.
    numbered: BTreeSet<String>,
}

impl Sqlite {
    /// A database with the project's schema.
    pub(super) async fn open(inputs: &Inputs) -> Result<Self, Failure> {
        let mut connection = prepare::migrated(inputs).await?;
        let named = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'";
        let numbered: Vec<String> = sqlx::query_scalar(named)
            .fetch_all(&mut connection)
            .await
            .map_err(Failure::engine("read SQLite's schema"))?;
        // What the migrations put there would be in the way of the cases; so would references between it here.
        let tables = tables(&mut connection).await?.into_iter();
        let emptied = tables.map(|table| DeleteStatement::new().from_table(table).to_string(SqliteQueryBuilder) + "; ");
        let clear = format!("PRAGMA foreign_keys = OFF; {}PRAGMA foreign_keys = ON", emptied.collect::<String>());
        connection
            .execute(sqlx::raw_sql(AssertSqlSafe(clear)))
            .await
            .map_err(Failure::engine("empty the tables of SQLite"))?;
        Ok(Self { connection, numbered: numbered.into_iter().collect() })
    }

    /// Its name with its version.
    pub(super) async fn version(&mut self) -> String {
        prepare::named(&mut self.connection).await
    }

    /// What views read and triggers may write.
    pub(super) async fn relations(&mut self) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
        let query = "SELECT lower(tbl_name), lower(sql) FROM sqlite_master WHERE type IN ('view', 'trigger')";
        let texts: Vec<(String, String)> = sqlx::query_as(query)
            .fetch_all(&mut self.connection)
            .await
            .map_err(Failure::engine("read SQLite's schema"))?;
        let tables = tables(&mut self.connection).await?;
        Ok(super::report::mentioned(&tables, &texts))
    }

    /// Runs a case and takes it back.
    pub(super) async fn run(&mut self, subject: &Subject, case: &Case) -> Result<Ran, Failure> {
        self.plain("BEGIN").await.map_err(Failure::engine("begin on SQLite"))?;
        let ran = self.inside(subject, case).await;
        // After some errors SQLite has ended the transaction by itself.
        self.plain("ROLLBACK").await.ok();
        ran
    }

    async fn inside(&mut self, subject: &Subject, case: &Case) -> Result<Ran, Failure> {
        let mut refused = Vec::new();
        for (table, at, sql) in subject.inserts(case, Dialect::Sqlite) {
            if self.plain(&sql).await.is_err() {
                refused.push((table, at));
            }
        }
        if !refused.is_empty() {
            return Ok(Ran::Refused(refused));
        }
        for sql in subject.clearings() {
            // A row that goes may make another one impossible, and each engine looks at them in its own order.
            while self
                .plain(&sql)
                .await
                .map_err(Failure::engine("take out impossible rows on SQLite, as `[prove.impossible]` says"))?
                > 0
            {}
        }
        let is_numbered = |name: &String| self.numbered.contains(name) && !subject.numbers.contains(name);
        for table in subject.tables.iter().chain(&subject.compared).filter(|table| is_numbered(&table.name)) {
            let name = &table.name;
            let forget =
                DeleteStatement::new().from_table(NUMBERS).and_where(Expr::col("name").eq(name.as_str())).take();
            let mut begin = InsertStatement::new();
            begin
                .into_table(NUMBERS)
                .columns(["name", "seq"])
                .values_panic([name.as_str().into(), (NEW_IDS - 1).into()]);
            let number = [forget.to_string(SqliteQueryBuilder), begin.to_string(SqliteQueryBuilder)].join("; ");
            self.connection
                .execute(sqlx::raw_sql(AssertSqlSafe(number)))
                .await
                .map_err(Failure::engine("set where SQLite numbers from"))?;
        }
        let unit = subject.variant(case).is_some_and(|texts| texts.sqlite.parts.len() > 1);
        if unit {
            self.plain("SAVEPOINT statement").await.map_err(Failure::engine("begin on SQLite"))?;
        }
        let result = self.statement(subject, case).await;
        if unit && result.is_err() {
            // A single statement takes itself back. After some errors SQLite has ended the transaction by itself.
            self.plain("ROLLBACK TO statement").await.ok();
        }
        let mut tables = Vec::new();
        if subject.writes {
            for table in &subject.compared {
                let rows = self.rows(&table.select(Dialect::Sqlite)).await;
                tables.push(rows.map_err(Failure::engine(format!("read {} on SQLite", table.name)))?);
            }
        }
        Ok(Ran::Answered(Answer { result, tables, taken: BTreeSet::new() }))
    }

    /// Whether it takes a text.
    pub(super) async fn takes(&mut self, text: &EmittedText) -> Result<(), Fault> {
        let sql = AssertSqlSafe(text.sql.clone()).into_sql_str();
        (&mut self.connection).prepare(sql).await.map(|_| ()).map_err(fault)
    }

    async fn statement(&mut self, subject: &Subject, case: &Case) -> Result<(Rows, u64), Fault> {
        let Some(Both { sqlite: text, .. }) = subject.variant(case) else { return Err(Fault::of("no such variant")) };
        let arguments = arguments::sqlite(text, case).map_err(|error| Fault::of(error.to_string()))?;
        let query = sqlx::query_with(AssertSqlSafe(text.sql.clone()), arguments);
        if subject.columns.is_empty() && !subject.is_partial {
            let done = query.execute(&mut self.connection).await.or_else(|error| unless_required(text, error));
            return Ok((Vec::new(), done.map_err(fault)?.rows_affected()));
        }
        if let Some(joined) = &text.joined {
            let returned = returned((&mut self.connection).fetch_many(query)).await;
            let returned = returned.or_else(|error| unless_required(text, error)).map_err(fault)?;
            return Ok((joined.rows(&returned), 0));
        }
        let rows = query.fetch_all(&mut self.connection).await.or_else(|error| unless_required(text, error));
        let rows = rows.map_err(fault)?;
        let rows: Result<Rows, sqlx::Error> = rows.iter().map(values::of_sqlite).collect();
        Ok((rows.map_err(fault)?, 0))
    }

    async fn rows(&mut self, sql: &str) -> Result<Rows, sqlx::Error> {
        let rows = sqlx::query(AssertSqlSafe(sql.to_owned())).fetch_all(&mut self.connection).await?;
        rows.iter().map(values::of_sqlite).collect()
    }

    /// Runs a text and tells how many rows it wrote.
    async fn plain(&mut self, sql: &str) -> Result<u64, sqlx::Error> {
        let done = self.connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await?;
        Ok(done.rows_affected())
    }
}

/// What each statement of a text returned.
async fn returned(
    mut found: BoxStream<'_, Result<Either<SqliteQueryResult, SqliteRow>, sqlx::Error>>,
) -> Result<Vec<Rows>, sqlx::Error> {
    let (mut returned, mut open) = (Vec::new(), Rows::new());
    while let Some(next) = found.try_next().await? {
        match next {
            Either::Left(_) => returned.push(std::mem::take(&mut open)),
            Either::Right(row) => open.push(values::of_sqlite(&row)?),
        }
    }
    Ok(returned)
}

/// Nothing, where a unit ended because its guard has no row.
fn unless_required<T: Default>(text: &EmittedText, error: sqlx::Error) -> Result<T, sqlx::Error> {
    let is_no_row = error.as_database_error().is_some_and(|found| found.message().contains(EmittedText::NO_ROW));
    if text.guarded && is_no_row { Ok(T::default()) } else { Err(error) }
}

async fn tables(connection: &mut SqliteConnection) -> Result<Vec<String>, Failure> {
    let query = "SELECT lower(name) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    sqlx::query_scalar(query).fetch_all(connection).await.map_err(Failure::engine("read SQLite's schema"))
}
