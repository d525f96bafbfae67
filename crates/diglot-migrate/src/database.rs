//! One connection to either database.

use std::str::FromStr as _;
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::migrate::Migrate as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};

use crate::Step;
use crate::error::Error;
use crate::ledger::TABLE;

/// How long a statement waits for a lock before it lets those pass who wait behind it.
const MOMENT: Duration = Duration::from_millis(200);
/// What Postgres says of a wait that was too long, of two that waited for each other, and of what is in use.
const IN_USE: [&str; 3] = ["55P03", "40P01", "55006"];

const LINE: &str = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (version) DO NOTHING";
const DIGESTS: &str = "SELECT checksum FROM _sqlx_migrations WHERE success ORDER BY version";
const SQLITE_COLUMNS: &str = "SELECT count(*) FROM pragma_table_info($1) WHERE name = $2";
const PG_COLUMNS: &str = "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2";

pub(crate) enum Database {
    Sqlite(SqliteConnection),
    Pg(PgConnection),
}

impl Database {
    /// Connects; a file of SQLite that is not there is made if it may be.
    pub(crate) async fn connect(url: &str, may_make: bool) -> Result<Self, Error> {
        if url.starts_with("sqlite:") {
            let options = SqliteConnectOptions::from_str(url)?.busy_timeout(MOMENT);
            let options = if may_make { options.create_if_missing(true) } else { options };
            return Ok(Self::Sqlite(options.connect().await?));
        }
        if !url.starts_with("postgres:") && !url.starts_with("postgresql:") {
            return Err(Error::Url);
        }
        let mut database = Self::Pg(PgConnectOptions::from_str(url)?.connect().await?);
        database.patience(Some(MOMENT)).await?;
        Ok(database)
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// How long statements of Postgres wait for a lock; without a limit as long as it takes.
    pub(crate) async fn patience(&mut self, limit: Option<Duration>) -> Result<(), sqlx::Error> {
        let ms = limit.map_or(0, |limit| limit.as_millis());
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Pg(_) => self.run(&format!("SET lock_timeout = '{ms}ms'")).await,
        }
    }

    /// The same as at the beginning.
    pub(crate) async fn patience_again(&mut self) -> Result<(), sqlx::Error> {
        self.patience(Some(MOMENT)).await
    }

    /// Waits until no other process migrates on Postgres, and sees that there is a ledger.
    pub(crate) async fn enter(&mut self) -> Result<(), sqlx::Error> {
        self.patience(None).await?;
        let made = match self {
            Self::Sqlite(connection) => connection.ensure_migrations_table(TABLE).await,
            Self::Pg(connection) => match connection.lock().await {
                Ok(()) => connection.ensure_migrations_table(TABLE).await,
                refused => refused,
            },
        };
        made.map_err(|error| match error {
            sqlx::migrate::MigrateError::Execute(error) => error,
            error => sqlx::Error::Migrate(Box::new(error)),
        })?;
        self.patience_again().await
    }

    pub(crate) async fn begin(&mut self) -> Result<(), sqlx::Error> {
        let begin = if self.is_sqlite() { "BEGIN IMMEDIATE" } else { "BEGIN" };
        self.run(begin).await
    }

    /// Commits what went well, and takes back what did not.
    pub(crate) async fn end<T>(&mut self, done: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        match done {
            Ok(done) => self.run("COMMIT").await.map(|()| done),
            Err(error) => {
                // Some errors have ended the transaction.
                self.run("ROLLBACK").await.ok();
                Err(error)
            }
        }
    }

    /// Runs a text of any number of statements.
    pub(crate) async fn run(&mut self, sql: &str) -> Result<(), sqlx::Error> {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        match self {
            Self::Sqlite(connection) => connection.execute(sql).await.map(drop),
            Self::Pg(connection) => connection.execute(sql).await.map(drop),
        }
    }

