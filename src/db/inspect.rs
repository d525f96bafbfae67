//! What a database says of itself, for whoever looks after it.

#[cfg(feature = "postgres")]
use std::time::Duration;

#[cfg(feature = "postgres")]
use sqlx::PgConnection;
#[cfg(feature = "sqlite")]
use sqlx::SqliteConnection;

use super::migrate::IndexNames;
use crate::model::manage::Inspection;
#[cfg(feature = "postgres")]
use crate::model::manage::TableSize;
#[cfg(feature = "postgres")]
use crate::statements::pg_only;
#[cfg(feature = "postgres")]
use crate::statements::server::ServerSettingReadParams;

/// The settings of a server that matter here.
#[cfg(feature = "postgres")]
const SETTINGS: [&str; 9] = [
    "server_version",
    "fsync",
    "full_page_writes",
    "synchronous_commit",
    "autovacuum",
    "max_connections",
    "max_locks_per_transaction",
    "lock_timeout",
    "idle_in_transaction_session_timeout",
];

#[cfg(feature = "sqlite")]
const INDEXES: &str = include_str!("../../schema/ledger/sqlite/index_list.sql");
#[cfg(feature = "sqlite")]
const PAGES: &str = include_str!("../../schema/ledger/sqlite/pages.sql");

/// Nothing said yet.
fn silent() -> Inspection {
    Inspection {
        settings: Vec::new(),
        missing_indexes: Vec::new(),
        broken_indexes: Vec::new(),
        tables: Vec::new(),
        partitions: None,
        frozen_age: None,
        oldest_transaction: None,
        log_bytes: None,
        pages: None,
    }
}

/// What an SQLite file says.
#[cfg(feature = "sqlite")]
pub(super) async fn sqlite(
    connection: &mut SqliteConnection,
    wanted: IndexNames,
    log_bytes: Option<u64>,
) -> Result<Inspection, sqlx::Error> {
    let found: Vec<String> = sqlx::query_scalar(INDEXES).fetch_all(&mut *connection).await?;
    let (journal, pages, free): (String, i64, i64) = sqlx::query_as(PAGES).fetch_one(connection).await?;
    Ok(Inspection {
        settings: vec![("journal_mode".to_owned(), Some(journal))],
        missing_indexes: wanted.without(&found),
        log_bytes,
        pages: Some((pages, free)),
        ..silent()
    })
}

/// What a Postgres server says of this database.
#[cfg(feature = "postgres")]
pub(super) async fn postgres(connection: &mut PgConnection, wanted: IndexNames) -> Result<Inspection, sqlx::Error> {
    let mut settings = Vec::with_capacity(SETTINGS.len());
    for name in SETTINGS {
        let params = ServerSettingReadParams { setting: name.to_owned() };
        settings.push((name.to_owned(), pg_only::server_setting_read(connection, &params).await?.value));
    }
    let (mut found, mut broken_indexes) = (Vec::new(), Vec::new());
    for row in pg_only::manage_index_list(connection).await? {
        if !row.is_whole {
            broken_indexes.push(row.index_name.clone());
        }
        found.push(row.index_name);
    }
    let mut tables: Vec<TableSize> = pg_only::manage_table_list(connection)
        .await?
        .into_iter()
        .map(|row| TableSize {
            name: row.table_name,
            live: row.live_count,
            dead: row.dead_count,
            bytes: row.byte_count,
        })
        .collect();
    tables.sort_by_key(|table| std::cmp::Reverse(table.bytes));
    let vacuum = pg_only::manage_vacuum_read(connection).await?;
    Ok(Inspection {
        settings,
        missing_indexes: wanted.without(&found),
        broken_indexes,
        tables,
        partitions: Some(pg_only::server_lock_budget(connection).await?.partitions),
        frozen_age: Some(vacuum.frozen_age),
        oldest_transaction: Some(Duration::from_secs(vacuum.oldest_seconds.max(0).unsigned_abs())),
        ..silent()
    })
}
