//! Brings a SQLite database to the current schema.
//!
//! All that is missing is applied in one transaction that takes the write lock first. A second process
//! or connection waits for it and then finds nothing to do; a failure leaves the file as it was.

use std::time::Instant;

use sqlx::migrate::{Migrate, MigrateError};
use sqlx::{Connection, SqliteConnection};

use super::ledger::{SQLITE, Step, checksum};
use super::{LEDGER_TABLE, MigrationError, nanoseconds_since, warn_of_unknown};

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
