//! Suspension, waitpoints, signals, and going on.

use ff_core::backend::{PendingWaitpoint, ResumeToken};
use ff_core::contracts::{
    ClaimResumedExecutionArgs, ClaimResumedExecutionResult, CompositeBody, CountKind, DeliverApprovalSignalArgs,
    DeliverSignalArgs, DeliverSignalResult, IdempotencyKey, ResumeCondition, ResumeExecutionArgs, ResumeGrant,
    ResumePolicy, RotateWaitpointHmacSecretAllArgs, SeedWaitpointHmacSecretArgs, SignalMatcher, SuspendArgs,
    SuspendOutcome, SuspensionReasonCode, SuspensionRequester, TimeoutBehavior, WaitpointBinding,
};
use ff_core::types::{ExecutionId, SignalId, SuspensionId, WaitpointId, WaitpointToken};

use super::typed::fence;
use super::work::fresh_lease;
use super::{NOTHING, operations};
use crate::numbers::Numbers;
use crate::side::{Side, Waitpoint, partition_of, worker};

operations! {
    4 seed_secret: |s, n| {
        let kid = n.of(["first", "second"]);
        let r = s.backend.seed_waitpoint_hmac_secret(SeedWaitpointHmacSecretArgs::new(kid, secret(n))).await;
        s.told(&r)
    };
    4 rotate_secret: |s, n| {
        let args = RotateWaitpointHmacSecretAllArgs::new(n.of(["third", "first", "fourth"]), secret(n), n.of([0, 60_000]));
        let r = s.backend.rotate_waitpoint_hmac_secret_all(args).await;
        s.told(&r)
    };
    60 suspend: |s, n| match s.handle(n) {
        Some(handle) => {
            let execution = crate::harness::payload(&handle).execution_id;
            let args = suspension(s, n, &execution);
            let r = s.backend.suspend(&handle, args).await;
            if matches!(&r, Ok(SuspendOutcome::Suspended { .. })) { s.spend(&handle); }
            suspended(s, &execution, r)
        }
        None => NOTHING.to_owned(),
    };
    60 a_suspended_execution: |s, n| match fresh_lease(s).await {
        Some(handle) => {
            let execution = crate::harness::payload(&handle).execution_id;
            let (id, waitpoint_id) = (SuspensionId::from_uuid(s.uuid()), WaitpointId::from_uuid(s.uuid()));
            let fresh = WaitpointBinding::Fresh { waitpoint_id, waitpoint_key: "key".to_owned() };
            let condition = condition(n, &["key"]);
            let reason = SuspensionReasonCode::WaitingForSignal;
            let mut args = SuspendArgs::new(id, fresh, condition, ResumePolicy::normal(), reason, s.now());
            if n.one_in(4) {
                args = args.with_timeout(s.in_ms(500), TimeoutBehavior::AutoResumeWithTimeoutSignal);
            }
            let r = s.backend.suspend(&handle, args).await;
            if matches!(&r, Ok(SuspendOutcome::Suspended { .. })) { s.spend(&handle); }
            suspended(s, &execution, r)
        }
        None => NOTHING.to_owned(),
    };
    12 suspend_by_triple: |s, n| match s.held(n) {
        Some((handle, held)) => {
            let Some(fence) = fence(&held, n) else { return NOTHING.to_owned() };
            let args = suspension(s, n, &held.execution_id);
            let r = s.backend.suspend_by_triple(held.execution_id.clone(), fence, args).await;
            if matches!(&r, Ok(SuspendOutcome::Suspended { .. })) { s.spend(&handle); }
            suspended(s, &held.execution_id, r)
        }
        None => NOTHING.to_owned(),
    };
    16 create_waitpoint: |s, n| match s.held(n) {
        Some((handle, held)) => {
            let expires_in = std::time::Duration::from_millis(n.of([60_000, 1, 0]));
            let r = s.backend.create_waitpoint(&handle, n.of(["key", "other", ""]), expires_in).await;
            let told = s.told(&r);
            if let Ok(PendingWaitpoint { waitpoint_id, hmac_token, .. }) = r {
                let token = hmac_token.as_str().to_owned();
                s.known.waitpoints.push(Waitpoint { execution: held.execution_id, id: waitpoint_id, token });
            }
            told
        }
        None => NOTHING.to_owned(),
    };
    80 deliver_signal: |s, n| {
        let Some(waitpoint) = n.from(&s.known.waitpoints).cloned() else { return NOTHING.to_owned() };
        let args = signal(s, n, &waitpoint);
        let r = s.backend.deliver_signal(args).await;
        resumes(s, &waitpoint.execution, &r);
        s.told(&r)
    };
    16 deliver_approval_signal: |s, n| {
        // Signals of one millisecond are listed in the order of their ids, and the backend makes this one's.
        s.pass_ms(1);
        let Some(waitpoint) = n.from(&s.known.waitpoints).cloned() else { return NOTHING.to_owned() };
        let execution = if n.one_in(12) { s.execution(n) } else { waitpoint.execution.clone() };
        let lane = s.lane_of(&execution, n);
        let args = DeliverApprovalSignalArgs::new(
            execution, lane, waitpoint.id.clone(), n.of(["approved", "go", "rejected", ""]), n.of(["x", "y"]),
            n.of([60_000, 1]), n.of([None, Some(1)]), n.of([None, Some(1)]),
        );
        let r = s.backend.deliver_approval_signal(args).await;
        resumes(s, &waitpoint.execution, &r);
        s.told(&r)
    };
    8 observe_signals: |s, n| {
        let handle = if n.one_in(3) { s.handle(n) } else { n.from(&s.known.spent).cloned() };
        let Some(handle) = handle else { return NOTHING.to_owned() };
        let r = s.backend.observe_signals(&handle).await;
        s.told(&r)
    };
    40 claim_resumed_execution: |s, n| {
        let execution_id = s.resumable(n);
        let (worker_id, worker_instance_id) = worker(n);
        let lane_id = s.lane_of(&execution_id, n);
        let current = s.current_attempt(&execution_id).await;
        let args = ClaimResumedExecutionArgs {
            execution_id,
            worker_id,
            worker_instance_id,
            lane_id,
            lease_id: ff_core::types::LeaseId::from_uuid(s.uuid()),
            lease_ttl_ms: n.of([30_000, 1_000]),
            current_attempt_index: if n.one_in(12) { current.next() } else { current },
            remaining_attempt_timeout_ms: n.of([None, Some(5_000)]),
            now: s.now(),
        };
        let r = s.backend.claim_resumed_execution(args).await;
        let told = s.told(&r);
        match r {
            Ok(ClaimResumedExecutionResult::Claimed(claimed)) => format!("{told} {}", s.keep(&claimed.handle)),
            _ => told,
        }
    };
    20 claim_from_resume_grant: |s, n| {
        let execution = s.resumable(n);
        let (worker, instance) = worker(n);
        let partition = partition_of(&execution, n).into();
        let key = n.of(["grant", ""]).to_owned();
        let (lane, until) = (s.lane_of(&execution, n), s.in_ms(n.of([10_000, -1])).0.unsigned_abs());
        let grant = ResumeGrant::new(execution, partition, key, until, lane);
        let r = s.backend.claim_from_resume_grant(ResumeToken::new(grant, worker, instance, n.of([30_000, 1_000]))).await;
        match &r {
            Ok(Some(handle)) => s.keep(handle),
            _ => s.told(&r),
        }
    };
    12 resume_execution: |s, n| {
        let execution_id = waiting(s, n);
        let trigger_type = n.of(["operator", "signal", "timeout", ""]).to_owned();
        let args = ResumeExecutionArgs { execution_id: execution_id.clone(), trigger_type, resume_delay_ms: n.of([0, 1_000]) };
        let r = s.backend.resume_execution(args).await;
        if r.is_ok() { s.known.resumables.push(execution_id); }
        s.told(&r)
    };
    6 close_waitpoint: |s, n| {
        let waitpoint = n.from(&s.known.waitpoints).cloned();
        let Some(Waitpoint { execution, id, .. }) = waitpoint else { return NOTHING.to_owned() };
        let partition = partition_of(&execution, n);
        let id = if n.one_in(12) { "no uuid".to_owned() } else { id.to_string() };
        let at = s.in_ms(n.of([0, 60_000, -1]));
        let r = s.backend.close_waitpoint(partition, &execution, &id, at).await;
        s.told(&r)
    };
    10 expire_suspension: |s, n| {
        let execution = waiting(s, n);
        let (partition, at) = (partition_of(&execution, n), s.in_ms(n.of([0, 60_000])));
        let r = s.backend.expire_suspension(partition, &execution, at).await;
        s.told(&r)
    };
}

