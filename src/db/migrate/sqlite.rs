//! Brings a SQLite database to the current schema.
//!
//! All that is missing is applied in one transaction that takes the write lock first. A second process
//! or connection waits for it and then finds nothing to do; a failure leaves the file as it was.

use std::time::Instant;

use sqlx::migrate::{Migrate, MigrateError};
use sqlx::{Connection, SqliteConnection};

use super::error::MigrationError;
use super::index_names::IndexNames;
use super::ledger::{self, LEDGER_TABLE, SQLITE, Step, checksum, nanoseconds_since, warn_of_unknown};
use crate::model::manage::SchemaState;

const CHECKSUMS: &str = include_str!("../../../schema/ledger/sqlite/checksums.txt");
const BEGIN: &str = include_str!("../../../schema/ledger/sqlite/begin.sql");
const CREATE_ADDITIONS: &str = include_str!("../../../schema/ledger/sqlite/additions_create.sql");
const LIST_ADDITIONS: &str = include_str!("../../../schema/ledger/sqlite/additions_list.sql");
const RECORD_ADDITION: &str = include_str!("../../../schema/ledger/sqlite/addition_record.sql");
const RECORD_VERSION: &str = include_str!("../../../schema/ledger/sqlite/version_record.sql");

/// Applies every version that is missing.
///
/// # Errors
///
/// See [`MigrationError`]. Nothing is changed then.
pub(crate) async fn apply_sqlite(connection: &mut SqliteConnection) -> Result<(), MigrationError> {
    if is_current(connection).await {
        return Ok(());
    }
    let mut transaction = connection.begin_with(BEGIN).await?;
    transaction.ensure_migrations_table(LEDGER_TABLE).await?;
    sqlx::raw_sql(CREATE_ADDITIONS).execute(&mut *transaction).await?;
    if let Some(version) = transaction.dirty_version(LEDGER_TABLE).await? {
        return Err(MigrateError::Dirty(version).into());
    }
    let applied = applied(&mut transaction).await?;
    warn_of_unknown(&applied, SQLITE);
    for step in SQLITE.iter().filter(|step| !applied.contains(&step.version())) {
        apply(&mut transaction, step).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Whether nothing is missing, found out without the write lock, which another process may hold for
/// long. A ledger that cannot be read yet is one that is not current.
async fn is_current(connection: &mut SqliteConnection) -> bool {
    let dirty = connection.dirty_version(LEDGER_TABLE).await;
    let applied = applied(connection).await;
    match (dirty, applied) {
        (Ok(None), Ok(applied)) => {
            let current = SQLITE.iter().all(|step| applied.contains(&step.version()));
            if current {
                warn_of_unknown(&applied, SQLITE);
            }
            current
        }
        _ => false,
    }
}

/// Which versions the database has.
///
/// # Errors
///
/// See [`MigrationError`].
pub(crate) async fn schema_state(connection: &mut SqliteConnection) -> Result<SchemaState, MigrationError> {
    let shared = connection.list_applied_migrations(LEDGER_TABLE).await.map_err(MigrationError::from);
    let shared = ledger::read_if_there(shared)?.into_iter().map(|row| row.version);
    let own = sqlx::query_scalar(LIST_ADDITIONS).fetch_all(connection).await.map_err(MigrationError::from);
    let applied: Vec<i64> = shared.chain(ledger::read_if_there(own)?).collect();
    Ok(ledger::schema_state(&applied, SQLITE))
}

/// The indexes that a database with all versions has.
pub(crate) fn index_names() -> IndexNames {
    IndexNames::of(SQLITE)
}

/// The versions that both ledgers have.
async fn applied(connection: &mut SqliteConnection) -> Result<Vec<i64>, MigrationError> {
    let shared = connection.list_applied_migrations(LEDGER_TABLE).await?;
    let own: Vec<i64> = sqlx::query_scalar(LIST_ADDITIONS).fetch_all(connection).await?;
    Ok(shared.into_iter().map(|row| row.version).chain(own).collect())
}

/// Applies one version and records it.
async fn apply(connection: &mut SqliteConnection, step: &Step) -> Result<(), MigrationError> {
    let failed = |error| MigrateError::ExecuteMigration(error, step.version());
    let start = Instant::now();
    sqlx::raw_sql(step.sql).execute(&mut *connection).await.map_err(failed)?;
    let record = if step.is_addition() {
        sqlx::query(RECORD_ADDITION).bind(step.version()).bind(step.stem)
    } else {
        sqlx::query(RECORD_VERSION)
            .bind(step.version())
            .bind(step.description())
            .bind(checksum(CHECKSUMS, step.version()))
            .bind(nanoseconds_since(start))
    };
    record.execute(connection).await.map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use sqlx::ConnectOptions;
    use sqlx::sqlite::SqliteConnectOptions;

    use super::*;

    async fn connect(folder: &tempfile::TempDir) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(folder.path().join("engine.sqlite")).create_if_missing(true);
        options.connect().await.expect("a connection")
    }

    #[tokio::test]
    async fn connections_that_start_at_once_do_the_work_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut first, mut second) = (connect(&folder).await, connect(&folder).await);
        let (one, other) = tokio::join!(apply_sqlite(&mut first), apply_sqlite(&mut second));
        one.expect("the first");
        other.expect("the second");
        assert_eq!(applied(&mut first).await.expect("the ledgers").len(), SQLITE.len());
    }

    #[tokio::test]
    async fn a_version_that_fails_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut connection = connect(&folder).await;
        let obstacle = SQLITE.iter().find(|step| step.version() == 14).expect("version 14");
        let table = obstacle.sql.split_once(";").map_or("", |(table, _)| table);
        sqlx::raw_sql(table).execute(&mut connection).await.expect("a table in the way");
        let error = apply_sqlite(&mut connection).await.expect_err("the table is there already");
        assert!(matches!(error, MigrationError::Sqlx(MigrateError::ExecuteMigration(_, 14))), "{error}");
        assert!(connection.list_applied_migrations(LEDGER_TABLE).await.is_err(), "not even the ledger was made");
    }
}
