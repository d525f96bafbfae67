//! How often the sweeps run. An interval of zero turns one off.

use std::time::Duration;

use super::Sweep;

/// Intervals of the embedded database's sweeps.
#[cfg(feature = "sqlite")]
#[derive(Debug, Clone)]
pub struct SqliteScannerConfig {
    /// Between two looks for budgets whose period is over.
    pub budget_reset_interval: Duration,
    /// Between two looks for worker registrations whose time to live is over.
    pub worker_registry_ttl_interval: Duration,
}

#[cfg(feature = "sqlite")]
impl SqliteScannerConfig {
    pub(crate) fn sweeps(&self) -> Vec<Sweep<crate::db::Sqlite>> {
        vec![Sweep::worker_registry(self.worker_registry_ttl_interval)]
    }
}

/// Intervals of the server database's sweeps, and what they are given.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone)]
pub struct PostgresScannerConfig {
    /// Between two looks for attempts that ran too long.
    pub attempt_timeout_interval: Duration,
    /// Between two looks for leases whose time is over.
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
    pub scanner_filter: ff_core::backend::ScannerFilter,
    /// The partition numbers.
    pub partition_config: ff_core::partition::PartitionConfig,
}

#[cfg(feature = "postgres")]
impl PostgresScannerConfig {
    /// The usual `dependency_stale_threshold_ms`.
    pub const DEFAULT_DEP_STALE_MS: i64 = 15_000;

    pub(crate) fn sweeps(&self) -> Vec<Sweep<crate::db::Postgres>> {
        vec![Sweep::worker_registry(self.worker_registry_ttl_interval)]
    }
}