const FIRST: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OTHER: &str = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

/// A secret as callers write it.
fn secret(n: &mut Numbers) -> &'static str {
    n.of([FIRST, FIRST, OTHER, "odd"])
}

/// An execution that waits at a waitpoint, or any.
fn waiting(s: &mut Side, n: &mut Numbers) -> ExecutionId {
    match n.from(&s.known.waitpoints).map(|waitpoint| waitpoint.execution.clone()) {
        Some(id) if !n.one_in(6) => id,
        _ => s.execution(n),
    }
}

/// Notes that an execution may be claimed as resumed.
fn resumes(s: &mut Side, id: &ExecutionId, r: &Result<DeliverSignalResult, ff_core::EngineError>) {
    if matches!(r, Ok(DeliverSignalResult::Accepted { effect, .. }) if effect == "resume_condition_satisfied") {
        s.known.resumables.push(id.clone());
    }
}

fn suspended(s: &mut Side, execution: &ExecutionId, r: Result<SuspendOutcome, ff_core::EngineError>) -> String {
    let told = s.told(&r);
    let Ok(outcome) = r else { return told };
    let details = outcome.details();
    let first = (details.waitpoint_id.clone(), details.waitpoint_token.clone());
    let others = details.additional_waitpoints.iter();
    let others = others.map(|other| (other.waitpoint_id.clone(), other.waitpoint_token.clone()));
    for (id, token) in std::iter::once(first).chain(others) {
        let token = token.as_str().to_owned();
        s.known.waitpoints.push(Waitpoint { execution: execution.clone(), id, token });
    }
    match outcome {
        SuspendOutcome::Suspended { handle, .. } => {
            s.known.spent.push(handle.clone());
            format!("{told} {}", s.told_of(&(handle.kind, crate::harness::payload(&handle))))
        }
        _ => told,
    }
}

