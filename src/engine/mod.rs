//! The engine's operations, written once and generic over the dialect.
//!
//! | File | Operations |
//! |---|---|
//! | `execution` | `create_execution`, `read_execution_state`, `get_execution_result`, `read_execution_context`, `read_current_attempt_index`, `read_total_attempt_count`, `get_execution_namespace`, `resolve_execution_flow_id`, `read_exec_core_fields`, `list_executions`, `list_lanes` |
//! | `describe` | `describe_execution`, `read_execution_info` |
//! | `claim/` | `claim`, `claim_from_resume_grant`, `claim_execution`, `issue_grant_and_claim`, `claim_resumed_execution`, `issue_reclaim_grant`, `reclaim_execution`, and claims whose caller went away |
//! | `lease` | `renew`, `list_expired_leases` |
//! | `attempt` | `progress`, `complete`, `fail`, `cancel`, `delay`, `wait_children` |
//! | `stream` | `append_frame`, `read_stream`, `tail_stream`, `read_summary` |
//! | `signing` | what signs tokens |
//! | `secret` | `seed_waitpoint_hmac_secret`, `rotate_waitpoint_hmac_secret_all` |
//! | `suspend` | `suspend`, `suspend_by_triple`, `list_suspended` |
//! | `waitpoint` | `create_waitpoint`, `read_waitpoint_token`, `list_pending_waitpoints`, `close_waitpoint` |
//! | `signal` | `deliver_signal`, `deliver_approval_signal`, `observe_signals` |
//! | `resume` | `resume_execution`, `expire_suspension` |
//! | `tag` | `set_execution_tag`, `get_execution_tag`, `set_flow_tag`, `get_flow_tag` |
//! | `flow` | `create_flow`, `add_execution_to_flow`, `describe_flow`, `list_flows`, `project_flow_summary` |
//! | `flow_cancel` | `cancel_flow`, `cancel_flow_header`, `ack_cancel_member` |
//! | `edge` | `stage_dependency_edge`, `apply_dependency_to_child`, `set_edge_group_policy`, `list_edges`, `describe_edge` |
//! | `operator` | `cancel_execution`, `revoke_lease`, `change_priority`, `replay_execution` |
//! | `expiry` | `mark_lease_expired_if_due`, `expire_execution`, `promote_delayed`, `reconcile_execution_index`, the sweeps of what is due |
//! | `trim` | `trim_retention` and its sweep |
//! | `named` | `renew_lease`, `complete_execution`, `fail_execution` |
//! | `worker` | `register_worker`, `heartbeat_worker`, `mark_worker_dead`, `list_workers`, the sweep of lapsed workers |
//! | `budget` | `create_budget`, `reset_budget`, `get_budget_status`, `read_budget_usage_and_limits`, `report_usage`, `report_usage_admin`, `record_spend`, `release_budget`, `reconcile_budget_counters`, the resets of what is due |
//! | `quota` | `create_quota_policy`, `read_quota_policy_limits`, `check_admission`, `release_admission`, `reconcile_quota_counters` |
//! | `admission` | `block_execution_for_admission`, `block_route`, `unblock_execution` |
//! | `unblock` | the sweep that puts blocked executions back |
//! | `retention` | the sweep of what has served its time |
//! | `schedule` | `evaluate_flow_eligibility`, `scan_eligible_executions`, `issue_claim_grant`, `claim_for_worker`, the release of expired grants |
//! | `server` | `ping`, `server_time_ms` |
//! | `dependency` | `cascade_completion`, `resolve_dependency`, following completions as they happen and those that were forgotten |
//! | `group` | the edges into one execution: an edge is counted, its group decided |
//! | `member` | what becomes of a flow's member that others decide about: released, skipped, its lease taken |
//! | `sibling` | `drain_sibling_cancel_group`, `reconcile_sibling_cancel_group`, cancelling what a satisfied group no longer needs |
//! | `seize` | the locks of sweeps, which wait for nobody |
//! | `manage` | what `ff-sql` asks and does: lists and counts by any property, forgetting, pauses |
//! | `measure` | the sweep that counts what there is on each lane |
//! | `running` | the leases that were taken here and are not over |
//! | `round` | what one run of a sweep is asked, and what it answers |
//! | `policy/` | decisions without a database: retries, reclaims, resume conditions, timeouts, append rates, dependency groups, the ages of flows |
//!
//! Every operation takes an [`Engine`]: a database, a clock, the partition numbers, and the secret that signs. It knows
//! neither the façade nor what runs it periodically.
//!
//! There is no SQL here, no transaction except through [`crate::db::Db`], and nothing that asks which
//! dialect it runs on. Text that names a state is turned into an enum, and back, in [`crate::model`].

