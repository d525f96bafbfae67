//! Attempts that a caller names itself: granted and claimed, renewed, completed, failed.

use std::collections::BTreeSet;

use ff_core::backend::{FailureClass, FailureReason, Frame, FrameKind, HandleKind};
use ff_core::contracts::{
    ClaimExecutionArgs, ClaimExecutionResult, ClaimedExecution, CompleteExecutionArgs, CompleteExecutionResult,
    FailExecutionArgs, FailExecutionResult, IssueClaimGrantArgs, IssueGrantAndClaimArgs, RenewLeaseArgs,
    RenewLeaseResult,
};
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::state::{AttemptType, PublicState};
use ff_core::types::{
    AttemptId, AttemptIndex, CancelSource, ExecutionId, LaneId, LeaseEpoch, LeaseFence, LeaseId, TimestampMs, WorkerId,
    WorkerInstanceId,
};

use crate::harness::{Harness as Opened, LEASE_MS, T0, id_in, on_every_database, payload, refusal, uuid_of};

fn now(h: &Opened) -> TimestampMs {
    TimestampMs::from_millis(h.clock.now_ms())
}

/// Grants worker `worker` the execution for a minute.
pub(crate) async fn grant(h: &Opened, id: &ExecutionId) {
    let args = IssueClaimGrantArgs::new(
        id.clone(),
        LaneId::new("lane"),
        WorkerId::new("worker"),
        WorkerInstanceId::new("worker-1"),
        Partition { family: PartitionFamily::Execution, index: id.partition() },
        BTreeSet::new(),
        60_000,
        now(h),
    );
    h.backend.issue_claim_grant(args).await.expect("a grant");
}

/// Claims as worker `worker`, which expects attempt `index`.
pub(crate) fn claiming(h: &Opened, id: &ExecutionId, index: u32) -> ClaimExecutionArgs {
    ClaimExecutionArgs::new(
        id.clone(),
        WorkerId::new("worker"),
        WorkerInstanceId::new("worker-1"),
        LaneId::new("lane"),
        LeaseId::new(),
        LEASE_MS as u64,
        AttemptId::new(),
        AttemptIndex::new(index),
        "{}".to_owned(),
        None,
        None,
        now(h),
    )
}

async fn claimed(h: &Opened, id: &ExecutionId, index: u32) -> ClaimedExecution {
    match h.backend.claim_execution(claiming(h, id, index)).await.expect("a claim") {
        ClaimExecutionResult::Claimed(claimed) => claimed,
        other => panic!("{other:?}"),
    }
}

/// Creates an execution, grants and claims it.
pub(crate) async fn running(h: &Opened) -> (ExecutionId, ClaimedExecution) {
    let id = h.create().await;
    grant(h, &id).await;
    let claim = claimed(h, &id, 0).await;
    (id, claim)
}

pub(crate) fn fence(claimed: &ClaimedExecution) -> Option<LeaseFence> {
    Some(LeaseFence {
        lease_id: claimed.lease_id.clone(),
        lease_epoch: claimed.lease_epoch,
        attempt_id: claimed.attempt_id.clone(),
    })
}

fn stale(claimed: &ClaimedExecution) -> Option<LeaseFence> {
    fence(claimed).map(|fence| LeaseFence { lease_epoch: LeaseEpoch::new(fence.lease_epoch.0 + 1), ..fence })
}

pub(crate) fn renewing(claimed: &ClaimedExecution) -> RenewLeaseArgs {
    RenewLeaseArgs {
        execution_id: claimed.execution_id.clone(),
        attempt_index: claimed.attempt_index,
        fence: fence(claimed),
        lease_ttl_ms: 5_000,
        lease_history_grace_ms: 0,
    }
}

pub(crate) fn completing(h: &Opened, claimed: &ClaimedExecution) -> CompleteExecutionArgs {
    CompleteExecutionArgs {
        execution_id: claimed.execution_id.clone(),
        fence: fence(claimed),
        attempt_index: claimed.attempt_index,
        result_payload: Some(b"done".to_vec()),
        result_encoding: None,
        source: CancelSource::LeaseHolder,
        now: now(h),
    }
}