fn suspension(s: &mut Side, n: &mut Numbers, execution: &ExecutionId) -> SuspendArgs {
    let id = SuspensionId::from_uuid(s.uuid());
    let keys: &[&str] = n.of([&["key"][..], &["key"], &["key", "other"], &["other"], &["key", "key"]]);
    let mut bindings = Vec::new();
    for key in keys {
        let fresh = WaitpointId::from_uuid(s.uuid());
        let pending = s.known.waitpoints.iter().rev().find(|known| known.execution == *execution);
        bindings.push(match pending {
            Some(known) if n.one_in(3) => WaitpointBinding::UsePending { waitpoint_id: known.id.clone() },
            _ => WaitpointBinding::Fresh { waitpoint_id: fresh, waitpoint_key: (*key).to_owned() },
        });
    }
    let mut policy = ResumePolicy::normal();
    if n.one_in(4) {
        policy.resume_delay_ms = n.of([Some(1_000), Some(0)]);
        policy.close_waitpoint_on_resume = n.one_in(2);
        policy.consume_matched_signals = n.one_in(2);
        policy.retain_signal_buffer_until_closed = n.one_in(2);
    }
    let reason = n.of([SuspensionReasonCode::WaitingForSignal, SuspensionReasonCode::WaitingForApproval]);
    let first = bindings.remove(0);
    let mut args = SuspendArgs::new(id, first, condition(n, keys), policy, reason, s.now());
    for binding in bindings {
        args = args.with_waitpoint(binding);
    }
    if n.one_in(2) {
        let behavior = n.of([
            TimeoutBehavior::Fail,
            TimeoutBehavior::Cancel,
            TimeoutBehavior::Expire,
            TimeoutBehavior::AutoResumeWithTimeoutSignal,
            TimeoutBehavior::Escalate,
        ]);
        args = args.with_timeout(s.in_ms(n.of([500, 20_000, 0, -1])), behavior);
    }
    if n.one_in(6) {
        args = args.with_requester(SuspensionRequester::Operator).with_idempotency_key(IdempotencyKey::new("once"));
    }
    args
}

