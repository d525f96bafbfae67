//! The steps of the background sweeps.

use std::collections::BTreeSet;
use std::time::Duration;

use ff_backend_sql::FullScannerConfig;
use ff_core::contracts::{RegisterWorkerArgs, TimeoutBehavior};
use ff_core::policy::{ExecutionPolicy, RoutingRequirements};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, FlowId, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

use crate::dependency::{member, succeed};
use crate::harness::{Harness as Opened, LEASE_MS, LOST, PATIENCE, T0, on_every_database, payload, refusal};
use crate::suspend::{seed, suspended, suspended_with, suspension, waitpoints};
use crate::{admission, budget, flow, flow_cancel, quota};

/// Creates an execution, names something in its document, and takes it out of the queue.
async fn blocked(h: &Opened, document: &str, reason: &str) -> ExecutionId {
    let id = h.create().await;
    if !document.is_empty() {
        h.alter(&format!("UPDATE ff_exec_core SET raw_fields = '{document}' WHERE {}", h.of(&id))).await;
    }
    h.backend.block_route(admission::route(&id, reason)).await.expect("it is blocked");
    id
}

/// Puts a worker with these capabilities into a namespace, for a minute.
async fn join_in(h: &Opened, namespace: &str, name: &str, capabilities: &[&str]) {
    let capabilities: BTreeSet<String> = capabilities.iter().map(|token| (*token).to_owned()).collect();
    let now = TimestampMs::from_millis(h.clock.now_ms());
    let (instance, lanes) = (WorkerInstanceId::new(name), [LaneId::new("lane")].into());
    let namespace = Namespace::new(namespace);
    let args = RegisterWorkerArgs::new(WorkerId::new("pool"), instance, lanes, capabilities, 60_000, namespace, now);
    h.backend.register_worker(args).await.expect("it is registered");
}

/// State and members of a flow's stored summary.
async fn summary(h: &Opened, flow: &FlowId) -> Vec<String> {
    let (_, uuid) = h.flow_key(flow);
    let shown = "public_flow_state || ' ' || CAST(total_members AS text) || ' ' || CAST(members_completed AS text)";
    h.texts(&format!("SELECT {shown} FROM ff_flow_summary WHERE flow_id = {uuid}")).await
}

