//! The backend: one value of it is what a service holds as `Arc<dyn EngineBackend>`.
//!
//! It joins a database with a clock and the partition numbers. What it does is in [`crate::engine`]; the
//! table of delegations is [`mod@table`], how one is opened is in [`crate::open`].

mod table;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};

use ff_core::backend::PrepareOutcome;
use ff_core::capability::{BackendIdentity, Capabilities, Supports, Version};
use ff_core::engine_error::EngineError;
use ff_core::partition::PartitionConfig;
use ff_core::types::FlowId;

use crate::clock::Clock;
use crate::db::{Db, Dialect};
use crate::engine::secret::Signing;
use crate::events::Lifetime;
use crate::sweep::{self, FullScannerConfig, Sweeps};

/// The backend on the embedded database.
#[cfg(feature = "sqlite")]
pub type SqliteBackend = Backend<crate::db::Sqlite>;

/// The backend on the server database.
#[cfg(feature = "postgres")]
pub type PostgresBackend = Backend<crate::db::Postgres>;

/// The FlowFabric storage backend on one dialect. Clones share everything.
pub struct Backend<D: Dialect> {
    shared: Arc<Shared<D>>,
    is_impatient: bool,
}

struct Shared<D: Dialect> {
    // First, so that the sweeps are told to stop before the connections close.
    sweeps: Sweeps,
    lifetime: Lifetime,
    db: Db<D>,
    /// The same for sweeps.
    impatient: Db<D>,
    clock: Clock,
    partitions: PartitionConfig,
    promotion: Promotion,
    release: Promotion,
    signing: Signing,
}

impl<D: Dialect> Clone for Backend<D> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), is_impatient: self.is_impatient }
    }
}

/// A [`Backend`] that may be gone.
pub(crate) struct WeakBackend<D: Dialect> {
    shared: Weak<Shared<D>>,
}

impl<D: Dialect> WeakBackend<D> {
    /// The backend, while somebody holds it.
    pub(crate) fn upgrade(&self) -> Option<Backend<D>> {
        self.shared.upgrade().map(|shared| Backend { shared, is_impatient: false })
    }
}

impl<D: Dialect> std::fmt::Debug for Backend<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backend").field("dialect", &D::LABEL).finish_non_exhaustive()
    }
}

impl<D: Dialect> Backend<D> {
    /// Joins a database with a clock and the partition numbers.
    pub(crate) fn from_parts(db: Db<D>, clock: Clock, partitions: PartitionConfig) -> Self {
        let (sweeps, promotion, release) = (Sweeps::default(), Promotion::default(), Promotion::default());
        let (signing, lifetime) = (Signing::default(), Lifetime::default());
        let impatient = db.impatient();
        let shared = Shared { sweeps, lifetime, db, impatient, clock, partitions, promotion, release, signing };
        let backend = Self { shared: Arc::new(shared), is_impatient: false };
        sweep::follow::start(&backend);
        backend
    }

    /// A handle that does not keep the backend alive.
    pub(crate) fn downgrade(&self) -> WeakBackend<D> {
        WeakBackend { shared: Arc::downgrade(&self.shared) }
    }

    /// The same backend for work that is one of many items and comes again: it waits for somebody's row for a moment
    /// only, and answers `Contention(RetryExhausted)` then.
    pub(crate) fn impatient(&self) -> Self {
        Self { is_impatient: true, ..self.clone() }
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
        self.sweeps().install(self, config)
    }

    /// Runs the sweep of that name once, now, and answers how many rows it handled and how many failed.
    ///
    /// # Errors
    /// `NotFound` when there is none; otherwise those of the sweep.
    #[doc(hidden)]
    pub async fn sweep_for_test(&self, name: &str, config: &FullScannerConfig) -> Result<(u32, u32), EngineError> {
        let report = sweep::run_once(self, name, config).await?;
        Ok((report.processed, report.errors))
    }

    /// Describes the transactions under way that write lease events, as the log does where one holds subscriptions up.
    ///
    /// # Errors
    /// Those of the database.
    #[doc(hidden)]
    pub async fn lease_writers_for_test(&self) -> Result<Vec<String>, EngineError> {
        self.db().holders(crate::db::Outbox::LeaseHistory).await
    }

    /// What ends with the backend.
    pub(crate) fn lifetime(&self) -> &Lifetime {
        &self.shared.lifetime
    }

    pub(crate) fn db(&self) -> &Db<D> {
        if self.is_impatient { &self.shared.impatient } else { &self.shared.db }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    pub(crate) fn partitions(&self) -> &PartitionConfig {
        &self.shared.partitions
    }

    /// Milliseconds since the epoch by the backend's clock.
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock().now_ms()
    }

    /// The partition of a flow's rows.
    pub(crate) fn flow_partition(&self, id: &FlowId) -> i16 {
        D::flow_partition(id, self.partitions())
    }

    /// When delayed executions were last looked at.
    pub(crate) fn promotion(&self) -> &Promotion {
        &self.shared.promotion
    }

    /// When grants that expired unused were last looked for.
    pub(crate) fn release(&self) -> &Promotion {
        &self.shared.release
    }

    /// The secret that signed last.
    pub(crate) fn signing(&self) -> &Signing {
        &self.shared.signing
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

/// When this process last looked for delayed executions that are due, or for grants that expired.
#[derive(Debug)]
pub(crate) struct Promotion {
    at_ms: AtomicI64,
}

impl Default for Promotion {
    fn default() -> Self {
        Self { at_ms: AtomicI64::new(i64::MIN) }
    }
}

impl Promotion {
    /// Notes that it was done.
    pub(crate) fn done_at(&self, now_ms: i64) {
        self.at_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Whether the last time is at least that long ago.
    pub(crate) fn is_older_than(&self, now_ms: i64, interval_ms: i64) -> bool {
        now_ms.saturating_sub(self.at_ms.load(Ordering::Relaxed)) >= interval_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_due_at_first_and_then_after_its_interval() {
        let promotion = Promotion::default();
        assert!(promotion.is_older_than(0, 50));
        promotion.done_at(1_000);
        assert!(!promotion.is_older_than(1_049, 50));
        assert!(promotion.is_older_than(1_050, 50));
    }
}
