//! The table of sweeps: one line each, the same for both databases.
//!
//! To add one, write its step in [`crate::engine`] and its line here. A step is an
//! `async fn(&Engine<D>, ..) -> Result<Report, EngineError>`. It goes on page by page, in transactions of a page or a row,
//! until nothing is left or the time of the run is over ([`Time`](crate::engine::round::Time)), judges every
//! row again under the row's lock, because several processes may sweep one database, and counts a row that
//! fails instead of giving up on the others. It waits for nobody: a row that somebody holds is left to the next run
//! ([`seize`](crate::engine::seize)).

use std::time::Duration;

use ff_core::EngineError;
use futures_core::future::BoxFuture;

use super::config::FullScannerConfig;
use crate::db::Dialect;
use crate::engine::round::{Report, Round};
use crate::engine::{
    Engine, budget, dependency, execution, expiry, flow, flow_cancel, measure, quota, retention, schedule, sibling,
    trim, unblock, worker,
};

/// One run of a sweep.
type Step<D> = for<'a> fn(&'a Engine<D>, &'a Round) -> BoxFuture<'a, Result<Report, EngineError>>;

/// A sweep and how often it runs. An interval of zero means never.
pub(crate) struct Sweep<D: Dialect> {
    pub(crate) name: &'static str,
    pub(crate) interval: fn(&FullScannerConfig) -> Duration,
    pub(crate) step: Step<D>,
}

/// A line of the table: name, field of the configuration that holds the interval, call of the step.
macro_rules! sweep {
    ($name:literal, $interval:ident, |$engine:ident| $step:expr) => {
        sweep!($name, $interval, |$engine, _round| $step)
    };
    ($name:literal, $interval:ident, |$engine:ident, $round:ident| $step:expr) => {
        Sweep {
            name: $name,
            interval: |config| config.$interval,
            step: |$engine, $round| Box::pin(async move { $step.await }),
        }
    };
}

/// All sweeps, in alphabetical order.
#[rustfmt::skip]
pub(crate) fn all<D: Dialect>() -> Vec<Sweep<D>> {
    vec![
        sweep!("attempt_timeout", attempt_timeout_interval, |engine, round| expiry::sweep_attempts(engine, round)),
        sweep!("budget_reconciler", budget_reconciler_interval, |engine| budget::reconcile_all(engine)),
        sweep!("budget_reset", budget_reset_interval, |engine, round| budget::reset_due_at(engine, round, engine.now_ms())),
        sweep!("cancel_reconciler", cancel_reconciler_interval, |engine, round| flow_cancel::sweep_backlog(engine, round)),
        sweep!("delayed_promoter", delayed_promoter_interval, |engine, round| execution::sweep_delayed(engine, round)),
        sweep!("dependency", dependency_reconciler_interval, |engine, round| dependency::sweep(engine, round)),
        sweep!("edge_cancel_dispatcher", edge_cancel_dispatcher_interval, |engine, round| sibling::sweep_cancels(engine, round)),
        sweep!("edge_cancel_reconciler", edge_cancel_reconciler_interval, |engine, round| sibling::sweep_leftovers(engine, round)),
        sweep!("execution_deadline", execution_deadline_interval, |engine, round| expiry::sweep_deadlines(engine, round)),
        sweep!("flow_projector", flow_projector_interval, |engine, round| flow::sweep_summaries(engine, round)),
        sweep!("grant_expiry", lease_expiry_interval, |engine, round| schedule::sweep_grants(engine, round)),
        sweep!("growth", growth_interval, |engine, round| retention::sweep(engine, round)),
        sweep!("index_reconciler", index_reconciler_interval, |engine, round| expiry::sweep_checks(engine, round)),
        sweep!("lease_expiry", lease_expiry_interval, |engine, round| expiry::sweep_leases(engine, round)),
        sweep!("measure", measure_interval, |engine| measure::sweep(engine)),
        sweep!("pending_wp_expiry", pending_wp_expiry_interval, |engine, round| expiry::sweep_waitpoints(engine, round)),
        sweep!("quota_reconciler", quota_reconciler_interval, |engine| quota::reconcile_all(engine)),
        sweep!("retention_trimmer", retention_trimmer_interval, |engine, round| trim::sweep(engine, round)),
        sweep!("suspension_timeout", suspension_timeout_interval, |engine, round| expiry::sweep_suspensions(engine, round)),
        sweep!("unblock", unblock_interval, |engine, round| unblock::sweep(engine, round)),
        sweep!("worker_registry_ttl_sweep", worker_registry_ttl_interval, |engine, round| worker::sweep(engine, round)),
    ]
}
