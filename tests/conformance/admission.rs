//! Executions that are taken out of the queue, and grants that nobody used.

use ff_core::contracts::{
    BlockExecutionForAdmissionArgs, BlockExecutionForAdmissionOutcome, BlockRouteArgs, BlockRouteOutcome,
    BlockingReason,
};
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, LaneId, TimestampMs};

use crate::harness::{Harness as Opened, T0, id_in, on_every_database, refusal};

fn partition(id: &ExecutionId) -> Partition {
    Partition { family: PartitionFamily::Execution, index: id.partition() }
}

pub(crate) fn route(id: &ExecutionId, reason: &str) -> BlockRouteArgs {
    let now = TimestampMs::from_millis(T0 + 5);
    BlockRouteArgs::new(id.clone(), LaneId::new("any"), partition(id), reason.to_owned(), "why".to_owned(), now)
}

async fn block(h: &Opened, id: &ExecutionId, reason: BlockingReason) -> BlockExecutionForAdmissionOutcome {
    let (lane, now) = (LaneId::new("any"), TimestampMs::from_millis(T0 + 7));
    let args = BlockExecutionForAdmissionArgs::new(id.clone(), lane, partition(id), reason, None, now);
    h.backend.block_execution_for_admission(args).await.unwrap()
}

async fn unblock(h: &Opened, id: &ExecutionId, reason: &str) -> Result<(), EngineError> {
    let (lane, now) = (LaneId::new("any"), TimestampMs::from_millis(T0 + 9));
    h.backend.unblock_execution(partition(id), &lane, id, reason, now).await
}

pub(crate) async fn states(h: &Opened, id: &ExecutionId) -> [String; 4] {
    [
        h.core(id, "lifecycle_phase").await,
        h.core(id, "eligibility_state").await,
        h.core(id, "public_state").await,
        h.core(id, "blocking_reason").await,
    ]
}

fn rejected(message: &str) -> BlockRouteOutcome {
    BlockRouteOutcome::LuaRejected { message: message.to_owned() }
}

