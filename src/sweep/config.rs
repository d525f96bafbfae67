//! How often the sweeps run. An interval of zero turns one off.

use std::collections::BTreeMap;
use std::time::Duration;

use ff_core::backend::ScannerFilter;

use crate::engine::round::Round;

/// Intervals of all sweeps, the same for both databases, and what they are given.
///
/// The default runs every sweep at its usual pace but the counts for whoever records them, which is all that a fresh
/// database needs so that the work of crashed workers is taken up again. [`FullScannerConfig::off`] runs none.
///
/// ```
/// # use std::time::Duration;
/// # use ff_backend_sql::FullScannerConfig;
/// let mut config = FullScannerConfig::default();
/// config.retention_trimmer_interval = Duration::ZERO; // nothing is ever deleted
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FullScannerConfig {
    /// Between two looks for leases whose time is over, and for grants that nobody used.
    pub lease_expiry_interval: Duration,
    /// Between two looks for delayed executions whose time has come.
    pub delayed_promoter_interval: Duration,
    /// Between two looks for executions whose state words contradict each other.
    pub index_reconciler_interval: Duration,
    /// Between two looks for attempts that ran too long.
    pub attempt_timeout_interval: Duration,
    /// Between two looks for suspensions that waited too long.
    pub suspension_timeout_interval: Duration,
    /// Between two looks for waitpoints whose time is over.
    pub pending_wp_expiry_interval: Duration,
    /// Between two looks for executions that ended longer ago than `retention`.
    pub retention_trimmer_interval: Duration,
    /// Between two looks for budgets whose period is over.
    pub budget_reset_interval: Duration,
    /// Between two looks for budgets whose breach marker is wrong.
    pub budget_reconciler_interval: Duration,
    /// Between two looks for quotas whose counters are wrong.
    pub quota_reconciler_interval: Duration,
    /// Between two looks for blocked executions that nothing blocks any more.
    pub unblock_interval: Duration,
    /// Between two looks for dependencies that nobody followed.
    pub dependency_reconciler_interval: Duration,
    /// Between two counts of the members of flows.
    pub flow_projector_interval: Duration,
    /// Between two looks for executions whose deadline has passed.
    pub execution_deadline_interval: Duration,
    /// Between two looks for cancellations of flows that stopped half way.
    pub cancel_reconciler_interval: Duration,
    /// Between two rounds of handing out cancellations along edges.
    pub edge_cancel_dispatcher_interval: Duration,
    /// Between two looks for cancellations along edges that got stuck.
    pub edge_cancel_reconciler_interval: Duration,
    /// Between two looks for worker registrations whose time to live is over.
    pub worker_registry_ttl_interval: Duration,
    /// Between two looks for rows that served their time: keys, grants nobody used, events, admissions, flows that
    /// are over. `docs/retention.md` says what bounds each table.
    pub growth_interval: Duration,
    /// Between two counts of what there is on each lane, for whoever records what is measured: never unless it is set.
    /// `docs/operations.md` has the measurements.
    pub measure_interval: Duration,
    /// How old a completion must be, in milliseconds, before its dependencies count as forgotten.
    pub dependency_stale_threshold_ms: i64,
    /// How long an execution that ended is kept, and how long events, flows that are over and the history of worker
    /// instances are: a day unless it is set. Without a filter, `growth_interval` forgets the latter.
    pub retention: Duration,
    /// How long an execution that failed is kept: as long as others, unless it is set. Its events go when those of others do.
    pub failed_retention: Option<Duration>,
    /// How long the executions of some lanes are kept instead, whatever their end, by the lane's name.
    pub lane_retention: BTreeMap<String, Duration>,
    /// How long one run of a sweep goes on at most with one kind of rows: half a minute unless it is set. It goes on page
    /// by page until nothing is left to do, and does a page at least; the rest is for the next run.
    pub sweep_time_limit: Duration,
    /// Which executions the sweeps look at.
    pub scanner_filter: ScannerFilter,
}

impl Default for FullScannerConfig {
    fn default() -> Self {
        let secs = Duration::from_secs;
        Self {
            lease_expiry_interval: Duration::from_millis(1_500),
            delayed_promoter_interval: Duration::from_millis(750),
            index_reconciler_interval: secs(45),
            attempt_timeout_interval: secs(2),
            suspension_timeout_interval: secs(2),
            pending_wp_expiry_interval: secs(5),
            retention_trimmer_interval: secs(60),
            budget_reset_interval: secs(15),
            budget_reconciler_interval: secs(30),
            quota_reconciler_interval: secs(30),
            unblock_interval: secs(5),
            dependency_reconciler_interval: secs(15),
            flow_projector_interval: secs(15),
            execution_deadline_interval: secs(5),
            cancel_reconciler_interval: secs(15),
            edge_cancel_dispatcher_interval: secs(1),
            edge_cancel_reconciler_interval: secs(10),
            worker_registry_ttl_interval: secs(30),
            growth_interval: secs(60),
            ..Self::off()
        }
    }
}

impl FullScannerConfig {
    /// The usual `dependency_stale_threshold_ms`.
    pub const DEFAULT_DEP_STALE_MS: i64 = 15_000;