fn condition(n: &mut Numbers, keys: &[&str]) -> ResumeCondition {
    let named = |key: &str, name: &str| ResumeCondition::Single {
        waitpoint_key: key.to_owned(),
        matcher: SignalMatcher::ByName(name.to_owned()),
    };
    let all = keys.iter().map(|key| (*key).to_owned());
    match n.below(10) {
        0..=2 => named(keys[0], "go"),
        3 => ResumeCondition::Single { waitpoint_key: keys[0].to_owned(), matcher: SignalMatcher::Wildcard },
        4 => ResumeCondition::all_of_waitpoints(keys.iter().copied()),
        5 => ResumeCondition::Composite(CompositeBody::count(n.of([2, 1, 0]), CountKind::DistinctSignals, None, all)),
        6 => {
            let kind = n.of([CountKind::DistinctSources, CountKind::DistinctWaitpoints]);
            let matcher = n.of([None, Some("go")]).map(|name| SignalMatcher::ByName(name.to_owned()));
            ResumeCondition::Composite(CompositeBody::count(n.of([2, 1]), kind, matcher, all))
        }
        7 => ResumeCondition::OperatorOnly,
        8 => ResumeCondition::TimeoutOnly,
        _ => ResumeCondition::Composite(CompositeBody::all_of([named(keys[0], "go"), named("nobody", "go")])),
    }
}

fn signal(s: &mut Side, n: &mut Numbers, waitpoint: &Waitpoint) -> DeliverSignalArgs {
    let token = match n.below(24) {
        23 => format!("{}0", waitpoint.token),
        22 => String::new(),
        21 => "kid:00".to_owned(),
        _ => waitpoint.token.clone(),
    };
    DeliverSignalArgs {
        execution_id: if n.one_in(24) { s.execution(n) } else { waitpoint.execution.clone() },
        waitpoint_id: waitpoint.id.clone(),
        signal_id: SignalId::from_uuid(s.uuid()),
        signal_name: n.of(["go", "go", "other", "go"]).to_owned(),
        signal_category: "external".to_owned(),
        source_type: "user".to_owned(),
        source_identity: n.of(["alice", "bob"]).to_owned(),
        payload: n.of([None, Some(&b"payload"[..]), Some(&[0, 255][..])]).map(<[u8]>::to_vec),
        payload_encoding: None,
        correlation_id: n.of([None, Some("c")]).map(str::to_owned),
        idempotency_key: n.of([None, None, Some("k")]).map(str::to_owned),
        target_scope: "waitpoint".to_owned(),
        created_at: None,
        dedup_ttl_ms: None,
        resume_delay_ms: n.of([None, None, None, Some(1_000)]),
        max_signals_per_execution: n.of([None, None, None, Some(1)]),
        signal_maxlen: None,
        waitpoint_token: WaitpointToken::new(token),
        now: s.now(),
    }
}
