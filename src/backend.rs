//! The backend: one value of it is what a service holds as `Arc<dyn EngineBackend>`.
//!
//! It is an engine with the sweeps that keep it going, and what ends with it. What it does is in [`crate::engine`]; the
//! table of delegations is [`mod@table`], how one is opened is in [`crate::open`].

mod drain;
pub(crate) mod manage;
mod table;
mod traced;

use std::sync::Arc;
#[cfg(feature = "sqlite")]
use std::sync::Weak;
use std::time::Duration;

use async_trait::async_trait;
use ff_core::backend::{PrepareOutcome, ScannerFilter};
use ff_core::capability::{BackendIdentity, Capabilities, Supports, Version};
use ff_core::completion_backend::{CompletionBackend, CompletionStream};
use ff_core::engine_error::EngineError;
use tokio::time::Instant;

use crate::db::{Db, Dialect};
use crate::engine::Engine;
#[cfg(feature = "sqlite")]
use crate::engine::WeakEngine;
use crate::events::{self, Lifetime};
use crate::metric;
use crate::sweep::{self, FullScannerConfig, Sweeps};
use drain::Drain;

/// The longest that leaving takes, whatever is allowed: beyond that a point in time may not be counted any more.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The backend on the embedded database.
#[cfg(feature = "sqlite")]
pub type SqliteBackend = Backend<crate::db::Sqlite>;

/// The backend on the server database.
#[cfg(feature = "postgres")]
pub type PostgresBackend = Backend<crate::db::Postgres>;

/// The FlowFabric storage backend on one dialect. Clones share everything.
pub struct Backend<D: Dialect> {
    shared: Arc<Shared<D>>,
}

struct Shared<D: Dialect> {
    // First, so that the sweeps are told to stop before the connections close.
    sweeps: Sweeps,
    drain: Drain,
    lifetime: Lifetime,
    engine: Engine<D>,
}

impl<D: Dialect> Clone for Backend<D> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

/// A [`Backend`] that may be gone: what is remembered of a file that is open.
#[cfg(feature = "sqlite")]
pub(crate) struct WeakBackend<D: Dialect> {
    shared: Weak<Shared<D>>,
    engine: WeakEngine<D>,
}

#[cfg(feature = "sqlite")]
impl<D: Dialect> WeakBackend<D> {
    /// The backend, while somebody holds it and it takes work. Where its engine alone is left, because of work that is
    /// under way, or because whoever holds it is about to leave, a new façade over that: nothing opens a database a second
    /// time that has not been closed.
    pub(crate) fn upgrade(&self) -> Option<Backend<D>> {
        let held = self.shared.upgrade().filter(|shared| !shared.drain.is_closed()).map(|shared| Backend { shared });
        held.or_else(|| self.engine.upgrade().map(Backend::over))
    }
}

impl<D: Dialect> std::fmt::Debug for Backend<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backend").field("dialect", &D::LABEL).finish_non_exhaustive()
    }
}

impl<D: Dialect> Backend<D> {
    /// The façade of a new engine, which follows completions and its server's clock from here on.
    pub(crate) fn of(engine: Engine<D>) -> Self {
        metric::describe();
        sweep::follow::start(&engine);
        sweep::time::start(&engine);
        Self::over(engine)
    }

    fn over(engine: Engine<D>) -> Self {
        let (sweeps, drain, lifetime) = (Sweeps::default(), Drain::default(), Lifetime::default());
        Self { shared: Arc::new(Shared { sweeps, drain, lifetime, engine }) }
    }

    /// A handle that does not keep the backend alive.
    #[cfg(feature = "sqlite")]
    pub(crate) fn downgrade(&self) -> WeakBackend<D> {
        WeakBackend { shared: Arc::downgrade(&self.shared), engine: self.engine().downgrade() }
    }

    /// What operations run on.
    pub(crate) fn engine(&self) -> &Engine<D> {
        &self.shared.engine
    }

    /// The database.
    pub(crate) fn db(&self) -> &Db<D> {
        self.engine().db()
    }

    /// The periodic work, where it is installed.
    pub(crate) fn sweeps(&self) -> &Sweeps {
        &self.shared.sweeps
    }

