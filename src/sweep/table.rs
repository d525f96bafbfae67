//! The table of sweeps: one line each, the same for both databases.
//!
//! To add one, write its step in [`crate::engine`] and its line here. A step is an
//! `async fn(&Backend<D>, ..) -> Result<Report, EngineError>`. It does a bounded amount of work, judges every
//! row again under the row's lock, because several processes may sweep one database, and counts a row that
//! fails instead of giving up on the others. It waits for nobody: a row that somebody holds is left to the next run
//! ([`seize`]).

use std::time::Duration;

use ff_core::EngineError;
use futures_core::future::BoxFuture;

use super::FullScannerConfig;
use crate::backend::Backend;
use crate::db::Dialect;
use crate::engine::{
    dependency, execution, expiry, flow, flow_cancel, retention, schedule, seize, sibling, trim, unblock, upkeep,
    worker,
};

/// What one run of a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Rows that were handled.
    pub(crate) processed: u32,
    /// Rows that failed; they are tried again at the next turn.
    pub(crate) errors: u32,
}

impl Report {
    /// That many rows were handled and none failed.
    pub(crate) fn of(processed: u32) -> Self {
        Self { processed, errors: 0 }
    }

    /// How many rows were tried.
    pub(crate) fn total(&self) -> u32 {
        self.processed.saturating_add(self.errors)
    }

    /// Counts one row: it was handled, there was nothing to do, or it failed, which is logged. One that somebody else
    /// holds is neither; the next run comes back to it.
    pub(crate) fn count(&mut self, ended: Result<bool, EngineError>) {
        match ended {
            Ok(true) => self.processed = self.processed.saturating_add(1),
            Ok(false) => {}
            Err(error) if seize::is_held(&error) => {
                tracing::debug!("a row that somebody holds is left to the next run")
            }
            Err(error) => {
                self.errors = self.errors.saturating_add(1);
                tracing::warn!(%error, "a row could not be swept");
            }
        }
    }
}

/// One run of a sweep.
type Step<D> = for<'a> fn(&'a Backend<D>, &'a FullScannerConfig) -> BoxFuture<'a, Result<Report, EngineError>>;

/// A sweep and how often it runs. An interval of zero means never.
pub(super) struct Sweep<D: Dialect> {
    pub(super) name: &'static str,
    pub(super) interval: fn(&FullScannerConfig) -> Duration,
    pub(super) step: Step<D>,
}

/// A line of the table: name, field of the configuration that holds the interval, call of the step.
macro_rules! sweep {
    ($name:literal, $interval:ident, |$backend:ident| $step:expr) => {
        sweep!($name, $interval, |$backend, _config| $step)
    };
    ($name:literal, $interval:ident, |$backend:ident, $config:ident| $step:expr) => {
        Sweep {
            name: $name,
            interval: |config| config.$interval,
            step: |$backend, $config| Box::pin(async move { $step.await }),
        }
    };
}

/// All sweeps, in alphabetical order.
#[rustfmt::skip]
pub(super) fn all<D: Dialect>() -> Vec<Sweep<D>> {
    vec![
        sweep!("attempt_timeout", attempt_timeout_interval, |backend, config| expiry::sweep_attempts(backend, config)),
        sweep!("budget_reconciler", budget_reconciler_interval, |backend| upkeep::reconcile_all_budgets(backend)),
        sweep!("budget_reset", budget_reset_interval, |backend| upkeep::reset_budgets(backend)),
        sweep!("cancel_reconciler", cancel_reconciler_interval, |backend| flow_cancel::sweep_backlog(backend)),
        sweep!("delayed_promoter", delayed_promoter_interval, |backend| execution::sweep_delayed(backend)),
        sweep!("dependency", dependency_reconciler_interval, |backend, config| dependency::sweep(backend, &config.scanner_filter, config.dependency_stale_threshold_ms)),
        sweep!("edge_cancel_dispatcher", edge_cancel_dispatcher_interval, |backend| sibling::sweep_cancels(backend)),
        sweep!("edge_cancel_reconciler", edge_cancel_reconciler_interval, |backend| sibling::sweep_leftovers(backend)),
        sweep!("execution_deadline", execution_deadline_interval, |backend, config| expiry::sweep_deadlines(backend, config)),
        sweep!("flow_projector", flow_projector_interval, |backend| flow::sweep_summaries(backend)),
        sweep!("grant_expiry", lease_expiry_interval, |backend| schedule::sweep_grants(backend)),
        sweep!("growth", growth_interval, |backend, config| retention::sweep(backend, config)),
        sweep!("index_reconciler", index_reconciler_interval, |backend, config| expiry::sweep_checks(backend, config)),
        sweep!("lease_expiry", lease_expiry_interval, |backend, config| expiry::sweep_leases(backend, config)),
        sweep!("pending_wp_expiry", pending_wp_expiry_interval, |backend, config| expiry::sweep_waitpoints(backend, config)),
        sweep!("quota_reconciler", quota_reconciler_interval, |backend| upkeep::reconcile_all_quotas(backend)),
        sweep!("retention_trimmer", retention_trimmer_interval, |backend, config| trim::sweep(backend, config)),
        sweep!("suspension_timeout", suspension_timeout_interval, |backend, config| expiry::sweep_suspensions(backend, config)),
        sweep!("unblock", unblock_interval, |backend, config| unblock::sweep(backend, config)),
        sweep!("worker_registry_ttl_sweep", worker_registry_ttl_interval, |backend, config| worker::sweep(backend, config)),
    ]
}
