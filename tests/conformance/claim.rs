//! Who gets what: order, capabilities, delays, retries, and several claimers at once.

use std::collections::BTreeSet;
use std::time::Duration;

use ff_core::backend::{FailOutcome, FailureClass, FailureReason, HandleKind};
use ff_core::policy::{BackoffStrategy, ExecutionPolicy, RetryPolicy, RoutingRequirements};
use ff_core::types::{LaneId, TimestampMs};

use crate::harness::{LEASE_MS, T0, id_in, on_every_database, payload, policy};

/// A policy that asks for these capabilities.
pub(crate) fn requiring(tokens: &[&str]) -> Option<ExecutionPolicy> {
    let required_capabilities: BTreeSet<_> = tokens.iter().map(|token| (*token).to_owned()).collect();
    let routing_requirements = Some(RoutingRequirements { required_capabilities, ..Default::default() });
    Some(ExecutionPolicy { routing_requirements, ..Default::default() })
}

/// A policy that retries that often after that long.
fn retrying(max_retries: u32, delay_ms: u64) -> Option<ExecutionPolicy> {
    let backoff = BackoffStrategy::Fixed { delay_ms };
    let retry_policy = Some(RetryPolicy { max_retries, backoff, retryable_categories: Vec::new() });
    Some(ExecutionPolicy { retry_policy, ..Default::default() })
}

