//! What an operator does to executions.

use ff_core::contracts::{CancelExecutionArgs, ChangePriorityArgs, ReplayExecutionArgs, RevokeLeaseArgs};
use ff_core::types::WorkerInstanceId;

use super::operations;
use super::typed::source;
use crate::numbers::Numbers;
use crate::side::{Side, lane};

operations! {
    12 cancel_execution: |s, n| {
        let held = s.held(n).map(|(_, held)| held);
        let (execution_id, with_fence) = match (&held, n.below(4)) {
            (Some(held), 0 | 1) => (held.execution_id.clone(), true),
            _ => (s.execution(n), n.one_in(4)),
        };
        let fence = held.filter(|_| with_fence);
        let args = CancelExecutionArgs {
            execution_id,
            reason: n.of(["unwanted", ""]).to_owned(),
            source: source(n),
            lease_id: fence.as_ref().map(|held| held.lease_id.clone()),
            lease_epoch: fence.as_ref().map(|held| held.lease_epoch),
            attempt_id: fence.filter(|_| !n.one_in(4)).map(|held| held.attempt_id),
            now: s.now(),
        };
        let r = s.backend.cancel_execution(args).await;
        s.told(&r)
    };
    12 revoke_lease: |s, n| {
        let held = s.held(n).map(|(_, held)| held);
        let args = match held {
            Some(held) if !n.one_in(6) => RevokeLeaseArgs {
                execution_id: held.execution_id,
                expected_lease_id: n.of([None, Some(())]).map(|()| held.lease_id.to_string()),
                worker_instance_id: if n.one_in(6) { WorkerInstanceId::new("nobody") } else { held.worker_instance_id },
                reason: "revoked".to_owned(),
            },
            _ => RevokeLeaseArgs {
                execution_id: s.execution(n),
                expected_lease_id: n.of([None, Some("no lease")]).map(str::to_owned),
                worker_instance_id: WorkerInstanceId::new("a-1"),
                reason: String::new(),
            },
        };
        let r = s.backend.revoke_lease(args).await;
        s.told(&r)
    };
    10 change_priority: |s, n| {
        let args = ChangePriorityArgs {
            execution_id: s.execution(n),
            new_priority: n.of([7, -7, 0, i32::MIN, 10_000]),
            lane_id: lane(n),
            now: s.now(),
        };
        let r = s.backend.change_priority(args).await;
        s.told(&r)
    };
    20 replay_execution: |s, n| {
        let execution_id = ended(s, n);
        let r = s.backend.replay_execution(ReplayExecutionArgs { execution_id, now: s.now() }).await;
        s.told(&r)
    };
}

/// An execution that a worker has let go of, or any.
fn ended(s: &mut Side, n: &mut Numbers) -> ff_core::types::ExecutionId {
    match n.from(&s.known.spent) {
        Some(handle) if !n.one_in(3) => crate::harness::payload(handle).execution_id,
        _ => s.execution(n),
    }
}
