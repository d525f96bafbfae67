//! Time that is over: leases, attempts, deadlines, delays; asked for one execution and by the sweeps.

use ff_backend_sql::FullScannerConfig;
use ff_core::backend::ScannerFilter;
use ff_core::engine_backend::{ExpirePhase, ReconcileCounts};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::policy::{BackoffStrategy, ExecutionPolicy, RetryPolicy, TimeoutPolicy};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, LaneId, TimestampMs};

use crate::harness::{Harness as Opened, LEASE_MS, LOST, T0, id_in, on_every_database, payload, refusal};

/// Until after a lease that was taken at the start.
const GONE_MS: i64 = LEASE_MS + 1;

fn partition_of(id: &ExecutionId) -> Partition {
    Partition { family: PartitionFamily::Execution, index: id.partition() }
}

fn at(after_ms: i64) -> TimestampMs {
    TimestampMs::from_millis(T0 + after_ms)
}

/// A policy that allows that many retries, at once.
fn retrying(max_retries: u32) -> Option<ExecutionPolicy> {
    let backoff = BackoffStrategy::Fixed { delay_ms: 0 };
    let retry_policy = Some(RetryPolicy { max_retries, backoff, retryable_categories: Vec::new() });
    Some(ExecutionPolicy { retry_policy, ..Default::default() })
}

/// What all five state columns say, and the public state.
async fn states(h: &Opened, id: &ExecutionId) -> [String; 5] {
    let mut found = Vec::new();
    for column in ["lifecycle_phase", "ownership_state", "eligibility_state", "attempt_state", "public_state"] {
        found.push(h.core(id, column).await);
    }
    found.try_into().expect("five columns")
}

async fn assert_expired(h: &Opened, id: &ExecutionId, message: &str) {
    let expected = ["terminal", "unowned", "not_applicable", "attempt_terminal", "expired"];
    assert_eq!(states(h, id).await, expected);
    assert_eq!(h.core(id, "terminal_at_ms").await, h.clock.now_ms().to_string());
    let document = h.document(id).await;
    assert_eq!(document["last_failure_message"], message);
    assert_eq!(document["terminal_outcome"], "expired");
    assert_eq!(h.completions(id).await, ["expired space instance-1"]);
    let info = h.backend.read_execution_info(id).await.unwrap().unwrap();
    assert_eq!(info.public_state, PublicState::Expired);
    assert!(info.state_vector.is_consistent(), "{:?}", info.state_vector);
}

async fn time_out(h: &Opened, id: &ExecutionId) {
    let phase = ExpirePhase::AttemptTimeout;
    h.backend.expire_execution(partition_of(id), id, phase, at(0)).await.expect("it is answered");
}

async fn pass_deadline(h: &Opened, id: &ExecutionId, after_ms: i64) {
    let phase = ExpirePhase::ExecutionDeadline;
    h.backend.expire_execution(partition_of(id), id, phase, at(after_ms)).await.expect("it is answered");
}

async fn with_deadline(h: &Opened, after_ms: i64) -> ExecutionId {
    h.create_with(|args| args.execution_deadline_at = Some(at(after_ms))).await
}