on_every_database! {
    async fn a_created_execution_is_claimed(h) {
        let id = h.create().await;
        let handle = h.claim("worker-a").await.expect("there is one");
        assert_eq!(handle.kind, HandleKind::Fresh);
        let held = payload(&handle);
        assert_eq!(held.execution_id, id);
        assert_eq!((held.attempt_index.0, held.lease_epoch.0), (0, 1));
        assert_eq!(held.lease_ttl_ms, LEASE_MS as u64);
        assert_eq!(held.lane_id.as_str(), "lane");
        assert_eq!(held.worker_instance_id.as_str(), "worker-a-1");
        for (column, stored) in [
            ("lifecycle_phase", "active"),
            ("ownership_state", "leased"),
            ("eligibility_state", "not_applicable"),
            ("public_state", "running"),
            ("attempt_state", "running_attempt"),
            ("blocking_reason", "null"),
            ("started_at_ms", &T0.to_string()),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        assert_eq!(h.attempts(&id, "worker_id").await, ["worker-a"]);
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, [(T0 + LEASE_MS).to_string()]);
        assert_eq!(h.attempts(&id, "outcome").await, ["null"]);
        assert_eq!(h.lease_events(&id).await, ["acquired"]);
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 1);
    }

    async fn an_empty_lane_answers_at_once(h) {
        assert!(h.claim("worker-a").await.is_none());
        h.create_with(|args| args.lane_id = LaneId::new("other")).await;
        assert!(h.claim("worker-a").await.is_none());
    }

    async fn a_claimed_execution_is_not_claimed_again(h) {
        h.created_and_claimed().await;
        assert!(h.claim("worker-b").await.is_none());
    }

    async fn higher_priority_goes_first_then_the_older(h) {
        let mut ids = Vec::new();
        for priority in [1, 5, 5, -3] {
            h.pass_ms(1);
            ids.push(h.create_with(|args| args.priority = priority).await);
        }
        let mut order = Vec::new();
        while let Some(handle) = h.claim("worker-a").await {
            order.push(payload(&handle).execution_id);
        }
        assert_eq!(order, [1, 2, 0, 3].map(|index: usize| ids[index].clone()));
    }

    async fn an_execution_of_any_partition_is_claimed(h) {
        for partition in [0, 7, 255, 32_767] {
            let id = h.create_with(|args| args.execution_id = id_in(partition)).await;
            assert_eq!(payload(&h.claim("worker-a").await.expect("there is one")).execution_id, id);
        }
    }

    async fn a_worker_without_the_capability_never_gets_it(h) {
        let id = h.create_with(|args| args.policy = requiring(&["gpu", "eu"])).await;
        assert!(h.claim("worker-a").await.is_none());
        assert!(h.claim_as("worker-a", &["gpu"]).await.is_none());
        let handle = h.claim_as("worker-a", &["x", "eu", "gpu"]).await.expect("all are there");
        assert_eq!(payload(&handle).execution_id, id);
    }

    async fn rows_that_the_worker_cannot_run_hide_nothing(h) {
        for _ in 0..40 {
            h.create_with(|args| {
                args.priority = 9;
                args.policy = requiring(&["gpu"]);
            })
            .await;
        }
        let id = h.create().await;
        assert_eq!(payload(&h.claim("worker-a").await.expect("there is one")).execution_id, id);
        assert!(h.claim("worker-a").await.is_none());
    }

    async fn an_empty_required_token_asks_for_nothing(h) {
        h.create_with(|args| args.policy = requiring(&[""])).await;
        assert!(h.claim("worker-a").await.is_some());
    }

    async fn a_delayed_execution_waits_for_its_time_and_keeps_its_deadline(h) {
        let id = h
            .create_with(|args| {
                args.delay_until = Some(TimestampMs::from_millis(T0 + 3_600_000));
                args.execution_deadline_at = Some(TimestampMs::from_millis(T0 + 9_000_000));
            })
            .await;
        assert_eq!(h.core(&id, "eligibility_state").await, "not_eligible_until_time");
        assert!(h.claim("worker-a").await.is_none());
        h.pass_ms(3_599_999);
        assert!(h.claim("worker-a").await.is_none());
        h.pass_ms(1);
        assert_eq!(payload(&h.claim("worker-a").await.expect("it is due")).execution_id, id);
        assert_eq!(h.core(&id, "deadline_at_ms").await, (T0 + 9_000_000).to_string());
    }

    async fn a_delay_in_the_past_delays_nothing(h) {
        h.create_with(|args| args.delay_until = Some(TimestampMs::from_millis(T0))).await;
        assert!(h.claim("worker-a").await.is_some());
    }

    async fn a_due_execution_does_not_wait_for_an_empty_lane(h) {
        let late = h
            .create_with(|args| {
                args.priority = 9;
                args.delay_until = Some(TimestampMs::from_millis(T0 + 1_000));
            })
            .await;
        h.create().await;
        h.create().await;
        assert!(h.claim("worker-a").await.is_some());
        h.pass_ms(1_000);
        assert_eq!(payload(&h.claim("worker-a").await.expect("it is due")).execution_id, late);
    }

    async fn without_a_policy_a_failed_attempt_is_tried_again_at_once_and_for_ever(h) {
        let id = h.create().await;
        for attempt in 0..5 {
            let handle = h.claim("worker-a").await.expect("it is tried again");
            assert_eq!(payload(&handle).attempt_index.0, attempt);
            assert_eq!(payload(&handle).lease_epoch.0, 1);
            let outcome = h.backend.fail(&handle, FailureReason::new("no"), FailureClass::Transient).await.unwrap();
            let FailOutcome::RetryScheduled { delay_until } = outcome else { panic!("it retries") };
            assert_eq!(delay_until.0, T0);
        }
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 5);
    }

    async fn a_retry_policy_bounds_and_delays_retries(h) {
        let id = h.create_with(|args| args.policy = retrying(1, 60_000)).await;
        let first = h.claim("worker-a").await.expect("there is one");
        let outcome = h.backend.fail(&first, FailureReason::new("once"), FailureClass::InfraCrash).await.unwrap();
        let FailOutcome::RetryScheduled { delay_until } = outcome else { panic!("one retry is allowed") };
        assert_eq!(delay_until.0, T0 + 60_000);
        assert_eq!(h.core(&id, "public_state").await, "delayed");
        assert!(h.claim("worker-a").await.is_none());
        h.pass_ms(60_000);
        let second = h.claim("worker-a").await.expect("the retry is due");
        assert_eq!(payload(&second).attempt_index.0, 1);
        let outcome = h.backend.fail(&second, FailureReason::new("twice"), FailureClass::InfraCrash).await.unwrap();
        assert_eq!(outcome, FailOutcome::TerminalFailed);
        assert_eq!(h.core(&id, "public_state").await, "failed");
        assert!(h.claim("worker-a").await.is_none());
    }

    async fn a_later_claim_keeps_the_first_start(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.fail(&handle, FailureReason::new("no"), FailureClass::Transient).await.unwrap();
        h.pass_ms(500);
        h.claim("worker-a").await.expect("it is tried again");
        assert_eq!(h.core(&id, "started_at_ms").await, T0.to_string());
        assert_eq!(h.attempts(&id, "started_at_ms").await, [T0.to_string(), (T0 + 500).to_string()]);
    }

    async fn claimers_at_once_get_different_executions(h) {
        for _ in 0..20 {
            h.create().await;
        }
        let claims: Vec<_> = (0..25)
            .map(|worker| {
                let h = Arc::clone(&h);
                tokio::spawn(async move { h.claim(&format!("worker-{worker}")).await })
            })
            .collect();
        let mut got = BTreeSet::new();
        for claim in claims {
            if let Some(handle) = claim.await.unwrap() {
                assert!(got.insert(payload(&handle).execution_id.to_string()), "claimed twice");
            }
        }
        while let Some(handle) = h.claim("worker-last").await {
            assert!(got.insert(payload(&handle).execution_id.to_string()), "claimed twice");
        }
        assert_eq!(got.len(), 20);
    }

    async fn a_claim_that_is_dropped_leaves_every_connection_clean(h) {
        for _ in 0..30 {
            h.create().await;
        }
        let (lane, nothing) = (LaneId::new("lane"), ff_core::backend::CapabilitySet::default());
        for polls in 0..30_u32 {
            let claim = h.backend.claim(&lane, &nothing, policy("worker-a"));
            tokio::pin!(claim);
            for _ in 0..polls {
                tokio::select! {
                    biased;
                    _ = &mut claim => break,
                    () = tokio::task::yield_now() => {}
                }
            }
        }
        for _ in 0..10 {
            tokio::time::timeout(Duration::from_secs(20), h.create()).await.expect("creation goes on");
            let id = h.create_with(|args| args.lane_id = LaneId::new("after")).await;
            let claimed = h.backend.claim(&LaneId::new("after"), &nothing, policy("worker-b")).await.unwrap();
            assert_eq!(payload(&claimed.expect("there is one")).execution_id, id);
        }
    }

    async fn workers_at_once_run_everything_to_its_end_once(h) {
        const EXECUTIONS: usize = 60;
        for _ in 0..EXECUTIONS {
            h.create().await;
        }
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let h = Arc::clone(&h);
                tokio::spawn(async move {
                    let mut done = 0;
                    while let Some(handle) = h.claim(&format!("worker-{worker}")).await {
                        h.backend.renew(&handle).await.unwrap();
                        h.backend.progress(&handle, Some(50), None).await.unwrap();
                        if payload(&handle).attempt_index.0 == 0 && done % 2 == 0 {
                            let again = FailureReason::new("again");
                            h.backend.fail(&handle, again, FailureClass::Transient).await.unwrap();
                        } else {
                            h.backend.complete(&handle, None).await.unwrap();
                        }
                        done += 1;
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.await.unwrap();
        }
        // A worker may have gone home while another still held what it was about to fail.
        while let Some(handle) = h.claim("worker-last").await {
            h.backend.complete(&handle, None).await.unwrap();
        }
        let count = |sql: &'static str| h.number(sql);
        assert_eq!(count("SELECT count(*) FROM ff_completion_event").await, EXECUTIONS as i64);
        assert_eq!(count("SELECT count(*) FROM ff_exec_core WHERE public_state = 'completed'").await, EXECUTIONS as i64);
        let attempts = count("SELECT count(*) FROM ff_attempt").await;
        for event in ["acquired", "revoked"] {
            let sql = format!("SELECT count(*) FROM ff_lease_event WHERE event_type = '{event}'");
            assert_eq!(h.number(&sql).await, attempts, "{event}");
        }
    }
}
