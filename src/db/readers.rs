//! SQLite's read connections.
//!
//! They are opened when first needed, up to a limit, and kept. A pool would ask every connection for a
//! sign of life before and after each use, which costs more than most reads; these go straight on. A
//! reader that is dropped half way is clean again before its next call.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::EngineError;
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tracing::Instrument as _;

use super::dialect::{Kind, Operation, Sqlite};
use super::executor::block_on;
use super::fault::Step;
use super::opening::Opening;
use super::tx::{Attempts, Surroundings, span};
use crate::db::error::Abort;

/// How long a read waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Readers {
    opening: Opening,
    free: Mutex<Vec<SqliteConnection>>,
    slots: Semaphore,
    around: Surroundings,
}

impl Readers {
    pub(super) fn new(opening: Opening, around: Surroundings) -> Self {
        let limit = usize::try_from(opening.readers()).unwrap_or(Semaphore::MAX_PERMITS); // tidy: a limit, not data
        let slots = Semaphore::new(limit.min(Semaphore::MAX_PERMITS));
        Self { opening, free: Mutex::default(), slots, around }
    }

    /// Runs a read, waiting for a free connection.
    pub(super) async fn run<O: Operation<Sqlite>>(&self, operation: O) -> Result<O::Answer, EngineError> {
        let span = span::<Sqlite>(operation.name(), Kind::Read, operation.patience());
        let mut attempts = Attempts::new();
        loop {
            let ended = self.once(&operation).instrument(span.clone()).await;
            if let Some(answer) = attempts.judge::<Sqlite, O>(&self.around, &operation, ended).await {
                return answer;
            }
        }
    }

    async fn once<O: Operation<Sqlite>>(&self, operation: &O) -> Result<O::Answer, Abort> {
        self.around.faults.check(Step::Run, operation.name())?;
        let mut reader = self.take().await?;
        self.around.faults.watch(operation.name(), operation.run(reader.connection()?)).await
    }

    async fn take(&self) -> Result<Reader<'_>, sqlx::Error> {
        let slot = match timeout(ACQUIRE_TIMEOUT, self.slots.acquire()).await {
            Ok(Ok(slot)) => slot,
            Ok(Err(_)) => return Err(sqlx::Error::PoolClosed),
            Err(_) => return Err(sqlx::Error::PoolTimedOut),
        };
        let kept = self.free().pop();
        let connection = match kept {
            Some(connection) => connection,
            None => self.opening.reader().await?,
        };
        Ok(Reader { connection: Some(connection), home: self, _slot: slot })
    }

    fn free(&self) -> MutexGuard<'_, Vec<SqliteConnection>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner) // tidy: a list has no half-done state
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        for connection in self.free().drain(..) {
            if let Err(error) = block_on(connection.close()) {
                tracing::warn!(%error, "a read connection did not close cleanly");
            }
        }
    }
}

/// A connection in use; goes back on drop.
struct Reader<'a> {
    connection: Option<SqliteConnection>,
    home: &'a Readers,
    _slot: SemaphorePermit<'a>,
}

impl Reader<'_> {
    fn connection(&mut self) -> Result<&mut SqliteConnection, Abort> {
        self.connection.as_mut().ok_or(Abort::Driver(sqlx::Error::WorkerCrashed))
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.home.free().push(connection);
        }
    }
}
