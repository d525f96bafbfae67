//! How connections to a SQLite database are opened, and which file that is.

use std::path::Path;

use sqlx::error::DatabaseError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqlitePool};

use super::disk::Files;

/// How many prepared statements a connection keeps: more than there are.
const STATEMENT_CACHE: usize = 512;

/// How many pages the write-ahead log grows before the writer moves them to the file: 64 MiB. A page that was
/// written often meanwhile is moved once, and while the writer moves pages, everybody waits.
pub(crate) const LOG_PAGES: u32 = 16_000;

/// How many bytes a page takes in the log of a file that SQLite makes, and what stands before the first.
const PAGE_IN_LOG: u64 = 4_096 + 24;
const LOG_BEGIN: u64 = 32;

/// Moves the log's pages to the file. SQLite does it unasked too, and tells nobody when it fails; our connections
/// do not let it.
pub(super) const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";
const NO_CHECKPOINT_UNASKED: (&str, &str) = ("wal_autocheckpoint", "0");

/// Which file SQLite has opened; none is in memory.
const WHICH_FILE: &str = "PRAGMA database_list";

/// Whether the file has a write-ahead log, whatever was asked for.
const WHICH_JOURNAL: &str = "PRAGMA journal_mode";

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

    /// Whether the database is in memory alone.
    pub(super) fn is_in_memory(&self) -> bool {
        self.in_memory
    }

    /// A pool of connections for whoever looks at the tables by hand. None is opened yet.
    pub(super) fn pool(&self) -> SqlitePool {
        SqlitePoolOptions::new().max_connections(self.readers).connect_lazy_with(self.options.clone())
    }

    /// How many connections may read at once.
    pub(super) fn readers(&self) -> u32 {
        self.readers
    }

    /// Opens a connection for reads.
    pub(super) async fn reader(&self) -> Result<SqliteConnection, sqlx::Error> {
        SqliteConnection::connect_with(&self.options).await
    }

    /// How long the log is, where there is one.
    pub(super) fn log_bytes(&self) -> Option<u64> {
        self.files.as_ref().and_then(Files::log_bytes)
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

    /// A log that begins anew and was longer than its limit is cut to that.
    fn writing(&self) -> SqliteConnectOptions {
        let limit = u64::from(self.log_pages) * PAGE_IN_LOG + LOG_BEGIN;
        let options = self.options.clone().pragma("journal_size_limit", limit.to_string());
        match self.page_limit {
            Some(pages) => options.pragma("max_page_count", pages.to_string()),
            None => options,
        }
    }
}

/// SQLite's code of an error, without what extends it.
pub(super) fn primary_code(error: &sqlx::Error) -> Option<i32> {
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
    use crate::db::disk::has_page;
    use crate::db::error::coded;

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

    #[tokio::test]
    async fn a_log_has_the_pages_that_sqlite_counts_also_when_it_has_begun_anew() -> Result<(), sqlx::Error> {
        let folder = tempfile::tempdir()?;
        let options = SqliteConnectOptions::new().filename(folder.path().join("a.db")).create_if_missing(true);
        let mut writer = Opening::new(options, false, true, 1).writer().await?;
        let mut lengths = Vec::new();
        for statement in ["PRAGMA user_version = 1", "PRAGMA user_version = 2", CHECKPOINT, "PRAGMA user_version = 3"] {
            sqlx::raw_sql(statement).execute(&mut writer).await?;
            let counted = sqlx::query_as("PRAGMA wal_checkpoint(NOOP)").fetch_one(&mut writer).await?;
            let (_, length, _): (i64, u32, i64) = counted;
            let log = std::fs::File::open(folder.path().join("a.db-wal"))?;
            assert!(has_page(&log, length)?, "{statement}: {length}");
            assert!(!has_page(&log, length + 1)?, "{statement}: {length}");
            lengths.push(length);
        }
        assert_eq!(lengths, [1, 2, 2, 1], "it grows with each commit, and begins anew behind a checkpoint");
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
}
