//! The databases, behind one door.
//!
//! [`Db`] runs operations by name. The engine writes them once, against the generated statements:
//!
//! ```ignore
//! // One statement that is atomic by itself, and what is told after the commit if it gives a row.
//! let params = lease::LeaseRenewParams { .. };
//! let row = engine.db().unit_telling(params, move |row, wakes| wakes.lease(row.event_id, partition_key)).await?;
//!
//! // Several calls in one transaction; `?` takes a driver's error and an engine's error alike.
//! engine.db().write("reclaim_execution", params, |conn, params| Box::pin(async move {
//!     let found = conn.grant_execution_lock(&params.lock).await?;
//!     found.ok_or(EngineError::NotFound { entity: "execution" })?;
//!     Ok(conn.grant_delete(&params.delete).await?)
//! }), silent).await?;
//!
//! // Reads; no transaction.
//! let lanes = engine.db().read(lane::LaneListParams).await?;
//!
//! // A live tail: subscribe, read, and read again after each `changed()`.
//! let mut tail = engine.db().tail(StreamKey { execution, attempt_index }).await?;
//! ```
//!
//! | What the engine uses | Where |
//! |---|---|
//! | `Db::read`, `Db::survey`, `Db::unit`, `Db::unit_telling`, `Db::combined_telling`: one statement, which knows its name and its row | [`statement`] |
//! | `Db::reads`, `Db::write`, `Db::tail`, `Db::outbox`, [`silent`] | here |
//! | `Wakes::{lease, completion, signal, frame, outbox}` | [`wake`] |
//! | `D::LABEL`, `D::TAG`, `D::flow_partition(..)`, `D::worker_partition(..)`, `D::REVOKED_LEASE_PREFIX`, … | [`Dialect`] |
//! | `Abort` (what a `write` closure returns as its error), `transport::<D>(sqlx::Error)` | [`error`] |
//!
//! The closures may run more than once (see [`tx`]) and must not keep anything between runs. A caller's
//! future may be dropped at any moment: the operation then has happened or has not, and every
//! connection goes on clean.

#[macro_use]
mod call;

mod abort;
pub(crate) mod dialect;
#[cfg(feature = "sqlite")]
mod disk;
pub(crate) mod error;
#[cfg(feature = "sqlite")]
mod executor;
pub(crate) mod fault;
#[cfg(feature = "postgres")]
mod in_steps;
mod inspect;
#[cfg(feature = "postgres")]
pub(crate) mod listen;
pub(crate) mod migrate;
#[cfg(feature = "postgres")]
mod notify;
#[cfg(feature = "sqlite")]
pub(crate) mod opening;
#[cfg(feature = "postgres")]
pub(crate) mod pg;
mod plain;
#[cfg(feature = "sqlite")]
mod readers;
#[cfg(feature = "postgres")]
pub(crate) mod session;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
mod statement;
pub(crate) mod tx;
mod waiters;
pub(crate) mod wake;
#[cfg(feature = "postgres")]
mod warm;

use std::sync::Arc;

use ff_core::EngineError;
use futures_core::future::BoxFuture;
use tokio::sync::{broadcast, watch};

use crate::model::manage::{Inspection, SchemaState};
pub(crate) use dialect::Dialect;
#[cfg(feature = "postgres")]
pub use dialect::Postgres;
#[cfg(feature = "sqlite")]
pub use dialect::Sqlite;
use dialect::{Kind, Operation, Patience, Store};
use error::Abort;
use migrate::MigrationError;
use tx::Surroundings;
pub(crate) use waiters::Waiters;
pub use wake::OutboxEvent;
pub(crate) use wake::{Interest, Outbox, StreamKey, Tail, Wakes};

/// Runs operations on one database; clones use the same connections.
pub(crate) struct Db<D: Dialect> {
    store: Arc<D::Store>,
    around: Surroundings,
    patience: Patience,
}

impl<D: Dialect> Clone for Db<D> {
    fn clone(&self) -> Self {
        Self { store: Arc::clone(&self.store), around: self.around.clone(), patience: self.patience }
    }
}

tokio::task_local! {
    /// Set while a sweep is at work.
    static SWEEPING: ();
}

/// Runs a step of a sweep. What it has done in this task is done on the connection of the sweeps, where there is one.
pub(crate) async fn sweeping<F: Future>(step: F) -> F::Output {
    SWEEPING.scope((), step).await
}

/// Whether this task is a sweep.
#[cfg(feature = "postgres")]
fn is_sweeping() -> bool {
    SWEEPING.try_with(|()| ()).is_ok()
}

/// Nothing to tell after the commit.
pub(crate) fn silent<P, T>(_: &P, _: &T, _: &mut Wakes) {}

impl<D: Dialect> Db<D> {
    /// Joins the connections with the channels that their operations are told on.
    pub(crate) fn new(store: D::Store, around: Surroundings) -> Self {
        Self { store: Arc::new(store), around, patience: Patience::Caller }
    }

    /// The same database for work that is one of many and comes again: what waits for somebody's row for more than
    /// a moment answers `Contention(RetryExhausted)`.
    pub(crate) fn impatient(&self) -> Self {
        Self { patience: Patience::Sweep, ..self.clone() }
    }

    fn call<P, O, W>(&self, name: &'static str, kind: Kind, params: P, op: O, wakes: W) -> Call<P, O, W> {
        Call { name, kind, patience: self.patience, params, op, wakes }
    }