    /// Starts every sweep that `config` gives an interval. True for the call that started them, false when
    /// some run already, by this call or by `with_scanners`.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn with_all_scanners(&self, config: FullScannerConfig) -> bool {
        self.sweeps().install(self.engine(), config)
    }

    /// How often an execution may lose its worker, and how often it may fail without a retry policy: 25 times unless it is
    /// set, and 0 is without end. With the last time it ends as failed; `describe_execution` tells how many
    /// workers crashed. A failure that a retry policy judges is none of these. It holds for this backend and its clones,
    /// those of one SQLite file included.
    pub fn set_crash_limit(&self, times: u32) {
        self.engine().limit().set(times);
    }

    /// Takes no more work, waits for what runs, and ends the sweeps, in this order and until `grace` is over. What still
    /// runs then may go on, here or through another process, until its lease runs out.
    async fn drain(&self, grace: Duration) {
        let (begun, grace) = (Instant::now(), grace.min(LONGEST));
        self.door().close();
        let left = self.engine().running().ended(begun + grace).await;
        if left > 0 {
            tracing::warn!(left, "executions still run under leases that were taken here");
        }
        self.sweeps().shutdown(grace.saturating_sub(begun.elapsed())).await;
    }

    /// Whether it takes work.
    fn door(&self) -> &Drain {
        &self.shared.drain
    }

    /// What ends with the backend.
    pub(crate) fn lifetime(&self) -> &Lifetime {
        &self.shared.lifetime
    }

    fn identity_and_supports(&self) -> Capabilities {
        let version = Version::new(
            number(env!("CARGO_PKG_VERSION_MAJOR")),
            number(env!("CARGO_PKG_VERSION_MINOR")),
            number(env!("CARGO_PKG_VERSION_PATCH")),
        );
        let mut supports = Supports::none();
        supports.prepare = true;
        supports.read_execution_state = true;
        supports.read_execution_info = true;
        supports.get_execution_result = true;
        supports.rotate_waitpoint_hmac_secret_all = true;
        supports.seed_waitpoint_hmac_secret = true;
        supports.list_pending_waitpoints = true;
        supports.stream_durable_summary = true;
        supports.stream_best_effort_live = true;
        supports.issue_reclaim_grant = true;
        supports.budget_admin = true;
        supports.quota_admin = true;
        supports.release_admission = true;
        supports.read_quota_policy_limits = true;
        supports.block_execution_for_admission = true;
        supports.read_budget_usage_and_limits = true;
        supports.claim_for_worker = D::REPORTS_CLAIM_FOR_WORKER;
        supports.cancel_flow_header = true;
        supports.cancel_flow_wait_timeout = true;
        supports.cancel_flow_wait_indefinite = true;
        supports.ack_cancel_member = true;
        supports.register_worker = true;
        supports.heartbeat_worker = true;
        supports.mark_worker_dead = true;
        supports.list_expired_leases = true;
        supports.list_workers = true;
        supports.cancel_execution = true;
        supports.revoke_lease = true;
        supports.change_priority = true;
        supports.replay_execution = true;
        supports.subscribe_lease_history = true;
        supports.subscribe_completion = true;
        supports.subscribe_signal_delivery = true;
        Capabilities::new(BackendIdentity::new(D::LABEL, version, D::STAGE), supports)
    }

    /// There is nothing to prepare: the schema is made when the database is opened or migrated.
    fn prepared(&self) -> Result<PrepareOutcome, EngineError> {
        Ok(PrepareOutcome::NoOp)
    }
}

/// A part of the crate's version; Cargo has checked that it is a number.
fn number(part: &str) -> u32 {
    part.parse().unwrap_or(0)
}

/// The stream of completions that an engine follows to start what waited for them. It begins with what commits next,
/// tells outcomes in the words of the tables, and never an error. On a break it catches up by itself.
#[async_trait]
impl<D: Dialect> CompletionBackend for Backend<D> {
    async fn subscribe_completions(&self) -> Result<CompletionStream, EngineError> {
        self.subscribe_completions_filtered(&ScannerFilter::NOOP).await
    }

    async fn subscribe_completions_filtered(&self, filter: &ScannerFilter) -> Result<CompletionStream, EngineError> {
        Ok(Box::pin(events::completions(self.db(), self.lifetime(), filter).await?))
    }
}
