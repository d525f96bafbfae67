//! Opens the embedded backend.

use std::fmt::Display;
use std::sync::Arc;

use ff_core::engine_error::{BackendError, BackendErrorKind};
use ff_core::partition::PartitionConfig;

use super::path::Location;
use super::registry;
use crate::backend::{Backend, SqliteBackend};
use crate::clock::Clock;
use crate::db::error::open_failed;
use crate::db::fault::Faults;
use crate::db::migrate::apply_sqlite;
use crate::db::opening::{LOG_PAGES, Opening};
use crate::db::sqlite::SqliteStore;
use crate::db::tx::Surroundings;
use crate::db::wake::Channels;
use crate::db::{Db, Sqlite};
use crate::engine::Engine;
use crate::sweep::SqliteScannerConfig;

/// The variable that says "this is development", and its value.
const DEV_MODE: (&str, &str) = ("FF_DEV_MODE", "1");

/// How many connections read at once unless the caller says otherwise.
const DEFAULT_READERS: u32 = 8;

/// How a database is opened.
pub(crate) struct Tuning {
    pub(crate) readers: u32,
    pub(crate) wal: bool,
    /// Whether the schema is brought up to date.
    pub(crate) migrates: bool,
    pub(crate) page_limit: Option<u32>,
    pub(crate) log_pages: u32,
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
}

impl Tuning {
    /// As it is in production, at a time.
    pub(crate) fn at(clock: Clock) -> Self {
        let (readers, faults) = (DEFAULT_READERS, Faults::default());
        Self { readers, wal: true, migrates: true, page_limit: None, log_pages: LOG_PAGES, clock, faults }
    }
}

impl SqliteBackend {
    /// Opens the database at `path`, which is made when it is missing, with up to eight read connections and WAL.
    ///
    /// What is answered is on the disk. If the disk fails, every operation fails from then on, until all handles are
    /// dropped and the file is opened again.
    ///
    /// `path` is the name of a file, with `sqlite://` before it or not, or a `file:` URI. `:memory:` is a database in
    /// memory that all handles of this process share, `file:NAME?mode=memory` another one. Handles on one file share
    /// everything, whatever they call it, and the last one closes it. A new file is readable by its owner alone.
    ///
    /// # Errors
    /// As [`new_with_tuning`](Self::new_with_tuning).
    pub async fn new(path: &str) -> Result<Arc<Self>, BackendError> {
        Self::new_with_tuning(path, DEFAULT_READERS, true).await
    }

    /// Opens the database at `path` with up to `pool_size` read connections (at least one), in WAL mode if
    /// `wal_mode` and the database is a file. A file that is in WAL mode stays so.
    ///
    /// When the file is open already, the open backend is shared and the other arguments are ignored.
    ///
    /// # Errors
    /// * [`BackendError::RequiresDevMode`] unless the environment has `FF_DEV_MODE=1`.
    /// * Kind `Protocol` when the path cannot be read as one, or the schema cannot be brought up to date.
    /// * Kind `Transport` when the database cannot be opened, or what is in it cannot be brought to the disk.
    ///
    /// A file that was not there before is not there afterwards either.
    pub async fn new_with_tuning(path: &str, pool_size: u32, wal_mode: bool) -> Result<Arc<Self>, BackendError> {
        let tuning = Tuning { readers: pool_size, wal: wal_mode, ..Tuning::at(Clock::system()) };
        Self::open(path, tuning).await
    }

    /// Opens the database file at `path`, which has to be there, for whoever looks after it: with one read connection, without
    /// a change of its schema unless `migrates`, with a log if it has one, and without the word in the environment that says
    /// "this is development".
    ///
    /// Whatever is called needs the schema that this program knows: [`Manage::schema_state`](crate::manage::Manage) says
    /// whether it is there. A file that is open in this process already is shared as it is.
    ///
    /// # Errors
    /// As [`new_with_tuning`](Self::new_with_tuning); kind `Transport` where there is no such file.
    pub async fn open_existing(path: &str, migrates: bool) -> Result<Arc<Self>, BackendError> {
        let location = Location::existing(path)
            .map_err(|error| failed(BackendErrorKind::Transport, "connect-opts parse for", path, &error))?;
        let tuning = Tuning { readers: 1, wal: false, migrates, ..Tuning::at(Clock::system()) };
        let backend = registry::shared(location.key.clone(), construct(path, &location, tuning)).await?;
        Ok(Arc::new(backend))
    }

    /// Opens the database at `path`, once for all who name that file.
    pub(crate) async fn open(path: &str, tuning: Tuning) -> Result<Arc<Self>, BackendError> {
        if std::env::var(DEV_MODE.0).as_deref() != Ok(DEV_MODE.1) {
            return Err(BackendError::RequiresDevMode);
        }
        let location = Location::new(path)
            .map_err(|error| failed(BackendErrorKind::Protocol, "connect-opts parse for", path, &error))?;
        let backend = registry::shared(location.key.clone(), construct(path, &location, tuning)).await?;
        Ok(Arc::new(backend))
    }

    /// Starts the sweeps. True for the call that started them, false afterwards, on every handle of the path.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn with_scanners(&self, cfg: SqliteScannerConfig) -> bool {
        self.sweeps().install(self.engine(), cfg.into())
    }
}

fn failed(kind: BackendErrorKind, what: &str, path: &str, error: &dyn Display) -> BackendError {
    open_failed(kind, format!("sqlite {what} \"{path}\": {error}"))
}

/// Opens the connections, brings the schema up to date, and joins everything; or leaves nothing behind.
async fn construct(path: &str, location: &Location, tuning: Tuning) -> Result<Backend<Sqlite>, BackendError> {
    let opened = open(path, location, tuning).await;
    if opened.is_err() {
        location.forget();
    }
    opened
}

async fn open(path: &str, location: &Location, tuning: Tuning) -> Result<Backend<Sqlite>, BackendError> {
    let Tuning { readers, wal, migrates, page_limit, log_pages, clock, faults } = tuning;
    let mut opening =
        Opening::new(location.options.clone(), location.is_in_memory(), wal, readers).limited(page_limit, log_pages);
    let connect = |error| failed(BackendErrorKind::Transport, "pool connect for", path, &error);
    let mut first = opening.writer().await.map_err(connect)?;
    opening.look(&mut first).await.map_err(connect)?;
    if !location.is(opening.file()) {
        let opened = opening.file().map_or("a database in memory".to_owned(), |file| file.display().to_string());
        let error = format!("SQLite opened {opened} instead; write the file's name without parameters");
        return Err(failed(BackendErrorKind::Protocol, "connect-opts parse for", path, &error));
    }
    tracing::warn!(path, "the SQLite backend is active: for development, with one writer, in one process only");
    let around = Surroundings { channels: Channels::new(), courier: None, faults };
    if migrates {
        let migrated = apply_sqlite(&mut first).await;
        migrated.map_err(|error| failed(BackendErrorKind::Protocol, "migrate for", path, &error))?;
    }
    let store = SqliteStore::new(opening, first, around.clone())
        .await
        .map_err(|error| failed(BackendErrorKind::Transport, "writer start for", path, &error))?;
    Ok(Backend::of(Engine::new(Db::new(store, around), clock, PartitionConfig::default())))
}