    /// Reads, in several calls that need not see the same state.
    pub(crate) async fn reads<P, T, O>(&self, name: &'static str, params: P, op: O) -> Result<T, EngineError>
    where
        P: Send + Sync + 'static,
        T: Send + 'static,
        O: for<'a> Fn(&'a mut D::Connection, &'a P) -> BoxFuture<'a, Result<T, sqlx::Error>> + Send + Sync + 'static,
    {
        self.store.run(self.call(name, Kind::Read, params, op, silent)).await
    }

    /// Runs one call that is atomic by itself, under a name of the test's own.
    #[cfg(all(test, feature = "sqlite"))]
    pub(crate) async fn unit_named<P, T, O, W>(
        &self,
        name: &'static str,
        params: P,
        op: O,
        wakes: W,
    ) -> Result<T, EngineError>
    where
        P: Send + Sync + 'static,
        T: Send + 'static,
        O: for<'a> Fn(&'a mut D::Connection, &'a P) -> BoxFuture<'a, Result<T, sqlx::Error>> + Send + Sync + 'static,
        W: Fn(&P, &T, &mut Wakes) + Send + Sync + 'static,
    {
        self.store.run(self.call(name, Kind::Unit, params, op, wakes)).await
    }

    /// Runs several calls in one transaction, which rolls back when `op` answers with an error.
    pub(crate) async fn write<P, T, O, W>(
        &self,
        name: &'static str,
        params: P,
        op: O,
        wakes: W,
    ) -> Result<T, EngineError>
    where
        P: Send + Sync + 'static,
        T: Send + 'static,
        O: for<'a> Fn(&'a mut D::Connection, &'a P) -> BoxFuture<'a, Result<T, Abort>> + Send + Sync + 'static,
        W: Fn(&P, &T, &mut Wakes) + Send + Sync + 'static,
    {
        self.store.run(self.call(name, Kind::Write, params, op, wakes)).await
    }

    /// Hears of the frames that are appended to a stream from here on, by any process.
    pub(crate) async fn tail(&self, key: StreamKey) -> Result<Tail, EngineError> {
        let (_, events) = self.around.channels.stream(key);
        let _interest = self.store.watch_stream(key).await?;
        Ok(Tail { events, _interest })
    }

    /// Hears of rows that are added to an outbox from here on: by this process, and by others while
    /// [`watch_outbox`](Self::watch_outbox) holds.
    pub(crate) fn outbox(&self, outbox: Outbox) -> broadcast::Receiver<OutboxEvent> {
        self.around.channels.outbox(outbox)
    }

    /// Hears of other processes' rows in an outbox while the answer lives.
    pub(crate) async fn watch_outbox(&self, outbox: Outbox) -> Result<Option<Interest>, EngineError> {
        self.store.watch_outbox(outbox).await
    }

    /// The claims that wait for work.
    pub(crate) fn waiters(&self) -> &Waiters {
        self.around.channels.waiters()
    }

    /// Hears of work that other processes bring, from the first claim that waits until the database is closed. Where that
    /// cannot be, claims that wait look now and then.
    pub(crate) async fn hear_of_work(&self) {
        let heard = self.around.channels.work_interest().get_or_try_init(|| self.store.watch_work()).await;
        if let Err(error) = heard {
            tracing::debug!(%error, "work that other processes bring is not heard of");
        }
    }

    /// Tells whoever watches of the connections, or of the log.
    pub(crate) fn measure(&self) {
        self.store.measure();
    }

    /// How often the connection that brings other processes' messages was lost; told as well when it is back.
    pub(crate) fn link(&self) -> watch::Receiver<u64> {
        self.around.channels.link()
    }

    /// The transactions under way that write to an outbox: see [`Store::writers`](dialect::Store::writers).
    pub(crate) async fn writers(&self, outbox: Outbox) -> Result<Vec<String>, EngineError> {
        self.store.writers(outbox).await
    }

    /// Which versions of the schema the database has.
    pub(crate) async fn schema_state(&self) -> Result<SchemaState, MigrationError> {
        self.store.schema_state().await
    }

    /// What the database says of itself.
    pub(crate) async fn inspect(&self) -> Result<Inspection, EngineError> {
        self.store.inspect().await
    }

    /// Describes those transactions: see [`Store::holders`](dialect::Store::holders).
    pub(crate) async fn holders(&self, outbox: Outbox) -> Result<Vec<String>, EngineError> {
        self.store.holders(outbox).await
    }

    /// Whether the tables are spread over several nodes: see [`Store::is_spread`](dialect::Store::is_spread).
    pub(crate) async fn is_spread(&self) -> Result<bool, EngineError> {
        self.store.is_spread().await
    }

    /// The connections.
    pub(crate) fn store(&self) -> &D::Store {
        &self.store
    }

    /// The channels and the fault hook.
    pub(crate) fn around(&self) -> &Surroundings {
        &self.around
    }
}

/// An operation made of closures.
struct Call<P, O, W> {
    name: &'static str,
    kind: Kind,
    patience: Patience,
    params: P,
    op: O,
    wakes: W,
}

impl<D, P, T, E, O, W> Operation<D> for Call<P, O, W>
where
    D: Dialect,
    P: Send + Sync + 'static,
    T: Send + 'static,
    E: Into<Abort> + 'static,
    O: for<'a> Fn(&'a mut D::Connection, &'a P) -> BoxFuture<'a, Result<T, E>> + Send + Sync + 'static,
    W: Fn(&P, &T, &mut Wakes) + Send + Sync + 'static,
{
    type Answer = T;

    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn patience(&self) -> Patience {
        self.patience
    }

    fn run<'a>(&'a self, connection: &'a mut D::Connection) -> BoxFuture<'a, Result<T, Abort>> {
        let running = (self.op)(connection, &self.params);
        Box::pin(async move { running.await.map_err(Into::into) })
    }

    fn wakes(&self, answer: &T, wakes: &mut Wakes) {
        (self.wakes)(&self.params, answer, wakes);
    }
}