pub(crate) fn failing(claimed: &ClaimedExecution, policy: &str) -> FailExecutionArgs {
    FailExecutionArgs {
        execution_id: claimed.execution_id.clone(),
        fence: fence(claimed),
        attempt_index: claimed.attempt_index,
        failure_reason: "it broke".to_owned(),
        failure_category: "transient".to_owned(),
        retry_policy_json: policy.to_owned(),
        next_attempt_policy_json: String::new(),
        source: CancelSource::LeaseHolder,
    }
}

pub(crate) const ONE_RETRY: &str = r#"{"max_retries": 1, "backoff": {"type": "fixed", "delay_ms": 400}}"#;

async fn alter_core(h: &Opened, id: &ExecutionId, set: &str) {
    h.alter(&format!("UPDATE ff_exec_core SET {set} WHERE {}", h.of(id))).await;
}

async fn alter_attempt(h: &Opened, id: &ExecutionId, set: &str) {
    h.alter(&format!("UPDATE ff_attempt SET {set} WHERE {}", h.of(id))).await;
}

async fn has(h: &Opened, id: &ExecutionId, columns: &[(&str, &str)]) {
    for (column, stored) in columns {
        assert_eq!(h.core(id, column).await, *stored, "{column}");
    }
}

async fn grants(h: &Opened) -> i64 {
    h.number("SELECT count(*) FROM ff_claim_grant").await
}

async fn lease_ids(h: &Opened, id: &ExecutionId) -> Vec<String> {
    let uuid = uuid_of(id);
    h.texts(&format!("SELECT lease_id FROM ff_lease_event WHERE execution_id = '{uuid}' ORDER BY event_id")).await
}

