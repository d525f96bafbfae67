//! SQLite: one writer, several readers, one process.
//!
//! Writes go to the writer's thread ([`tx::group`](super::tx)), reads to connections of their own, which
//! WAL lets work beside the writer. A database in memory has no WAL; there, reads go to the writer too,
//! so that nobody meets a locked table. This module opens connections and names what is particular.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use ff_core::EngineError;
use ff_core::backend::BackendTag;
use ff_core::partition::PartitionConfig;
use ff_core::types::{BudgetId, FlowId, QuotaPolicyId};
use sqlx::error::DatabaseError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqlitePool};

use super::dialect::{Dialect, Store, SubscriptionWords};
use super::disk::Files;
use super::executor::block_on;
use super::readers::Readers;
use super::tx::group::Writer;
use super::tx::{Kind, Operation, Surroundings};
use super::wake::{Interest, Outbox, StreamKey};
use crate::db::error::transport;

/// How many prepared statements a connection keeps: more than there are.
const STATEMENT_CACHE: usize = 512;

/// How many pages the write-ahead log grows before the writer moves them to the file: 64 MiB. A page that was
/// written often meanwhile is moved once, and while the writer moves pages, everybody waits.
pub(crate) const LOG_PAGES: u32 = 16_000;

/// Moves the log's pages to the file. SQLite does it unasked too, and tells nobody when it fails; our connections
/// do not let it.
pub(super) const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";
const NO_CHECKPOINT_UNASKED: (&str, &str) = ("wal_autocheckpoint", "0");

/// Which file SQLite has opened; none is in memory.
const WHICH_FILE: &str = "PRAGMA database_list";

/// Whether the file has a write-ahead log, whatever was asked for.
const WHICH_JOURNAL: &str = "PRAGMA journal_mode";

/// The embedded database.
#[derive(Debug, Clone, Copy)]
pub struct Sqlite;

impl Dialect for Sqlite {
    type Connection = SqliteConnection;
    type Store = SqliteStore;

    const LABEL: &'static str = "sqlite";
    const TAG: BackendTag = BackendTag::Sqlite;
    const STAGE: &'static str = "Phase-4";
    const REPORTS_CLAIM_FOR_WORKER: bool = false;
    const REVOKED_LEASE_PREFIX: &'static str = "sqlite";
    const LIST_WORKERS_ACROSS_NAMESPACES: &'static str =
        "list_workers (cross-namespace on SQLite — pass namespace explicitly)";
    const REFUSED_RECLAIM_COUNTS: u32 = 0;
    const SUBSCRIBE_LEASE_HISTORY: SubscriptionWords = SubscriptionWords {
        unavailable: "sqlite.subscribe_lease_history",
        foreign_cursor: "invalid event_id cursor for sqlite.subscribe_lease_history",
    };
    const SUBSCRIBE_COMPLETION: SubscriptionWords = SubscriptionWords {
        unavailable: "sqlite.subscribe_completion",
        foreign_cursor: "invalid event_id cursor for sqlite.subscribe_completion",
    };
    const SUBSCRIBE_SIGNAL_DELIVERY: SubscriptionWords = SubscriptionWords {
        unavailable: "sqlite.subscribe_signal_delivery",
        foreign_cursor: "invalid event_id cursor for sqlite.subscribe_signal_delivery",
    };
    const FLOW_MEMBERS_ONLY_IN: Option<(u16, &'static str)> =
        Some((0, "execution partition mismatch under single-writer SQLite"));

    fn is_transient(error: &sqlx::Error) -> bool {
        matches!(primary_code(error), Some(5 | 6))
    }

    fn is_damage(error: &sqlx::Error) -> bool {
        error.as_database_error().is_some_and(|error| error.message().contains("malformed JSON"))
    }

    fn exhausted(last: sqlx::Error) -> EngineError {
        transport::<Self>(last)
    }

    fn flow_partition(_: &FlowId, _: &PartitionConfig) -> i16 {
        0
    }

    fn budget_partition(_: &BudgetId, _: &PartitionConfig) -> i16 {
        0
    }

    fn quota_partition(_: &QuotaPolicyId, _: &PartitionConfig) -> i16 {
        0
    }

    fn counter_partitions(_: u16) -> Range<i16> {
        0..1
    }

    fn counter_partition(_: i16) -> i16 {
        0
    }

    fn worker_partition(_: &str) -> i16 {
        0
    }
}

/// How the connections to one database are made.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    options: SqliteConnectOptions,
    in_memory: bool,
    /// What SQLite opened; not known before it did.
    files: Option<Files>,
    readers: u32,
    /// How many pages the file may have; a test's full disk.
    page_limit: Option<u32>,
    /// How many pages the log may have before they are moved to the file.
    log_pages: u32,
}

