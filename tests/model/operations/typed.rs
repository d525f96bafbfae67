//! The operations that name an execution, an attempt and a lease instead of holding a handle.

use ff_core::contracts::{
    ClaimExecutionArgs, ClaimExecutionResult, CompleteExecutionArgs, FailExecutionArgs, IssueGrantAndClaimArgs,
    RenewLeaseArgs,
};
use ff_core::handle_codec::HandlePayload;
use ff_core::types::{
    AttemptId, AttemptIndex, CancelSource, ExecutionId, LeaseEpoch, LeaseFence, LeaseId, WorkerId, WorkerInstanceId,
};

use super::{NOTHING, operations};
use crate::numbers::Numbers;
use crate::side::{Side, worker};

operations! {
    16 renew_lease: |s, n| match s.held(n) {
        Some((_, held)) => {
            let (lease_ttl_ms, fence, attempt_index) = (n.of([30_000, 1, 0]), fence(&held, n), attempt(&held, n));
            let args = RenewLeaseArgs {
                execution_id: held.execution_id,
                attempt_index,
                fence,
                lease_ttl_ms,
                lease_history_grace_ms: 60_000,
            };
            let r = s.backend.renew_lease(args).await;
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    20 complete_execution: |s, n| match s.held(n) {
        Some((handle, held)) => {
            let (fence, attempt_index) = (fence(&held, n), attempt(&held, n));
            let args = CompleteExecutionArgs {
                execution_id: held.execution_id,
                fence,
                attempt_index,
                result_payload: n.of([None, Some(&b"typed"[..])]).map(<[u8]>::to_vec),
                result_encoding: n.of([None, Some("json")]).map(str::to_owned),
                source: source(n),
                now: s.now(),
            };
            let r = s.backend.complete_execution(args).await;
            if r.is_ok() { s.spend(&handle); }
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    20 fail_execution: |s, n| match s.held(n) {
        Some((handle, held)) => {
            let (fence, attempt_index) = (fence(&held, n), attempt(&held, n));
            let retry = n.of([
                "", r#"{"max_retries":2,"backoff":{"type":"fixed","delay_ms":500}}"#, r#"{"max_retries":0}"#, "no json",
                r#"{"max_retries":1}"#,
            ]);
            let args = FailExecutionArgs {
                execution_id: held.execution_id,
                fence,
                attempt_index,
                failure_reason: "typed".to_owned(),
                failure_category: n.of(["transient", "permanent", ""]).to_owned(),
                retry_policy_json: retry.to_owned(),
                next_attempt_policy_json: n.of(["", r#"{"priority":1}"#]).to_owned(),
                source: source(n),
            };
            let r = s.backend.fail_execution(args).await;
            if r.is_ok() { s.spend(&handle); }
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    16 claim_execution: |s, n| {
        let any = |s: &mut Side, n: &mut Numbers| (s.execution(n), worker(n));
        let (execution, worker) = match n.from(&s.known.grants).cloned() {
            Some(granted) if !n.one_in(6) => granted,
            _ => any(s, n),
        };
        claim(s, n, execution, worker).await
    };
    8 issue_grant_and_claim: |s, n| {
        let execution = s.execution(n);
        let lane = s.lane_of(&execution, n);
        let args = IssueGrantAndClaimArgs::new(execution, lane, n.of([30_000, 1, 0]));
        let r = s.backend.issue_grant_and_claim(args).await;
        s.told(&r)
    };
}

/// Claims an execution for which there may be a grant, and keeps the handle.
pub(super) async fn claim(
    s: &mut Side,
    n: &mut Numbers,
    execution: ExecutionId,
    (worker, instance): (WorkerId, WorkerInstanceId),
) -> String {
    let (lease, attempt) = (LeaseId::from_uuid(s.uuid()), AttemptId::from_uuid(s.uuid()));
    let attempt_index = match n.below(8) {
        0..=5 => s.total_attempts(&execution).await,
        6 => AttemptIndex::new(0),
        _ => AttemptIndex::new(1),
    };
    let lane = s.lane_of(&execution, n);
    let args = ClaimExecutionArgs::new(
        execution.clone(),
        worker,
        instance,
        lane,
        lease,
        n.of([30_000, 1_000]),
        attempt,
        attempt_index,
        n.of(["", "{}", r#"{"priority":1}"#, "no json"]).to_owned(),
        n.of([None, Some(10_000)]),
        n.of([None, Some(60_000)]).map(|ms| s.in_ms(ms).0),
        s.now(),
    );
    let deadline_at_ms = args.execution_deadline_at;
    let r = s.backend.claim_execution(args).await;
    let told = s.told(&r);
    match r {
        Ok(ClaimExecutionResult::Claimed(claimed)) => {
            if deadline_at_ms.is_some() {
                s.is_due(&execution, deadline_at_ms);
            }
            format!("{told} {}", s.keep(&claimed.handle))
        }
        _ => told,
    }
}

/// The fence of a lease: as it is, left out, or broken in one place.
pub(super) fn fence(held: &HandlePayload, n: &mut Numbers) -> Option<LeaseFence> {
    let mut fence = LeaseFence {
        lease_id: held.lease_id.clone(),
        lease_epoch: held.lease_epoch,
        attempt_id: held.attempt_id.clone(),
    };
    match n.below(12) {
        1 => return None,
        2 => fence.lease_id = LeaseId::from_uuid(uuid::Uuid::nil()),
        3 => fence.lease_epoch = LeaseEpoch::new(held.lease_epoch.0 + 1),
        4 => fence.attempt_id = AttemptId::from_uuid(uuid::Uuid::nil()),
        _ => {}
    }
    Some(fence)
}

fn attempt(held: &HandlePayload, n: &mut Numbers) -> AttemptIndex {
    if n.one_in(12) { held.attempt_index.next() } else { held.attempt_index }
}

pub(super) fn source(n: &mut Numbers) -> CancelSource {
    match n.below(5) {
        0 | 1 => CancelSource::LeaseHolder,
        2 => CancelSource::OperatorOverride,
        3 => CancelSource::FlowCascade,
        _ => CancelSource::Custom("custom".to_owned()),
    }
}