on_every_database! {
    async fn a_grant_is_used_by_a_claim_whose_handle_every_operation_takes(h) {
        let id = h.create().await;
        grant(&h, &id).await;
        h.pass_ms(5);
        let mut args = claiming(&h, &id, 0);
        args.execution_deadline_at = Some(T0 + 99_000);
        let ClaimExecutionResult::Claimed(claim) = h.backend.claim_execution(args.clone()).await.unwrap() else {
            panic!("claimed")
        };
        assert_eq!((claim.execution_id.clone(), claim.attempt_index.0, claim.lease_epoch.0), (id.clone(), 0, 1));
        assert_eq!((claim.lease_id.clone(), claim.attempt_id.clone()), (args.lease_id, args.attempt_id));
        assert_eq!((claim.attempt_type, claim.lease_expires_at.0), (AttemptType::Initial, T0 + 5 + LEASE_MS));
        let deadline = (T0 + 99_000).to_string();
        let started = (T0 + 5).to_string();
        has(&h, &id, &[
            ("lifecycle_phase", "active"), ("ownership_state", "leased"), ("eligibility_state", "not_applicable"),
            ("attempt_state", "running_attempt"), ("public_state", "active"), ("attempt_index", "1"),
            ("deadline_at_ms", &deadline), ("started_at_ms", &started), ("blocking_reason", "null"),
        ]).await;
        let document = h.document(&id).await;
        assert_eq!(document["current_attempt_id"], claim.attempt_id.to_string());
        assert_eq!(document["current_lease_id"], claim.lease_id.to_string());
        assert_eq!(document["current_worker_id"], "worker");
        assert_eq!(document["current_worker_instance_id"], "worker-1");
        assert_eq!((document["pending_retry_reason"].as_str(), document["total_attempt_count"].as_str()), (Some(""), Some("1")));
        assert_eq!((grants(&h).await, h.lease_events(&id).await), (0, vec!["acquired".to_owned()]));
        assert_eq!(lease_ids(&h, &id).await, [claim.lease_id.to_string()]);

        let handle = claim.handle;
        assert_eq!((handle.backend, handle.kind), (h.declared().tag, HandleKind::Fresh));
        let held = payload(&handle);
        assert_eq!((held.lease_ttl_ms, held.lane_id.as_str(), held.worker_instance_id.as_str()), (LEASE_MS as u64, "lane", "worker-1"));
        h.backend.progress(&handle, Some(50), None).await.unwrap();
        h.backend.append_frame(&handle, Frame::new(b"{}".to_vec(), FrameKind::Stdout)).await.unwrap();
        h.backend.renew(&handle).await.unwrap();
        let described = h.backend.describe_execution(&id).await.unwrap().unwrap();
        assert!(described.current_lease.is_some());
        assert_eq!(described.public_state, PublicState::Active);
        h.backend.complete(&handle, Some(b"out".to_vec())).await.unwrap();
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Completed));
    }

    async fn a_handle_of_a_typed_claim_is_retried_as_the_next_attempt(h) {
        let (id, first) = running(&h).await;
        h.backend.fail(&first.handle, FailureReason::new("no"), FailureClass::Transient).await.unwrap();
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 1);
        grant(&h, &id).await;
        let second = claimed(&h, &id, 1).await;
        assert_eq!((second.attempt_type, second.lease_epoch.0, second.attempt_index.0), (AttemptType::Retry, 1, 1));
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 2);
        assert_eq!(refusal(h.backend.complete(&first.handle, None).await), "contention: LeaseConflict");
        let late = refusal(h.backend.complete_execution(completing(&h, &first)).await);
        assert_eq!(late, "state: StaleLease");
        assert_eq!(refusal(h.backend.renew_lease(renewing(&first)).await), "state: LeaseExpired");
        h.backend.complete(&second.handle, None).await.unwrap();
    }

    async fn a_claim_leases_an_attempt_that_is_there_again(h) {
        let (id, first) = running(&h).await;
        alter_core(&h, &id, "lifecycle_phase = 'runnable', ownership_state = 'unowned', \
            eligibility_state = 'eligible_now', attempt_state = 'pending_replay_attempt', started_at_ms = 7").await;
        alter_attempt(&h, &id, "outcome = 'failed', terminal_at_ms = 9, started_at_ms = 8").await;
        grant(&h, &id).await;
        let again = claimed(&h, &id, 0).await;
        assert_eq!((again.attempt_type, again.lease_epoch.0), (AttemptType::Replay, first.lease_epoch.0 + 1));
        assert_eq!(h.attempts(&id, "outcome").await, ["null"]);
        assert_eq!(h.attempts(&id, "terminal_at_ms").await, ["null"]);
        assert_eq!(h.attempts(&id, "started_at_ms").await, ["8"]);
        assert_eq!(h.attempts(&id, "policy").await, ["{}"]);
        has(&h, &id, &[("started_at_ms", "7"), ("attempt_index", "1")]).await;
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 1);
    }

    async fn a_claim_says_why_it_is_refused(h) {
        let missing = id_in(1);
        assert!(matches!(
            h.backend.claim_execution(claiming(&h, &missing, 0)).await,
            Err(EngineError::NotFound { entity: "execution" })
        ));
        let id = h.create().await;
        for (set, expected) in [
            ("lifecycle_phase = 'suspended'", "contention: ExecutionNotActive"),
            ("lifecycle_phase = 'runnable', ownership_state = 'leased'", "contention: LeaseConflict"),
            ("ownership_state = 'unowned', eligibility_state = 'blocked_by_budget'", "contention: ExecutionNotLeaseable"),
            ("eligibility_state = 'eligible_now', attempt_state = 'running_attempt'", "conflict: ActiveAttemptExists"),
            ("attempt_state = 'attempt_interrupted'", "contention: ExecutionNotLeaseable"),
            ("attempt_state = 'initial'", "contention: InvalidClaimGrant"),
        ] {
            alter_core(&h, &id, set).await;
            let said = refusal(h.backend.claim_execution(claiming(&h, &id, 0)).await);
            assert!(said.starts_with(expected), "{set}: {said}");
        }
        grant(&h, &id).await;
        let mut thief = claiming(&h, &id, 0);
        thief.worker_id = WorkerId::new("thief");
        assert_eq!(refusal(h.backend.claim_execution(thief).await), "contention: InvalidClaimGrant");
        let mut late = claiming(&h, &id, 0);
        late.now = TimestampMs::from_millis(T0 + 60_001);
        assert_eq!(refusal(h.backend.claim_execution(late).await), "contention: ClaimGrantExpired");
        assert_eq!((grants(&h).await, h.attempts(&id, "lease_epoch").await.len()), (1, 0));
        let mut policy = claiming(&h, &id, 0);
        policy.attempt_policy_json = "{".to_owned();
        let said = refusal(h.backend.claim_execution(policy).await);
        assert!(said.starts_with("validation: InvalidPolicyJson: attempt_policy_json: "), "{said}");
        let mut equal = claiming(&h, &id, 0);
        equal.now = TimestampMs::from_millis(T0 + 60_000);
        h.backend.claim_execution(equal).await.unwrap();
        let said = h.backend.claim_execution(claiming(&h, &id, 0)).await.unwrap_err();
        let EngineError::Contention(ff_core::engine_error::ContentionKind::ExecutionNotActive {
            terminal_outcome, lease_epoch, lifecycle_phase, attempt_id
        }) = said else { panic!("{said}") };
        assert_eq!((terminal_outcome.as_str(), lease_epoch.as_str(), lifecycle_phase.as_str()), ("none", "", "active"));
        assert!(!attempt_id.is_empty());
    }

    async fn the_newest_grant_decides(h) {
        let id = h.create().await;
        grant(&h, &id).await;
        h.alter("UPDATE ff_claim_grant SET expires_at_ms = 0").await;
        h.pass_ms(10);
        grant(&h, &id).await;
        h.alter("UPDATE ff_claim_grant SET worker_id = 'other' WHERE expires_at_ms > 0").await;
        assert_eq!(refusal(h.backend.claim_execution(claiming(&h, &id, 0)).await), "contention: InvalidClaimGrant");
        h.alter("UPDATE ff_claim_grant SET worker_id = 'worker', expires_at_ms = 0").await;
        claimed(&h, &id, 0).await;
        assert_eq!(grants(&h).await, 0);
    }

    async fn only_one_of_many_claims_uses_a_grant(h) {
        let id = h.create().await;
        grant(&h, &id).await;
        let mut claims = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (backend, args) = (h.backend.clone(), claiming(&h, &id, 0));
            claims.spawn(async move { backend.claim_execution(args).await.is_ok() });
        }
        let won = claims.join_all().await.into_iter().filter(|won| *won).count();
        assert_eq!((won, h.attempts(&id, "lease_epoch").await), (1, vec!["1".to_owned()]));
    }

    async fn a_renewal_moves_the_end_of_the_lease(h) {
        let (id, claim) = running(&h).await;
        h.pass_ms(LEASE_MS - 1);
        let RenewLeaseResult::Renewed { expires_at } = h.backend.renew_lease(renewing(&claim)).await.unwrap();
        assert_eq!(expires_at.0, T0 + LEASE_MS - 1 + 5_000);
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, [expires_at.0.to_string()]);
        assert_eq!(h.lease_events(&id).await, ["acquired", "renewed"]);
        assert_eq!(lease_ids(&h, &id).await, vec![claim.lease_id.to_string(); 2]);
    }

    async fn a_renewal_says_why_it_is_refused(h) {
        let (id, claim) = running(&h).await;
        let without = RenewLeaseArgs { fence: None, ..renewing(&claim) };
        assert_eq!(refusal(h.backend.renew_lease(without).await), "validation: InvalidInput: fence_required");
        let wide = RenewLeaseArgs { attempt_index: AttemptIndex::new(u32::MAX), ..renewing(&claim) };
        let said = refusal(h.backend.renew_lease(wide).await);
        assert_eq!(said, "validation: InvalidInput: attempt_index 4294967295 exceeds PG i32 column bound");
        let missing = RenewLeaseArgs { execution_id: id_in(1), ..renewing(&claim) };
        assert!(matches!(h.backend.renew_lease(missing).await, Err(EngineError::NotFound { entity: "attempt" })));
        let missing = RenewLeaseArgs { attempt_index: AttemptIndex::new(5), ..renewing(&claim) };
        assert!(matches!(h.backend.renew_lease(missing).await, Err(EngineError::NotFound { entity: "attempt" })));
        let older = RenewLeaseArgs { fence: stale(&claim), ..renewing(&claim) };
        assert_eq!(refusal(h.backend.renew_lease(older).await), "state: StaleLease");
        h.pass_ms(LEASE_MS);
        assert_eq!(refusal(h.backend.renew_lease(renewing(&claim)).await), "state: LeaseExpired");
        alter_core(&h, &id, "ownership_state = 'lease_revoked'").await;
        assert_eq!(refusal(h.backend.renew_lease(renewing(&claim)).await), "state: LeaseRevoked");
        alter_core(&h, &id, "ownership_state = 'unowned', lifecycle_phase = 'terminal'").await;
        let said = refusal(h.backend.renew_lease(renewing(&claim)).await);
        assert!(said.contains("ExecutionNotActive") && said.contains("\"1\"") && said.contains("terminal"), "{said}");
        assert_eq!(h.lease_events(&id).await, ["acquired"]);
        h.alter(&format!("DELETE FROM ff_exec_core WHERE {}", h.of(&id))).await;
        assert!(matches!(
            h.backend.renew_lease(renewing(&claim)).await,
            Err(EngineError::NotFound { entity: "execution" })
        ));
    }

    async fn a_completion_ends_the_execution(h) {
        let (id, claim) = running(&h).await;
        let done = h.backend.complete_execution(completing(&h, &claim)).await.unwrap();
        let CompleteExecutionResult::Completed { execution_id, public_state } = done;
        assert_eq!((execution_id, public_state), (id.clone(), PublicState::Completed));
        let at = T0.to_string();
        has(&h, &id, &[
            ("lifecycle_phase", "terminal"), ("ownership_state", "unowned"), ("eligibility_state", "not_applicable"),
            ("attempt_state", "attempt_terminal"), ("public_state", "completed"), ("terminal_at_ms", &at),
        ]).await;
        assert_eq!(h.document(&id).await["terminal_outcome"], "success");
        assert_eq!(h.attempts(&id, "outcome").await, ["success"]);
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, ["null"]);
        assert_eq!(h.attempts(&id, "lease_epoch").await, ["1"]);
        assert_eq!(h.completions(&id).await, ["success space instance-1"]);
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert_eq!(h.backend.get_execution_result(&id).await.unwrap().as_deref(), Some(&b"done"[..]));
        let again = refusal(h.backend.complete_execution(completing(&h, &claim)).await);
        assert!(again.contains("ExecutionNotActive") && again.contains("terminal"), "{again}");
        assert_eq!(h.completions(&id).await.len(), 1);
    }

    async fn a_completion_says_why_it_is_refused(h) {
        let (id, claim) = running(&h).await;
        let without = CompleteExecutionArgs { fence: None, ..completing(&h, &claim) };
        assert_eq!(refusal(h.backend.complete_execution(without).await), "validation: InvalidInput: fence_required");
        let missing = CompleteExecutionArgs { execution_id: id_in(1), ..completing(&h, &claim) };
        assert!(matches!(
            h.backend.complete_execution(missing).await,
            Err(EngineError::NotFound { entity: "execution" })
        ));
        let missing = CompleteExecutionArgs { attempt_index: AttemptIndex::new(3), ..completing(&h, &claim) };
        assert!(matches!(h.backend.complete_execution(missing).await, Err(EngineError::NotFound { entity: "attempt" })));
        let older = CompleteExecutionArgs { fence: stale(&claim), ..completing(&h, &claim) };
        assert_eq!(refusal(h.backend.complete_execution(older).await), "state: StaleLease");
        let late = TimestampMs::from_millis(T0 + LEASE_MS);
        for source in [CancelSource::LeaseHolder, CancelSource::OperatorOverride] {
            let overriding = source == CancelSource::OperatorOverride;
            let mut late = CompleteExecutionArgs { now: late, source, ..completing(&h, &claim) };
            if overriding {
                late.fence = None;
            }
            assert_eq!(refusal(h.backend.complete_execution(late).await), "state: LeaseExpired");
        }
        alter_core(&h, &id, "ownership_state = 'lease_revoked'").await;
        assert_eq!(refusal(h.backend.complete_execution(completing(&h, &claim)).await), "state: LeaseRevoked");
        assert!(h.completions(&id).await.is_empty());
    }

    async fn an_operator_completes_without_a_fence(h) {
        let (id, claim) = running(&h).await;
        alter_attempt(&h, &id, "lease_expires_at_ms = NULL").await;
        let args = CompleteExecutionArgs {
            fence: None, source: CancelSource::OperatorOverride, result_payload: None, ..completing(&h, &claim)
        };
        h.backend.complete_execution(args).await.unwrap();
        assert_eq!(h.backend.get_execution_result(&id).await.unwrap(), None);
        assert_eq!(lease_ids(&h, &id).await, [claim.lease_id.to_string(), "null".to_owned()]);
    }

    async fn a_failure_is_retried_as_its_policy_says(h) {
        let (id, claim) = running(&h).await;
        alter_core(&h, &id, "deadline_at_ms = 1700000999000").await;
        h.pass_ms(LEASE_MS + 1);
        let failed = h.backend.fail_execution(failing(&claim, ONE_RETRY)).await.unwrap();
        let FailExecutionResult::RetryScheduled { delay_until, next_attempt_index } = failed else { panic!("{failed:?}") };
        let due = T0 + LEASE_MS + 1 + 400;
        assert_eq!((delay_until.0, next_attempt_index.0), (due, 1));
        let stored = due.to_string();
        has(&h, &id, &[
            ("lifecycle_phase", "runnable"), ("ownership_state", "unowned"),
            ("eligibility_state", "not_eligible_until_time"), ("attempt_state", "pending_retry_attempt"),
            ("blocking_reason", "waiting_for_retry_backoff"), ("public_state", "delayed"), ("attempt_index", "1"),
            ("deadline_at_ms", &stored),
        ]).await;
        let document = h.document(&id).await;
        assert_eq!((document["retry_count"].as_str(), document["failure_reason"].as_str()), (Some("1"), Some("it broke")));
        assert_eq!((document["pending_previous_attempt_index"].as_str(), document["delay_until"].as_str()), (Some("0"), Some(stored.as_str())));
        assert_eq!(h.attempts(&id, "outcome").await, ["failed"]);
        assert!(h.completions(&id).await.is_empty());
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);

        h.pass_ms(400);
        let handle = h.claim("worker").await.expect("the retry is due");
        assert_eq!(payload(&handle).attempt_index.0, 1);
        has(&h, &id, &[("deadline_at_ms", "1700000999000")]).await;
        let mut second = claim;
        second.attempt_index = AttemptIndex::new(1);
        let failed = h.backend.fail_execution(failing(&second, ONE_RETRY)).await.unwrap();
        assert_eq!(failed, FailExecutionResult::TerminalFailed);
        has(&h, &id, &[("lifecycle_phase", "terminal"), ("public_state", "failed"), ("attempt_state", "attempt_terminal")]).await;
        assert_eq!(h.document(&id).await["terminal_outcome"], "failed");
        assert_eq!(h.completions(&id).await, ["failed space instance-1"]);
        let again = refusal(h.backend.fail_execution(failing(&second, ONE_RETRY)).await);
        assert!(again.contains("ExecutionNotActive") && again.contains("failed"), "{again}");
    }

    async fn a_failure_says_why_it_is_refused(h) {
        let (id, claim) = running(&h).await;
        let without = FailExecutionArgs { fence: None, ..failing(&claim, "") };
        assert_eq!(refusal(h.backend.fail_execution(without).await), "validation: InvalidInput: fence_required");
        let missing = FailExecutionArgs { execution_id: id_in(1), ..failing(&claim, "") };
        assert!(matches!(h.backend.fail_execution(missing).await, Err(EngineError::NotFound { entity: "attempt" })));
        let older = FailExecutionArgs { fence: stale(&claim), ..failing(&claim, "") };
        assert_eq!(refusal(h.backend.fail_execution(older).await), "state: StaleLease");
        let nul = FailExecutionArgs { failure_reason: "a\0".to_owned(), ..failing(&claim, "") };
        assert!(refusal(h.backend.fail_execution(nul).await).contains("failure_reason"));
        alter_core(&h, &id, "ownership_state = 'lease_revoked'").await;
        assert_eq!(refusal(h.backend.fail_execution(failing(&claim, "")).await), "state: LeaseRevoked");
        alter_core(&h, &id, "ownership_state = 'leased'").await;
        let unreadable = refusal(h.backend.fail_execution(failing(&claim, "not json")).await);
        assert!(unreadable.contains("retry_policy_json"), "{unreadable}");
        let overriding =
            FailExecutionArgs { fence: None, source: CancelSource::OperatorOverride, ..failing(&claim, "") };
        assert_eq!(h.backend.fail_execution(overriding).await.unwrap(), FailExecutionResult::TerminalFailed);
    }

    async fn a_counter_that_is_no_number_counts_as_none(h) {
        let (id, claim) = running(&h).await;
        let document = r#"'{"retry_count": "many"}'"#;
        alter_core(&h, &id, &format!("raw_fields = {document}")).await;
        h.backend.fail_execution(failing(&claim, ONE_RETRY)).await.unwrap();
        assert_eq!(h.document(&id).await["retry_count"], "1");
    }

    async fn an_operator_takes_an_execution_and_leaves_no_grant(h) {
        let id = h.create().await;
        grant(&h, &id).await;
        let args = IssueGrantAndClaimArgs::new(id.clone(), LaneId::new("elsewhere"), 9_000);
        let outcome = h.backend.issue_grant_and_claim(args.clone()).await.unwrap();
        assert_eq!((outcome.lease_epoch.0, outcome.attempt_index.0, grants(&h).await), (1, 0, 0));
        has(&h, &id, &[
            ("lifecycle_phase", "active"), ("public_state", "running"), ("attempt_state", "running_attempt"),
            ("attempt_index", "1"),
        ]).await;
        assert_eq!(h.attempts(&id, "worker_id").await, ["operator"]);
        assert_eq!(h.attempts(&id, "worker_instance_id").await, ["operator"]);
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, [(T0 + 9_000).to_string()]);
        assert_eq!(lease_ids(&h, &id).await, [outcome.lease_id.to_string()]);
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 1);
        let again = refusal(h.backend.issue_grant_and_claim(args).await);
        assert!(again.contains("ExecutionNotActive") && again.contains("active"), "{again}");
    }

    async fn an_operator_resumes_an_interrupted_attempt_of_a_free_execution(h) {
        let (id, claim) = running(&h).await;
        let args = IssueGrantAndClaimArgs::new(id.clone(), LaneId::new("lane"), 9_000);
        alter_core(&h, &id, "attempt_state = 'attempt_interrupted', lifecycle_phase = 'suspended'").await;
        let said = refusal(h.backend.issue_grant_and_claim(args.clone()).await);
        assert!(said.contains("ExecutionNotActive") && said.contains("suspended"), "{said}");
        alter_core(&h, &id, "lifecycle_phase = 'runnable'").await;
        assert_eq!(refusal(h.backend.issue_grant_and_claim(args.clone()).await), "contention: LeaseConflict");
        alter_core(&h, &id, "ownership_state = 'released', public_state = 'resumable'").await;
        alter_attempt(&h, &id, "outcome = 'attempt_interrupted'").await;
        h.pass_ms(10);
        let outcome = h.backend.issue_grant_and_claim(args).await.unwrap();
        assert_eq!((outcome.lease_epoch.0, outcome.attempt_index.0), (claim.lease_epoch.0 + 1, 0));
        has(&h, &id, &[("lifecycle_phase", "active"), ("public_state", "running"), ("attempt_index", "1")]).await;
        assert_eq!(h.attempts(&id, "outcome").await, ["null"]);
        assert_eq!(h.attempts(&id, "started_at_ms").await, [(T0 + 10).to_string()]);
    }

    async fn an_operator_is_told_why_not(h) {
        let taking = |id: &ExecutionId| IssueGrantAndClaimArgs::new(id.clone(), LaneId::new("lane"), 9_000);
        assert!(matches!(
            h.backend.issue_grant_and_claim(taking(&id_in(1))).await,
            Err(EngineError::NotFound { entity: "execution" })
        ));
        let id = h.create().await;
        grant(&h, &id).await;
        for (set, expected) in [
            ("ownership_state = 'leased'", "contention: LeaseConflict"),
            ("ownership_state = 'unowned', eligibility_state = 'blocked_by_quota'", "contention: ExecutionNotLeaseable"),
            ("eligibility_state = 'eligible_now', attempt_state = 'running_attempt'", "conflict: ActiveAttemptExists"),
            ("attempt_state = 'odd'", "validation: Corruption: issue_grant_and_claim: unrecognized attempt_state=odd"),
        ] {
            alter_core(&h, &id, set).await;
            let said = refusal(h.backend.issue_grant_and_claim(taking(&id)).await);
            assert!(said.starts_with(expected), "{set}: {said}");
        }
        for state in ["pending_retry_attempt", "pending_replay_attempt", "pending_first_attempt", "initial", "pending_claim"] {
            let id = h.create().await;
            alter_core(&h, &id, &format!("attempt_state = '{state}', eligibility_state = 'pending_claim'")).await;
            h.backend.issue_grant_and_claim(taking(&id)).await.unwrap();
        }
    }
}