on_every_database! {
    async fn a_crashed_workers_execution_is_recovered_with_the_defaults(h) {
        let (id, crashed) = h.created_and_claimed().await;
        h.pass_ms(GONE_MS);
        assert_eq!(h.sweep("attempt_timeout").await, (0, 0), "without a retry policy the attempt goes on");
        assert_eq!(h.sweep("lease_expiry").await, (1, 0));
        let expected = ["runnable", "unowned", "eligible_now", "attempt_interrupted", "waiting"];
        assert_eq!(states(&h, &id).await, expected);
        assert_eq!(h.attempts(&id, "outcome").await, ["lease_expired_reclaimable"]);
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, ["null"]);
        assert_eq!(h.attempts(&id, "lease_epoch").await, ["1"]);
        assert_eq!(h.document(&id).await["lease_expired_at_ms"], T0 + GONE_MS);
        assert_eq!(h.lease_events(&id).await, ["acquired", "expired"]);
        assert!(h.completions(&id).await.is_empty());
        let info = h.backend.read_execution_info(&id).await.unwrap().unwrap();
        assert!(info.state_vector.is_consistent());
        assert_eq!(h.sweep("lease_expiry").await, (0, 0));
        assert_eq!(refusal(h.backend.renew(&crashed).await), LOST);
        assert_eq!(refusal(h.backend.complete(&crashed, None).await), LOST);
        let handle = h.claim("worker-b").await.expect("it is claimable");
        let (held, before) = (payload(&handle), payload(&crashed));
        assert_eq!((held.execution_id, held.attempt_index), (id.clone(), before.attempt_index));
        assert_eq!(held.lease_epoch.0, before.lease_epoch.0 + 1);
        assert_eq!(refusal(h.backend.cancel(&crashed, "late").await), LOST);
        h.backend.complete(&handle, None).await.unwrap();
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Completed));
    }

    async fn a_lease_is_over_after_its_last_millisecond(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        h.backend.mark_lease_expired_if_due(partition_of(&id), &id).await.unwrap();
        assert_eq!(h.sweep("lease_expiry").await, (0, 0));
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
        h.pass_ms(1);
        h.backend.renew(&handle).await.unwrap();
        h.backend.mark_lease_expired_if_due(partition_of(&id), &id).await.unwrap();
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active", "a lease that was renewed late is alive");
        h.pass_ms(GONE_MS);
        h.backend.mark_lease_expired_if_due(partition_of(&id), &id).await.unwrap();
        assert_eq!(h.core(&id, "lifecycle_phase").await, "runnable");
        assert_eq!(h.lease_events(&id).await, ["acquired", "renewed", "expired"]);
    }

    async fn what_never_was_is_never_due(h) {
        let id = id_in(1);
        let partition = partition_of(&id);
        h.backend.mark_lease_expired_if_due(partition, &id).await.unwrap();
        time_out(&h, &id).await;
        pass_deadline(&h, &id, 5).await;
        h.backend.promote_delayed(partition, &LaneId::new("lane"), &id, at(5)).await.unwrap();
        let far = Partition { family: PartitionFamily::Execution, index: 40_000 };
        let refused = refusal(h.backend.mark_lease_expired_if_due(far, &id).await);
        assert_eq!(refused, "validation: InvalidInput: partition index 40000 exceeds i16 range (max 32767)");
    }

    async fn the_partition_argument_says_where_the_row_is(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(GONE_MS);
        let other = Partition { family: PartitionFamily::Execution, index: id.partition() + 1 };
        h.backend.mark_lease_expired_if_due(other, &id).await.unwrap();
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
    }

    async fn an_attempt_with_a_retry_policy_times_out_and_another_follows(h) {
        let id = h.create_with(|args| args.policy = retrying(1)).await;
        let late = h.claim("worker-a").await.unwrap();
        h.pass_ms(GONE_MS);
        assert_eq!(h.sweep("lease_expiry").await, (0, 0), "it is the other sweep's");
        assert_eq!(h.sweep("attempt_timeout").await, (1, 0));
        let expected = ["runnable", "unowned", "eligible_now", "pending_retry_attempt", "waiting"];
        assert_eq!(states(&h, &id).await, expected);
        assert_eq!(h.attempts(&id, "outcome").await, ["interrupted"]);
        assert_eq!(h.attempts(&id, "terminal_at_ms").await, [(T0 + GONE_MS).to_string()]);
        assert_eq!(h.attempts(&id, "worker_instance_id").await, ["null"]);
        assert_eq!(h.core(&id, "attempt_index").await, "1");
        assert_eq!(h.document(&id).await["last_failure_message"], "attempt_timeout");
        assert_eq!(h.lease_events(&id).await, ["acquired", "expired"]);
        assert!(h.completions(&id).await.is_empty());
        assert_eq!(refusal(h.backend.complete(&late, None).await), LOST);
        let next = h.claim("worker-b").await.expect("the next attempt");
        assert_eq!(payload(&next).attempt_index.0, 1);
        assert_eq!(refusal(h.backend.cancel(&late, "late").await), LOST);
        h.pass_ms(GONE_MS);
        assert_eq!(h.sweep("attempt_timeout").await, (1, 0));
        assert_eq!(h.attempts(&id, "outcome").await, ["interrupted", "expired"]);
        assert_expired(&h, &id, "attempt_timeout").await;
        assert!(h.claim("worker-c").await.is_none());
    }

    async fn timeouts_and_failures_share_the_retries(h) {
        let id = h.create_with(|args| args.policy = retrying(1)).await;
        h.claim("worker-a").await.unwrap();
        h.pass_ms(GONE_MS);
        assert_eq!(h.sweep("attempt_timeout").await, (1, 0));
        let next = h.claim("worker-b").await.unwrap();
        let class = ff_core::backend::FailureClass::Transient;
        let failed = h.backend.fail(&next, ff_core::backend::FailureReason::new("broken"), class).await.unwrap();
        assert_eq!(failed, ff_core::backend::FailOutcome::TerminalFailed);
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Failed));
    }

    async fn an_attempt_timeout_without_retries_ends_the_execution(h) {
        let timeouts: TimeoutPolicy = serde_json::from_str(r#"{"attempt_timeout_ms": 5}"#).unwrap();
        let policy = ExecutionPolicy { timeout_policy: Some(timeouts), ..Default::default() };
        let id = h.create_with(|args| args.policy = Some(policy)).await;
        h.claim("worker-a").await.unwrap();
        h.pass_ms(GONE_MS);
        assert_eq!(h.sweep("lease_expiry").await, (0, 0));
        assert_eq!(h.sweep("attempt_timeout").await, (1, 0));
        assert_expired(&h, &id, "attempt_timeout").await;
    }

    async fn asked_for_one_execution_each_operation_does_what_its_name_says(h) {
        let timed = h.create_with(|args| args.policy = retrying(3)).await;
        let plain = h.create().await;
        for _ in 0..2 {
            h.claim("worker-a").await.unwrap();
        }
        h.pass_ms(GONE_MS);
        h.backend.mark_lease_expired_if_due(partition_of(&timed), &timed).await.unwrap();
        assert_eq!(h.attempts(&timed, "outcome").await, ["lease_expired_reclaimable"]);
        time_out(&h, &timed).await;
        assert_eq!(h.attempts(&timed, "outcome").await, ["lease_expired_reclaimable"], "it is not active any more");
        time_out(&h, &plain).await;
        assert_expired(&h, &plain, "attempt_timeout").await;
        h.backend.mark_lease_expired_if_due(partition_of(&plain), &plain).await.unwrap();
        assert_eq!(h.lease_events(&plain).await, ["acquired", "expired"]);
    }

    async fn a_lease_that_an_ended_attempt_left_behind_is_taken_away_quietly(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        h.alter(&format!("UPDATE ff_attempt SET lease_expires_at_ms = 5 WHERE {}", h.of(&id))).await;
        assert_eq!(h.sweep("attempt_timeout").await, (0, 0));
        assert_eq!(h.sweep("lease_expiry").await, (1, 0));
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, ["null"]);
        assert_eq!(h.attempts(&id, "outcome").await, ["success"]);
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Completed));
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
    }

    async fn a_running_attempt_does_not_pay_for_an_earlier_one(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(GONE_MS);
        let grant = crate::reclaim::granted(&h, &id).await;
        drop(grant);
        h.backend.reclaim_execution(crate::reclaim::using(&id)).await.unwrap();
        let first = "attempt_index = 0";
        h.alter(&format!("UPDATE ff_attempt SET lease_expires_at_ms = 5 WHERE {first} AND {}", h.of(&id))).await;
        assert_eq!(h.sweep("lease_expiry").await, (1, 0));
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
        assert_eq!(h.attempts(&id, "outcome").await, ["interrupted_reclaimed", "null"]);
    }

    async fn a_deadline_ends_what_is_open(h) {
        let active = with_deadline(&h, 1_000).await;
        let handle = h.claim("worker-a").await.unwrap();
        let fresh = with_deadline(&h, 1_000).await;
        let later = with_deadline(&h, 1_001).await;
        let suspended = with_deadline(&h, 1_000).await;
        let sleeping = "lifecycle_phase = 'suspended', eligibility_state = 'not_applicable'";
        h.alter(&format!("UPDATE ff_exec_core SET {sleeping} WHERE {}", h.of(&suspended))).await;
        pass_deadline(&h, &active, 1_000).await;
        assert_eq!(h.core(&active, "lifecycle_phase").await, "active", "the deadline itself is in time");
        h.clock.set(T0 + 1_001);
        assert_eq!(h.sweep("execution_deadline").await, (3, 0));
        for id in [&active, &fresh, &suspended] {
            assert_expired(&h, id, "execution_deadline").await;
        }
        assert_eq!(h.attempts(&active, "outcome").await, ["expired"]);
        assert_eq!(h.lease_events(&active).await, ["acquired", "expired"]);
        assert!(h.lease_events(&fresh).await.is_empty(), "nobody held it");
        assert_eq!(h.core(&later, "lifecycle_phase").await, "submitted");
        assert_eq!(refusal(h.backend.complete(&handle, None).await), LOST);
        assert_eq!(h.sweep("execution_deadline").await, (0, 0));
        h.clock.set(T0 + 1_002);
        pass_deadline(&h, &later, 1_002).await;
        assert_expired(&h, &later, "execution_deadline").await;
    }

    async fn a_delay_is_no_deadline_and_gives_it_back(h) {
        let id = h
            .create_with(|args| {
                args.delay_until = Some(at(1_000));
                args.execution_deadline_at = Some(at(500));
            })
            .await;
        let lane = LaneId::new("lane");
        h.clock.set(T0 + 2_000);
        pass_deadline(&h, &id, 2_000).await;
        assert_eq!(h.sweep("execution_deadline").await, (0, 0));
        h.backend.promote_delayed(partition_of(&id), &lane, &id, at(999)).await.unwrap();
        assert_eq!(h.core(&id, "eligibility_state").await, "not_eligible_until_time");
        h.backend.promote_delayed(partition_of(&id), &lane, &id, at(1_000)).await.unwrap();
        let expected = ["submitted", "unowned", "eligible_now", "pending", "waiting"];
        assert_eq!(states(&h, &id).await, expected);
        assert_eq!(h.core(&id, "blocking_reason").await, "waiting_for_worker");
        assert_eq!(h.core(&id, "deadline_at_ms").await, (T0 + 500).to_string());
        assert_eq!(h.sweep("execution_deadline").await, (1, 0));
        assert_expired(&h, &id, "execution_deadline").await;
    }

    async fn a_wake_up_time_of_an_older_backend_counts(h) {
        let id = h.create().await;
        let waiting = "lifecycle_phase = 'runnable', eligibility_state = 'not_eligible_until_time'";
        let fields = r#"{"namespace": "space", "delay_until": "1000"}"#;
        h.alter(&format!("UPDATE ff_exec_core SET {waiting}, raw_fields = '{fields}' WHERE {}", h.of(&id))).await;
        let lane = LaneId::new("any");
        let wake = async |now_ms| {
            let now = TimestampMs::from_millis(now_ms);
            h.backend.promote_delayed(partition_of(&id), &lane, &id, now).await.unwrap();
            h.core(&id, "eligibility_state").await
        };
        assert_eq!(wake(999).await, "not_eligible_until_time");
        assert_eq!(wake(1_000).await, "eligible_now");
        assert_eq!(h.core(&id, "deadline_at_ms").await, "null");
        assert!(h.claim("worker-a").await.is_some());
    }

    async fn a_sweep_keeps_to_its_filter(h) {
        let ours = h.create().await;
        let theirs = h.create_with(|args| args.namespace = ff_core::types::Namespace::new("elsewhere")).await;
        for _ in 0..2 {
            h.claim("worker-a").await.unwrap();
        }
        h.pass_ms(GONE_MS);
        let mut config = FullScannerConfig::default();
        config.scanner_filter = ScannerFilter::new().with_namespace("space");
        assert_eq!(h.sweep_with("lease_expiry", &config).await, (1, 0));
        assert_eq!(h.core(&ours, "lifecycle_phase").await, "runnable");
        assert_eq!(h.core(&theirs, "lifecycle_phase").await, "active");
        config.scanner_filter = ScannerFilter::new().with_instance_tag("cairn.instance_id", "another");
        assert_eq!(h.sweep_with("lease_expiry", &config).await, (0, 0));
    }

    async fn one_run_takes_more_than_one_page(h) {
        for _ in 0..260 {
            h.create().await;
        }
        while h.claim("worker-a").await.is_some() {}
        h.pass_ms(GONE_MS);
        assert_eq!(h.sweep("lease_expiry").await, (260, 0));
    }

    async fn two_sweeps_at_once_take_each_lease_once(h) {
        for _ in 0..20 {
            h.create().await;
        }
        while h.claim("worker-a").await.is_some() {}
        h.pass_ms(GONE_MS);
        let (one, two) = tokio::join!(h.sweep("lease_expiry"), h.sweep("lease_expiry"));
        assert_eq!((one.0 + two.0, one.1 + two.1), (20, 0));
        assert_eq!(h.number("SELECT count(*) FROM ff_lease_event WHERE event_type = 'expired'").await, 20);
    }

    async fn contradictions_are_counted_and_left_alone(h) {
        let (id, _) = h.created_and_claimed().await;
        let partition = partition_of(&id);
        let all = ScannerFilter::NOOP;
        let none = ReconcileCounts::default();
        assert_eq!(h.backend.reconcile_execution_index(partition, &[], &all).await.unwrap(), none);
        for state in [
            "ownership_state = 'unowned'",
            "lifecycle_phase = 'runnable', ownership_state = 'leased'",
            "lifecycle_phase = 'terminal', ownership_state = 'unowned'",
            "lifecycle_phase = 'runnable', eligibility_state = 'pending_claim'",
        ] {
            h.alter(&format!("UPDATE ff_exec_core SET {state} WHERE {}", h.of(&id))).await;
            let one = ReconcileCounts { processed: 1, errors: 0 };
            assert_eq!(h.backend.reconcile_execution_index(partition, &[], &all).await.unwrap(), one, "{state}");
            let lanes = [LaneId::new("another")];
            assert_eq!(h.backend.reconcile_execution_index(partition, &lanes, &all).await.unwrap(), none);
            let elsewhere = ScannerFilter::new().with_namespace("elsewhere");
            assert_eq!(h.backend.reconcile_execution_index(partition, &[], &elsewhere).await.unwrap(), none);
        }
        assert_eq!(h.sweep("index_reconciler").await, (1, 0));
        assert_eq!(h.core(&id, "eligibility_state").await, "pending_claim");
    }
}