/// The parameters of a statement that is fenced by a handle.
macro_rules! fenced {
    ($noun:ident :: $params:ident, $held:expr, $now_ms:expr $(, $field:ident : $value:expr)* $(,)?) => {
        $noun::$params {
            execution: $held.key,
            attempt_index: $held.attempt_index,
            lease_epoch: $held.lease_epoch,
            execution_text: $held.key.text(),
            lease_id: $held.lease_id(),
            now_ms: $now_ms,
            $($field: $value,)*
        }
    };
}

pub(crate) mod admission;
pub(crate) mod attempt;
pub(crate) mod budget;
pub(crate) mod claim;
pub(crate) mod dependency;
pub(crate) mod describe;
pub(crate) mod edge;
pub(crate) mod execution;
pub(crate) mod expiry;
pub(crate) mod flow;
pub(crate) mod flow_cancel;
pub(crate) mod group;
pub(crate) mod lease;
pub(crate) mod manage;
mod marks;
pub(crate) mod measure;
pub(crate) mod member;
pub(crate) mod named;
pub(crate) mod operator;
pub(crate) mod policy;
pub(crate) mod quota;
pub(crate) mod resume;
pub(crate) mod retention;
pub(crate) mod round;
mod running;
pub(crate) mod schedule;
pub(crate) mod secret;
pub(crate) mod seize;
pub(crate) mod server;
mod shown;
pub(crate) mod sibling;
pub(crate) mod signal;
pub(crate) mod signing;
pub(crate) mod spread;
pub(crate) mod stream;
pub(crate) mod suspend;
pub(crate) mod tag;
pub(crate) mod trim;
pub(crate) mod unblock;
pub(crate) mod waitpoint;
pub(crate) mod worker;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ff_core::partition::PartitionConfig;
use ff_core::types::{FlowId, TimestampMs};

use crate::clock::Clock;
use crate::column::{ExecutionUuid, LaneName, PartitionNumber};
use crate::db::{Db, Dialect};
use crate::metric::{self, End};
use marks::Marks;
use running::Running;
use shown::Shown;
use signing::Signing;

/// What operations run on. Clones share everything.
pub(crate) struct Engine<D: Dialect> {
    shared: Arc<Shared<D>>,
    is_impatient: bool,
}

struct Shared<D: Dialect> {
    db: Db<D>,
    /// The same for sweeps.
    impatient: Db<D>,
    clock: Clock,
    partitions: PartitionConfig,
    limit: Arc<Limit>,
    promotions: Promotions,
    release: Promotion,
    marks: Marks,
    running: Running,
    shown: Shown,
    signing: Signing,
}

impl<D: Dialect> Clone for Engine<D> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), is_impatient: self.is_impatient }
    }
}

/// An [`Engine`] that may be gone.
pub(crate) struct WeakEngine<D: Dialect> {
    shared: Weak<Shared<D>>,
}

impl<D: Dialect> WeakEngine<D> {
    /// The engine, while somebody holds it.
    pub(crate) fn upgrade(&self) -> Option<Engine<D>> {
        self.shared.upgrade().map(|shared| Engine { shared, is_impatient: false })
    }
}

impl<D: Dialect> Engine<D> {
    /// Joins a database with a clock and the partition numbers.
    pub(crate) fn new(db: Db<D>, clock: Clock, partitions: PartitionConfig) -> Self {
        let (promotions, release, signing) = (Promotions::default(), Promotion::default(), Signing::default());
        let impatient = db.impatient();
        let (limit, running, shown) = (Arc::default(), Running::default(), Shown::default());
        let shared = Shared {
            db,
            impatient,
            clock,
            partitions,
            limit,
            promotions,
            release,
            marks: Marks::default(),
            running,
            shown,
            signing,
        };
        Self { shared: Arc::new(shared), is_impatient: false }
    }

    /// A handle that does not keep the engine alive.
    pub(crate) fn downgrade(&self) -> WeakEngine<D> {
        WeakEngine { shared: Arc::downgrade(&self.shared) }
    }

    /// The same engine for work that is one of many items and comes again: it waits for somebody's row for a moment
    /// only, and answers `Contention(RetryExhausted)` then.
    pub(crate) fn impatient(&self) -> Self {
        Self { is_impatient: true, ..self.clone() }
    }

    /// The database.
    pub(crate) fn db(&self) -> &Db<D> {
        if self.is_impatient { &self.shared.impatient } else { &self.shared.db }
    }

    /// The partition numbers.
    pub(crate) fn partitions(&self) -> &PartitionConfig {
        &self.shared.partitions
    }