impl Opening {
    /// Adds to how the driver opens a database what all connections of a backend have in common.
    pub(crate) fn new(options: SqliteConnectOptions, in_memory: bool, wal: bool, readers: u32) -> Self {
        let mut options = options.statement_cache_capacity(STATEMENT_CACHE).disable_statement_logging();
        if !in_memory {
            let (key, value) = NO_CHECKPOINT_UNASKED;
            // A commit without a log is the deletion of a journal, which the folder has to know of as well.
            options = options.pragma(key, value).synchronous(SqliteSynchronous::Extra);
            if wal {
                options = options.journal_mode(SqliteJournalMode::Wal);
            }
        }
        Self { options, in_memory, files: None, readers: readers.max(1), page_limit: None, log_pages: LOG_PAGES }
    }

    /// The same for a file that may not grow beyond that many pages, and with another limit for the log.
    pub(crate) fn limited(self, page_limit: Option<u32>, log_pages: u32) -> Self {
        Self { page_limit, log_pages, ..self }
    }

    /// Asks SQLite which file it opened, and how. A file that has a log already keeps it.
    pub(crate) async fn look(&mut self, first: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let (_, _, database): (i64, String, String) = sqlx::query_as(WHICH_FILE).fetch_one(&mut *first).await?;
        if database.is_empty() {
            return Ok(());
        }
        let journal: String = sqlx::query_scalar(WHICH_JOURNAL).fetch_one(first).await?;
        let has_log = journal == "wal";
        if has_log {
            self.options = self.options.clone().journal_mode(SqliteJournalMode::Wal);
        }
        self.files = Some(Files::new(database.into(), has_log));
        Ok(())
    }

    /// The file that SQLite opened; none is in memory.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.files.as_ref().map(Files::database)
    }

    /// How many connections may read at once.
    pub(super) fn readers(&self) -> u32 {
        self.readers
    }

    /// Opens a connection for reads.
    pub(super) async fn reader(&self) -> Result<SqliteConnection, sqlx::Error> {
        SqliteConnection::connect_with(&self.options).await
    }

    /// The files, if it is not in memory.
    pub(super) fn files(&self) -> Option<&Files> {
        self.files.as_ref()
    }

    /// How many pages the log may have before they are moved to the file.
    pub(super) fn log_pages(&self) -> u32 {
        self.log_pages
    }

    /// Opens a connection for writes that wait for the disk by themselves.
    pub(crate) async fn writer(&self) -> Result<SqliteConnection, sqlx::Error> {
        SqliteConnection::connect_with(&self.writing()).await
    }

    /// Opens the connection for grouped writes. Where there is a log, its commits do not wait for the disk;
    /// [`tx::log`](super::tx::log) does.
    pub(super) async fn group_writer(&self) -> Result<SqliteConnection, sqlx::Error> {
        let mut options = self.writing();
        if self.files.as_ref().is_some_and(Files::has_log) {
            options = options.synchronous(SqliteSynchronous::Normal);
        }
        SqliteConnection::connect_with(&options).await
    }

    fn writing(&self) -> SqliteConnectOptions {
        let options = self.options.clone();
        match self.page_limit {
            Some(pages) => options.pragma("max_page_count", pages.to_string()),
            None => options,
        }
    }
}

/// The connections to one database.
pub struct SqliteStore {
    writer: Writer,
    readers: Option<Readers>,
    pool: OnceLock<SqlitePool>,
    /// What keeps a database in memory alive while other connections come and go.
    sentinel: Option<SqliteConnection>,
    opening: Opening,
}

impl SqliteStore {
    /// Starts the writer. `first` is the connection that made the database: it stays where nothing else would
    /// keep the data, and is closed where the writer's own has taken its place.
    pub(crate) async fn new(
        opening: Opening,
        first: SqliteConnection,
        around: Surroundings,
    ) -> Result<Self, sqlx::Error> {
        let writer = Writer::start(opening.clone(), around.clone()).await?;
        let (readers, sentinel) = if opening.in_memory {
            (None, Some(first))
        } else {
            first.close().await?;
            (Some(Readers::new(opening.clone(), around)), None)
        };
        Ok(Self { writer, readers, pool: OnceLock::new(), sentinel, opening })
    }