    /// The whole numbers that a query gives with these numbers.
    pub(crate) async fn numbers(&mut self, sql: &'static str, bound: &[i64]) -> Result<Vec<i64>, sqlx::Error> {
        match self {
            Self::Sqlite(connection) => {
                let query = bound.iter().fold(sqlx::query_scalar(sql), |query, number| query.bind(*number));
                query.fetch_all(connection).await
            }
            Self::Pg(connection) => {
                let query = bound.iter().fold(sqlx::query_scalar(sql), |query, number| query.bind(*number));
                query.persistent(false).fetch_all(connection).await
            }
        }
    }

    /// Runs a statement with these numbers.
    pub(crate) async fn write(&mut self, sql: &'static str, bound: &[i64]) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(connection) => {
                let query = bound.iter().fold(sqlx::query(sql), |query, number| query.bind(*number));
                query.execute(connection).await.map(drop)
            }
            Self::Pg(connection) => {
                let query = bound.iter().fold(sqlx::query(sql), |query, number| query.bind(*number));
                query.persistent(false).execute(connection).await.map(drop)
            }
        }
    }

    /// Writes the line of a migration that has none.
    pub(crate) async fn write_line(&mut self, step: &Step, success: bool, number: i64) -> Result<(), sqlx::Error> {
        let (description, checksum) = (step.description(), step.checksum());
        match self {
            Self::Sqlite(connection) => {
                let query = sqlx::query(LINE).bind(step.version).bind(description).bind(success).bind(checksum);
                query.bind(number).execute(connection).await.map(drop)
            }
            Self::Pg(connection) => {
                let query = sqlx::query(LINE).bind(step.version).bind(description).bind(success).bind(checksum);
                query.bind(number).persistent(false).execute(connection).await.map(drop)
            }
        }
    }

    /// The digests of the migrations that have run, in the order of their versions.
    pub(crate) async fn digests(&mut self) -> Result<Vec<Vec<u8>>, sqlx::Error> {
        match self {
            Self::Sqlite(connection) => sqlx::query_scalar(DIGESTS).fetch_all(connection).await,
            Self::Pg(connection) => sqlx::query_scalar(DIGESTS).persistent(false).fetch_all(connection).await,
        }
    }

    /// The texts that a query gives.
    pub(crate) async fn texts(&mut self, sql: &'static str) -> Result<Vec<String>, sqlx::Error> {
        match self {
            Self::Sqlite(connection) => sqlx::query_scalar(sql).fetch_all(connection).await,
            Self::Pg(connection) => sqlx::query_scalar(sql).persistent(false).fetch_all(connection).await,
        }
    }

    /// Whether there is a table, and whether it has a column.
    pub(crate) async fn has_column(&mut self, table: &str, column: &str) -> Result<bool, sqlx::Error> {
        let count: i64 = match self {
            Self::Sqlite(connection) => {
                sqlx::query_scalar(SQLITE_COLUMNS).bind(table).bind(column).fetch_one(connection).await?
            }
            Self::Pg(connection) => {
                let query = sqlx::query_scalar(PG_COLUMNS).bind(table).bind(column);
                query.persistent(false).fetch_one(connection).await?
            }
        };
        Ok(count > 0)
    }

    pub(crate) async fn close(self) {
        // What was to be kept is committed.
        match self {
            Self::Sqlite(connection) => connection.close().await.ok(),
            Self::Pg(connection) => connection.close().await.ok(),
        };
    }
}

/// Whether somebody else holds what is needed.
pub(crate) fn is_in_use(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    // 5 and 6 are SQLite's, with what else it says in the higher bytes.
    code.is_some_and(|code| {
        IN_USE.contains(&&*code) || code.len() < 5 && code.parse().is_ok_and(|code: u32| matches!(code & 255, 5 | 6))
    })
}

/// Whether a statement cannot be in a transaction.
pub(crate) fn stands_alone(error: &sqlx::Error) -> bool {
    let Some(error) = error.as_database_error() else { return false };
    error.code().is_some_and(|code| code == "25001") || error.message().contains("within a transaction")
}