    /// No sweep runs.
    #[must_use]
    pub fn off() -> Self {
        Self {
            lease_expiry_interval: Duration::ZERO,
            delayed_promoter_interval: Duration::ZERO,
            index_reconciler_interval: Duration::ZERO,
            attempt_timeout_interval: Duration::ZERO,
            suspension_timeout_interval: Duration::ZERO,
            pending_wp_expiry_interval: Duration::ZERO,
            retention_trimmer_interval: Duration::ZERO,
            budget_reset_interval: Duration::ZERO,
            budget_reconciler_interval: Duration::ZERO,
            quota_reconciler_interval: Duration::ZERO,
            unblock_interval: Duration::ZERO,
            dependency_reconciler_interval: Duration::ZERO,
            flow_projector_interval: Duration::ZERO,
            execution_deadline_interval: Duration::ZERO,
            cancel_reconciler_interval: Duration::ZERO,
            edge_cancel_dispatcher_interval: Duration::ZERO,
            edge_cancel_reconciler_interval: Duration::ZERO,
            worker_registry_ttl_interval: Duration::ZERO,
            growth_interval: Duration::ZERO,
            measure_interval: Duration::ZERO,
            dependency_stale_threshold_ms: Self::DEFAULT_DEP_STALE_MS,
            retention: Duration::from_secs(24 * 60 * 60),
            failed_retention: None,
            lane_retention: BTreeMap::new(),
            sweep_time_limit: Duration::from_secs(30),
            scanner_filter: ScannerFilter::NOOP,
        }
    }

    /// What the steps are asked: all partitions.
    pub(crate) fn round(&self) -> Round {
        Round {
            filter: self.scanner_filter.clone(),
            only_partition: None,
            retention: self.retention,
            failed_retention: self.failed_retention.unwrap_or(self.retention), // tidy: a setting
            lane_retention: self.lane_retention.clone(),
            time_limit: self.sweep_time_limit,
            stale_ms: self.dependency_stale_threshold_ms,
            stopped: None,
        }
    }
}

/// Intervals of the two sweeps that are enough for a program that ends its own work. All sweeps run with
/// [`FullScannerConfig`].
#[cfg(feature = "sqlite")]
#[derive(Debug, Clone)]
pub struct SqliteScannerConfig {
    /// Between two looks for budgets whose period is over.
    pub budget_reset_interval: Duration,
    /// Between two looks for worker registrations whose time to live is over.
    pub worker_registry_ttl_interval: Duration,
}

#[cfg(feature = "sqlite")]
impl From<SqliteScannerConfig> for FullScannerConfig {
    fn from(config: SqliteScannerConfig) -> Self {
        Self {
            budget_reset_interval: config.budget_reset_interval,
            worker_registry_ttl_interval: config.worker_registry_ttl_interval,
            ..Self::off()
        }
    }
}

/// Intervals of the eight sweeps that a server needs, and what they are given. All sweeps run with
/// [`FullScannerConfig`].
#[cfg(feature = "postgres")]
#[derive(Debug, Clone)]
pub struct PostgresScannerConfig {
    /// Between two looks for attempts that ran too long.
    pub attempt_timeout_interval: Duration,
    /// Between two looks for leases whose time is over, and for grants that nobody used.
    pub lease_expiry_interval: Duration,
    /// Between two looks for suspensions that waited too long.
    pub suspension_timeout_interval: Duration,
    /// Between two looks for dependencies that nobody followed.
    pub dependency_reconciler_interval: Duration,
    /// Between two rounds of handing out cancellations along edges.
    pub edge_cancel_dispatcher_interval: Duration,
    /// Between two looks for cancellations along edges that got stuck.
    pub edge_cancel_reconciler_interval: Duration,
    /// Between two looks for budgets whose period is over.
    pub budget_reset_interval: Duration,
    /// Between two looks for worker registrations whose time to live is over.
    pub worker_registry_ttl_interval: Duration,
    /// How old a completion must be, in milliseconds, before its dependencies count as forgotten.
    pub dependency_stale_threshold_ms: i64,
    /// Which executions the sweeps look at.
    pub scanner_filter: ScannerFilter,
    /// The partition numbers. Those of the backend count.
    pub partition_config: ff_core::partition::PartitionConfig,
}

#[cfg(feature = "postgres")]
impl PostgresScannerConfig {
    /// The usual `dependency_stale_threshold_ms`.
    pub const DEFAULT_DEP_STALE_MS: i64 = FullScannerConfig::DEFAULT_DEP_STALE_MS;
}

#[cfg(feature = "postgres")]
impl From<PostgresScannerConfig> for FullScannerConfig {
    fn from(config: PostgresScannerConfig) -> Self {
        Self {
            attempt_timeout_interval: config.attempt_timeout_interval,
            lease_expiry_interval: config.lease_expiry_interval,
            suspension_timeout_interval: config.suspension_timeout_interval,
            dependency_reconciler_interval: config.dependency_reconciler_interval,
            edge_cancel_dispatcher_interval: config.edge_cancel_dispatcher_interval,
            edge_cancel_reconciler_interval: config.edge_cancel_reconciler_interval,
            budget_reset_interval: config.budget_reset_interval,
            worker_registry_ttl_interval: config.worker_registry_ttl_interval,
            dependency_stale_threshold_ms: config.dependency_stale_threshold_ms,
            scanner_filter: config.scanner_filter,
            ..Self::off()
        }
    }
}