    /// A pool of further connections for whoever looks at the tables by hand; made when first asked for.
    pub(crate) fn pool(&self) -> &SqlitePool {
        let make = || {
            let options = SqlitePoolOptions::new().max_connections(self.opening.readers);
            options.connect_lazy_with(self.opening.options.clone())
        };
        self.pool.get_or_init(make)
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.writer.stop();
        self.readers = None;
        if let Some(Err(error)) = self.sentinel.take().map(|sentinel| block_on(sentinel.close())) {
            tracing::warn!(%error, "the database in memory did not close cleanly");
        }
    }
}

impl Store<Sqlite> for SqliteStore {
    async fn run<O: Operation<Sqlite>>(&self, operation: O) -> Result<O::Answer, EngineError> {
        match (&self.readers, operation.kind()) {
            (Some(readers), Kind::Read | Kind::Survey) => {
                let answer = readers.run(operation).await;
                if let Some(log) = self.writer.log() {
                    log.reached().await?;
                }
                answer
            }
            _ => self.writer.run(operation).await,
        }
    }

    async fn watch_stream(&self, _: StreamKey) -> Result<Option<Interest>, EngineError> {
        Ok(None)
    }

    async fn watch_outbox(&self, _: Outbox) -> Result<Option<Interest>, EngineError> {
        Ok(None)
    }

    /// Never: a database is one file.
    async fn is_spread(&self) -> Result<bool, EngineError> {
        Ok(false)
    }

    /// Nobody: with a single writer, rows appear in the order of their ids.
    async fn writers(&self, _: Outbox) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }

    /// As [`writers`](Store::writers).
    async fn holders(&self, _: Outbox) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }
}

/// SQLite's code of an error, without what extends it.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error().and_then(DatabaseError::code)?;
    code.parse::<i32>().ok().map(|code| code & 0xff)
}

/// Whether a failure to move the log's pages means no more than that they stay there: somebody else is at the
/// database, or the disk is full.
pub(super) fn can_wait(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(5 | 6 | 13))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::error::{coded, shared};

    #[test]
    fn busy_and_locked_are_transient_with_any_extended_code() {
        for code in ["5", "6", "261", "517", "773", "262", "518"] {
            assert!(Sqlite::is_transient(&coded(code)), "{code}");
        }
        for code in ["11", "13", "21", "266", "2067", "x"] {
            assert!(!Sqlite::is_transient(&coded(code)), "{code}");
        }
        assert!(!Sqlite::is_transient(&sqlx::Error::PoolTimedOut));
    }

    /// What a setting is on a connection.
    async fn setting(connection: &mut SqliteConnection, question: &'static str) -> Result<i64, sqlx::Error> {
        sqlx::query_scalar(question).fetch_one(connection).await
    }

    #[tokio::test]
    async fn a_commit_waits_for_the_disk_unless_the_log_does_and_no_log_is_moved_unasked() -> Result<(), sqlx::Error> {
        let folder = tempfile::tempdir()?;
        for (name, asked, has_log) in [("a.db", false, false), ("b.db", true, true), ("b.db", false, true)] {
            let options = SqliteConnectOptions::new().filename(folder.path().join(name)).create_if_missing(true);
            let mut opening = Opening::new(options, false, asked, 1);
            let mut first = opening.writer().await?;
            opening.look(&mut first).await?;
            assert_eq!(opening.files().map(Files::has_log), Some(has_log), "{name}");
            let mut writer = opening.group_writer().await?;
            let (normal, extra) = (1, 3);
            let synchronous = setting(&mut writer, "PRAGMA synchronous").await?;
            assert_eq!(synchronous, if has_log { normal } else { extra }, "{name}");
            for mut other in [first, opening.reader().await?] {
                assert_eq!(setting(&mut other, "PRAGMA synchronous").await?, extra, "{name}");
                assert_eq!(setting(&mut other, "PRAGMA wal_autocheckpoint").await?, 0, "{name}");
            }
            assert_eq!(setting(&mut writer, "PRAGMA wal_autocheckpoint").await?, 0, "{name}");
        }
        Ok(())
    }

    #[test]
    fn only_a_full_disk_and_a_busy_database_leave_the_log_as_it_was() {
        for code in ["5", "6", "261", "13"] {
            assert!(can_wait(&coded(code)), "{code}");
        }
        // A sync, a write and a read that failed, and damage.
        for code in ["10", "1034", "778", "266", "11"] {
            assert!(!can_wait(&coded(code)), "{code}");
        }
        assert!(!can_wait(&sqlx::Error::WorkerCrashed));
    }

    #[test]
    fn a_shared_error_is_judged_and_reads_like_the_first() {
        let first = coded("5");
        let second = shared(&first);
        assert!(Sqlite::is_transient(&second));
        assert_eq!(second.to_string(), first.to_string());
    }
}