on_every_database! {
    async fn delayed_executions_are_promoted_without_a_claim(h) {
        let id = h.create_with(|args| args.delay_until = Some(TimestampMs::from_millis(T0 + 1_000))).await;
        assert_eq!(h.sweep("delayed_promoter").await, (0, 0));
        h.pass_ms(1_000);
        assert_eq!(h.sweep("delayed_promoter").await, (1, 0));
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Waiting));
        assert_eq!(h.core(&id, "blocking_reason").await, "waiting_for_worker");
        assert_eq!(h.sweep("delayed_promoter").await, (0, 0));
    }

    async fn the_defaults_bring_a_crashed_workers_execution_back(h) {
        let (id, crashed) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS + 1);
        assert!(h.start_sweeps(FullScannerConfig::default()));
        assert!(!h.start_sweeps(FullScannerConfig::default()), "they run");
        let claimed = tokio::time::timeout(PATIENCE, async {
            loop {
                match h.claim("worker-b").await {
                    Some(handle) => break handle,
                    None => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        })
        .await
        .expect("the sweep comes");
        assert_eq!(payload(&claimed).execution_id, id);
        assert_eq!(refusal(h.backend.complete(&crashed, None).await), LOST);
        h.backend.complete(&claimed, None).await.unwrap();
        h.backend.shutdown_prepare(PATIENCE).await.unwrap();
    }

    async fn waitpoints_are_closed_when_their_time_is_over(h) {
        seed(&h).await;
        let (id, handle) = h.created_and_claimed().await;
        for end_ms in [100, 100, 5_000] {
            h.backend.create_waitpoint(&handle, "key", Duration::from_millis(end_ms)).await.unwrap();
        }
        let end = TimestampMs::from_millis(T0 + 50);
        let waiting = suspended_with(&h, |args| args.with_timeout(end, TimeoutBehavior::Fail)).await;
        let endless = suspended(&h).await;
        h.pass_ms(100);
        assert_eq!(h.sweep("pending_wp_expiry").await, (1, 0), "two are not over yet");
        assert_eq!(waitpoints(&h, &waiting.id, "state").await, [""; 0]);
        let members = suspension(&h, &waiting.id, "member_map").await.unwrap();
        assert!(members.contains("key"), "{members}");
        h.pass_ms(1);
        assert_eq!(h.sweep("pending_wp_expiry").await, (2, 0));
        assert_eq!(waitpoints(&h, &id, "state").await, ["pending"]);
        assert_eq!(waitpoints(&h, &endless.id, "state").await, ["active"]);
        assert_eq!(h.sweep("pending_wp_expiry").await, (0, 0));
        assert_eq!(h.sweep("suspension_timeout").await, (1, 0), "the suspension ends by itself");
    }

    async fn what_waits_for_a_budget_comes_back_when_it_has_something_left(h) {
        let spent = budget::created(&h, &[("tokens", 10, 0)]).await;
        let other = budget::created(&h, &[("tokens", 10, 0)]).await;
        budget::report(&h, &spent, &[("tokens", 10)]).await;
        let document = format!(r#"{{"budget_ids": "{other}, {spent}"}}"#);
        let id = blocked(&h, &document, "waiting_for_budget").await;
        let free = blocked(&h, &format!(r#"{{"budget_ids": "{other}"}}"#), "waiting_for_budget").await;
        let paused = blocked(&h, "", "paused_by_operator").await;
        assert_eq!(h.sweep("unblock").await, (1, 0));
        assert_eq!(admission::states(&h, &free).await, ["runnable", "eligible_now", "waiting", "waiting_for_worker"]);
        assert_eq!(h.core(&id, "eligibility_state").await, "blocked_by_budget");
        budget::reset(&h, &spent, T0).await;
        assert_eq!(h.sweep("unblock").await, (1, 0));
        assert_eq!(h.core(&id, "eligibility_state").await, "eligible_now");
        assert_eq!(h.core(&paused, "eligibility_state").await, "blocked_by_operator");
        assert_eq!(h.sweep("unblock").await, (0, 0));
    }

    async fn what_waits_for_a_quota_comes_back_when_it_has_room(h) {
        let (rate, places) = (quota::created(&h, 10, 1, 0).await, quota::created(&h, 10, 0, 1).await);
        let holder = h.create().await;
        quota::admit(&h, &rate, &holder, (10, 1, 0)).await;
        quota::admit(&h, &places, &holder, (10, 0, 1)).await;
        let by_rate = blocked(&h, &format!(r#"{{"quota_policy_id": "{rate}"}}"#), "waiting_for_quota").await;
        let by_place = blocked(&h, &format!(r#"{{"quota_policy_id": "{places}"}}"#), "waiting_for_quota").await;
        assert_eq!(h.sweep("unblock").await, (0, 0));
        quota::release(&h, &places, &holder).await;
        assert_eq!(h.sweep("unblock").await, (1, 0));
        assert_eq!(h.core(&by_place, "eligibility_state").await, "eligible_now");
        h.pass_ms(10_001);
        assert_eq!(h.sweep("unblock").await, (1, 0));
        assert_eq!(h.core(&by_rate, "eligibility_state").await, "eligible_now");
        assert_eq!(quota::admit(&h, &rate, &by_rate, (10, 1, 0)).await, ff_core::contracts::CheckAdmissionResult::Admitted);
    }

    async fn what_waits_for_a_worker_comes_back_when_the_living_ones_can_run_it(h) {
        let required_capabilities = ["gpu".to_owned(), "big".to_owned()].into();
        let routing_requirements = Some(RoutingRequirements { required_capabilities, ..Default::default() });
        let policy = ExecutionPolicy { routing_requirements, ..Default::default() };
        let id = h.create_with(|args| args.policy = Some(policy)).await;
        h.backend.block_route(admission::route(&id, "waiting_for_capable_worker")).await.unwrap();
        join_in(&h, "space", "one", &["gpu"]).await;
        join_in(&h, "elsewhere", "two", &["gpu", "big"]).await;
        assert_eq!(h.sweep("unblock").await, (0, 0), "those that could are in another namespace");
        h.pass_ms(60_001);
        join_in(&h, "space", "three", &["big"]).await;
        assert_eq!(h.sweep("unblock").await, (0, 0), "the one with a gpu is gone");
        join_in(&h, "space", "four", &["gpu"]).await;
        assert_eq!(h.sweep("unblock").await, (1, 0));
        assert_eq!(h.core(&id, "eligibility_state").await, "eligible_now");
    }

    async fn summaries_of_flows_follow_their_members(h) {
        let (flow, empty) = (flow::created(&h).await, flow::created(&h).await);
        let (first, second) = (member(&h, &flow).await, member(&h, &flow).await);
        assert_eq!(h.sweep("flow_projector").await, (1, 0));
        assert_eq!(summary(&h, &flow).await, ["open 2 0"]);
        assert_eq!(summary(&h, &empty).await, [""; 0]);
        succeed(&h, &first).await;
        succeed(&h, &second).await;
        assert_eq!(h.sweep("flow_projector").await, (1, 0));
        assert_eq!(summary(&h, &flow).await, ["completed 2 2"]);
        assert_eq!(h.sweep("flow_projector").await, (0, 0), "it is final for an hour");
        h.pass_ms(3_600_001);
        assert_eq!(h.sweep("flow_projector").await, (1, 0), "a member might have been replayed");
    }

    async fn a_cancellation_that_somebody_left_half_done_is_brought_to_its_end(h) {
        let flow = flow::created(&h).await;
        let (first, second) = (member(&h, &flow).await, member(&h, &flow).await);
        flow_cancel::header_cancelled(&h, &flow, "cancel_all").await;
        // As a program leaves it that dies before it has cancelled the second member.
        h.alter(&format!(
            "UPDATE ff_exec_core SET lifecycle_phase = 'runnable', public_state = 'waiting',
                    eligibility_state = 'eligible_now', terminal_at_ms = NULL WHERE {}",
            h.of(&second)
        ))
        .await;
        h.pass_ms(29_999);
        assert_eq!(h.sweep("cancel_reconciler").await, (0, 0), "whoever asked for it has half a minute");
        h.pass_ms(1);
        assert_eq!(h.sweep("cancel_reconciler").await, (2, 0));
        for id in [&first, &second] {
            assert_eq!(h.backend.read_execution_state(id).await.unwrap(), Some(PublicState::Cancelled));
        }
        assert_eq!(flow_cancel::noted(&h).await, [""; 0]);
        assert_eq!(flow_cancel::notes(&h).await, 0);
        assert_eq!(h.sweep("cancel_reconciler").await, (0, 0));
    }
}