    /// Milliseconds since the epoch by the engine's clock.
    pub(crate) fn now_ms(&self) -> i64 {
        self.shared.clock.now_ms()
    }

    /// The engine's clock.
    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// What a caller took from its host's clock as "now", by the engine's.
    pub(crate) fn given(&self, now: TimestampMs) -> TimestampMs {
        TimestampMs::from_millis(self.shared.clock.corrected_ms(now.0))
    }

    /// The partition of a flow's rows.
    pub(crate) fn flow_partition(&self, id: &FlowId) -> PartitionNumber {
        D::flow_partition(id, self.partitions())
    }

    /// How often an execution may crash, and fail without a policy.
    pub(crate) fn limit(&self) -> &Arc<Limit> {
        &self.shared.limit
    }

    /// When delayed executions of each lane were last looked at.
    pub(crate) fn promotions(&self) -> &Promotions {
        &self.shared.promotions
    }

    /// When grants that expired unused were last looked for.
    pub(crate) fn release(&self) -> &Promotion {
        &self.shared.release
    }

    /// The claims since the marks of lanes were made.
    pub(crate) fn marks(&self) -> &Marks {
        &self.shared.marks
    }

    /// The leases that were taken here and are not over.
    pub(crate) fn running(&self) -> &Running {
        &self.shared.running
    }

    /// A worker let a lease go that was taken here, or elsewhere.
    pub(crate) fn ended(&self, execution_id: ExecutionUuid, end: End) {
        self.running().is_over(execution_id);
        metric::ended(end);
    }

    /// What was told of the queues.
    pub(crate) fn shown(&self) -> &Shown {
        &self.shared.shown
    }

    /// The secret that signed last.
    pub(crate) fn signing(&self) -> &Signing {
        &self.shared.signing
    }
}

/// How often an execution may crash, and how often it may fail without a retry policy: with the last time it ends.
#[derive(Debug)]
pub(crate) struct Limit {
    times: AtomicU32,
}

impl Default for Limit {
    fn default() -> Self {
        Self { times: AtomicU32::new(policy::retry::DEFAULT_LIMIT) }
    }
}

impl Limit {
    /// Sets it; 0 is none.
    pub(crate) fn set(&self, times: u32) {
        self.times.store(times, Ordering::Relaxed);
    }

    /// Whether that many times are as many as may be.
    pub(crate) fn is_reached(&self, times: u32) -> bool {
        let limit = self.times.load(Ordering::Relaxed);
        limit > 0 && times >= limit
    }
}

/// How many lanes are known at once; beyond that all are looked at anew.
const LANES: usize = 1_024;

/// When this process last looked for delayed executions of a lane that are due.
#[derive(Debug, Default)]
pub(crate) struct Promotions {
    at_ms: Mutex<HashMap<LaneName, i64>>,
}

impl Promotions {
    /// Notes that it was done.
    pub(crate) fn done_at(&self, lane_id: &LaneName, now_ms: i64) {
        let mut at_ms = self.at_ms.lock().unwrap_or_else(PoisonError::into_inner); // tidy: times have no half-done state
        if at_ms.len() >= LANES && !at_ms.contains_key(lane_id) {
            at_ms.clear();
        }
        at_ms.insert(lane_id.clone(), now_ms);
    }

    /// Whether the last time is at least that long ago.
    pub(crate) fn is_older_than(&self, lane_id: &LaneName, now_ms: i64, interval_ms: i64) -> bool {
        let at_ms = self.at_ms.lock().unwrap_or_else(PoisonError::into_inner); // tidy: times have no half-done state
        at_ms.get(lane_id).is_none_or(|at_ms| now_ms.saturating_sub(*at_ms) >= interval_ms)
    }
}

/// When this process last looked for grants that expired.
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
    fn the_promotion_of_one_lane_says_nothing_of_another() {
        let promotions = Promotions::default();
        let (mail, post) = (LaneName::from("mail".to_owned()), LaneName::from("post".to_owned()));
        promotions.done_at(&mail, 1_000);
        assert!(!promotions.is_older_than(&mail, 1_049, 50) && promotions.is_older_than(&mail, 1_050, 50));
        assert!(promotions.is_older_than(&post, 1_000, 50));
    }

    #[test]
    fn promotion_is_due_at_first_and_then_after_its_interval() {
        let promotion = Promotion::default();
        assert!(promotion.is_older_than(0, 50));
        promotion.done_at(1_000);
        assert!(!promotion.is_older_than(1_049, 50));
        assert!(promotion.is_older_than(1_050, 50));
    }
}
