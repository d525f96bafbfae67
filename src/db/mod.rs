//! The databases, behind one door.
//!
//! [`Db`] runs operations by name. The engine writes them once, against the generated statements:
//!
//! ```ignore
//! // One call that is atomic by itself. `params` is lent to the closure, which captures nothing else.
//! let row = engine.db().unit(
//!     "lease_renew",
//!     params,                                              // P: Send + Sync + 'static
//!     |conn, params| Box::pin(conn.lease_renew(params)),   // Result<T, sqlx::Error>
//!     |params, row, wakes| {                               // told after the commit
//!         if let Some(row) = row { wakes.lease(row.event_id, params.partition_key) }
//!     },
//! ).await?;                                                // Result<T, EngineError>
//!
//! // Several calls in one transaction; `?` takes a driver's error and an engine's error alike.
//! engine.db().write("reclaim_execution", params, |conn, params| Box::pin(async move {
//!     let found = conn.grant_execution_lock(&params.lock).await?;
//!     found.ok_or(EngineError::NotFound { entity: "execution" })?;
//!     Ok(conn.grant_delete(&params.delete).await?)
//! }), silent).await?;
//!
//! // Reads; no transaction.
//! engine.db().read("lane_list", (), |conn, ()| Box::pin(conn.lane_list())).await?;
//!
//! // A live tail: subscribe, read, and read again after each `changed()`.
//! let mut tail = engine.db().tail(StreamKey { execution, attempt_index }).await?;
//! ```
//!
//! | What the engine uses | Where |
//! |---|---|
//! | `Db::read`, `Db::survey`, `Db::unit`, `Db::combined`, `Db::write`, `Db::tail`, `Db::outbox`, [`silent`] | here |
//! | `Wakes::{lease, completion, signal, frame, outbox}` | [`wake`] |
//! | `D::LABEL`, `D::TAG`, `D::flow_partition(..)`, `D::worker_partition(..)`, `D::REVOKED_LEASE_PREFIX`, … | [`Dialect`] |
//! | `Abort` (what a `write` closure returns as its error), `transport::<D>(sqlx::Error)` | [`error`] |
//!
//! The closures may run more than once (see [`tx`]) and must not keep anything between runs. A caller's
//! future may be dropped at any moment: the operation then has happened or has not, and every
//! connection goes on clean.

#[macro_use]
mod call;

pub(crate) mod dialect;
#[cfg(feature = "sqlite")]
mod disk;
pub(crate) mod error;
#[cfg(feature = "sqlite")]
mod executor;
pub(crate) mod fault;
#[cfg(feature = "postgres")]
pub(crate) mod listen;
pub(crate) mod migrate;
#[cfg(feature = "postgres")]
mod notify;
#[cfg(feature = "postgres")]
pub(crate) mod pg;
#[cfg(feature = "sqlite")]
mod readers;
#[cfg(feature = "postgres")]
pub(crate) mod session;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
pub(crate) mod tx;
pub(crate) mod wake;
#[cfg(feature = "postgres")]
mod warm;

use std::sync::Arc;

use ff_core::EngineError;
use futures_core::future::BoxFuture;
use tokio::sync::{broadcast, watch};

pub(crate) use dialect::Dialect;
use dialect::Store;
use error::Abort;
#[cfg(feature = "postgres")]
pub use pg::Postgres;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
#[cfg(feature = "postgres")]
use tx::Combined;
#[cfg(feature = "postgres")]
use tx::combine::Combines;
use tx::{Kind, Operation, Patience, Surroundings};
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

    /// Reads, in one or more calls that need not see the same state.
    pub(crate) async fn read<P, T, O>(&self, name: &'static str, params: P, op: O) -> Result<T, EngineError>
    where
        P: Send + Sync + 'static,
        T: Send + 'static,
        O: for<'a> Fn(&'a mut D::Connection, &'a P) -> BoxFuture<'a, Result<T, sqlx::Error>> + Send + Sync + 'static,
    {
        self.store.run(self.call(name, Kind::Read, params, op, silent)).await
    }

    /// Reads every partition, in one call.
    pub(crate) async fn survey<P, T, O>(&self, name: &'static str, params: P, op: O) -> Result<T, EngineError>
    where
        P: Send + Sync + 'static,
        T: Send + 'static,
        O: for<'a> Fn(&'a mut D::Connection, &'a P) -> BoxFuture<'a, Result<T, sqlx::Error>> + Send + Sync + 'static,
    {
        self.store.run(self.call(name, Kind::Survey, params, op, silent)).await
    }

    /// Runs exactly one generated call that is atomic by itself.
    pub(crate) async fn unit<P, T, O, W>(
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

    /// The same for a call that Postgres may make for several callers in one statement.
    #[cfg(feature = "postgres")]
    pub(crate) async fn combined<P, O, W>(
        &self,
        name: &'static str,
        params: P,
        op: O,
        wakes: W,
    ) -> Result<Option<P::Row>, EngineError>
    where
        P: Combines,
        O: for<'a> Fn(&'a mut D::Connection, &'a P) -> BoxFuture<'a, Result<Option<P::Row>, sqlx::Error>>
            + Send
            + Sync
            + 'static,
        W: Fn(&P, &Option<P::Row>, &mut Wakes) + Send + Sync + 'static,
    {
        self.store.run_combined(self.call(name, Kind::Unit, params, op, wakes)).await
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

    /// How often the connection that brings other processes' messages was lost; told as well when it is back.
    pub(crate) fn link(&self) -> watch::Receiver<u64> {
        self.around.channels.link()
    }

    /// The transactions under way that write to an outbox: see [`Store::writers`](dialect::Store::writers).
    pub(crate) async fn writers(&self, outbox: Outbox) -> Result<Vec<String>, EngineError> {
        self.store.writers(outbox).await
    }

    /// Describes those transactions: see [`Store::holders`](dialect::Store::holders).
    pub(crate) async fn holders(&self, outbox: Outbox) -> Result<Vec<String>, EngineError> {
        self.store.holders(outbox).await
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

#[cfg(feature = "postgres")]
impl<D, P, O, W> Combined<D> for Call<P, O, W>
where
    D: Dialect,
    P: Combines,
    Self: Operation<D, Answer = Option<P::Row>>,
{
    type Params = P;

    fn params(&self) -> &P {
        &self.params
    }
}