on_every_database! {
    async fn a_blocked_execution_waits_and_comes_back(h) {
        let id = h.create().await;
        let blocked = block(&h, &id, BlockingReason::WaitingForBudget).await;
        let reason = BlockingReason::WaitingForBudget;
        assert_eq!(blocked, BlockExecutionForAdmissionOutcome::Blocked { execution_id: id.clone(), reason });
        assert_eq!(states(&h, &id).await, ["runnable", "blocked_by_budget", "rate_limited", "waiting_for_budget"]);
        let document = h.document(&id).await;
        assert_eq!(document["blocking_detail"], "");
        assert_eq!(document["last_mutation_at"], (T0 + 7).to_string());
        assert_eq!(h.core(&id, "attempt_state").await, "pending");
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::RateLimited));
        assert!(h.claim("worker-a").await.is_none());
        unblock(&h, &id, "waiting_for_quota").await.unwrap();
        assert!(h.claim("worker-a").await.is_none(), "it waits for something else");
        for _ in 0..2 {
            unblock(&h, &id, "waiting_for_budget").await.unwrap();
        }
        assert_eq!(states(&h, &id).await, ["runnable", "eligible_now", "waiting", "waiting_for_worker"]);
        assert_eq!(h.document(&id).await["last_mutation_at"], (T0 + 9).to_string());
        assert!(h.claim("worker-a").await.is_some());
        assert!(h.lease_events(&id).await.len() == 1, "only the claim is an event");
    }

    async fn every_reason_has_its_state_and_the_last_one_wins(h) {
        let id = h.create().await;
        for (reason, state) in [
            ("waiting_for_budget", "blocked_by_budget"),
            ("waiting_for_quota", "blocked_by_quota"),
            ("waiting_for_capable_worker", "blocked_by_route"),
            ("paused_by_policy", "blocked_by_lane_state"),
            ("paused_by_operator", "blocked_by_operator"),
        ] {
            let blocked = h.backend.block_route(route(&id, reason)).await.unwrap();
            assert_eq!(blocked, BlockRouteOutcome::Blocked { execution_id: id.clone() });
            assert_eq!(states(&h, &id).await, ["runnable", state, "rate_limited", reason]);
            assert_eq!(h.document(&id).await["blocking_detail"], "why");
        }
        assert!(h.backend.describe_execution(&id).await.unwrap().is_some());
    }

    async fn what_cannot_be_blocked_is_rejected_and_left_alone(h) {
        let (id, handle) = h.created_and_claimed().await;
        let before = states(&h, &id).await;
        let told = h.backend.block_route(route(&id, "waiting_for_quota")).await.unwrap();
        assert_eq!(told, rejected("execution_not_eligible"));
        assert_eq!(h.backend.block_route(route(&id, "boredom")).await.unwrap(), rejected("execution_not_eligible"));
        assert_eq!(states(&h, &id).await, before);
        h.backend.complete(&handle, None).await.unwrap();
        let told = block(&h, &id, BlockingReason::WaitingForQuota).await;
        let message = "execution_not_active".to_owned();
        assert_eq!(told, BlockExecutionForAdmissionOutcome::LuaRejected { message });
        let unknown = h.backend.block_route(route(&id_in(3), "waiting_for_quota")).await.unwrap();
        assert_eq!(unknown, rejected("execution_not_found"));
        let fresh = h.create().await;
        assert_eq!(h.backend.block_route(route(&fresh, "boredom")).await.unwrap(), rejected("invalid_blocking_reason"));
        assert_eq!(h.core(&fresh, "eligibility_state").await, "eligible_now");
    }

    async fn a_detail_or_a_partition_that_no_column_holds_is_refused(h) {
        let id = h.create().await;
        let mut args = route(&id, "waiting_for_quota");
        args.reason_detail = "a\0".to_owned();
        assert!(refusal(h.backend.block_route(args).await).contains("reason_detail: must not contain U+0000"));
        let mut args = route(&id, "waiting_for_quota");
        args.partition.index = 40_000;
        let told = refusal(h.backend.block_route(args).await);
        assert!(told.contains("partition index 40000 exceeds i16 range (max 32767)"), "{told}");
    }

    async fn only_reasons_that_go_away_are_unblocked(h) {
        let id = h.create().await;
        for reason in ["paused_by_operator", "paused_by_policy", "boredom", ""] {
            let refused = unblock(&h, &id, reason).await.unwrap_err();
            let EngineError::Validation { kind: ValidationKind::InvalidBlockingReason, detail } = refused else {
                panic!("{refused}")
            };
            assert_eq!(detail, format!("unblock_execution: {reason}"));
        }
        unblock(&h, &id_in(3), "waiting_for_quota").await.unwrap();
        unblock(&h, &id, "waiting_for_quota").await.unwrap();
        assert_eq!(h.core(&id, "lifecycle_phase").await, "submitted", "nothing blocked it");
    }

    async fn grants_that_nobody_used_are_withdrawn(h) {
        let id = h.create().await;
        let other = h.create().await;
        for (n, id, kind, expires_at_ms) in [
            (1, &id, "claim", T0 + 10),
            (2, &other, "reclaim", T0 + 10),
            (3, &other, "claim", T0 + 50),
            (4, &other, "claim", 0),
        ] {
            let uuid = h.of(id).replace("execution_id = ", "");
            let grant = match h.declared().label {
                "sqlite" => format!("x'0{n}'"),
                _ => format!("'\\x0{n}'"),
            };
            h.alter(&format!(
                "INSERT INTO ff_claim_grant (partition_key, grant_id, execution_id, kind, worker_id,
                                             worker_instance_id, grant_ttl_ms, issued_at_ms, expires_at_ms)
                 VALUES ({}, {grant}, {uuid}, '{kind}', 'w', 'w-1', 10, {T0}, {expires_at_ms})", id.partition(),
            )).await;
            h.alter(&format!("UPDATE ff_exec_core SET eligibility_state = 'pending_claim' WHERE {}", h.of(id))).await;
        }
        h.pass_ms(10);
        assert_eq!(h.sweep("growth").await, (0, 0));
        h.pass_ms(1);
        assert_eq!(h.sweep("growth").await, (2, 0));
        assert_eq!(h.core(&id, "eligibility_state").await, "eligible_now");
        assert_eq!(h.core(&other, "eligibility_state").await, "pending_claim", "other grants for a claim are left");
        h.alter("DELETE FROM ff_claim_grant WHERE expires_at_ms = 0").await;
        h.pass_ms(40);
        assert_eq!(h.sweep("growth").await, (1, 0));
        assert_eq!(h.core(&other, "eligibility_state").await, "eligible_now");
    }
}
