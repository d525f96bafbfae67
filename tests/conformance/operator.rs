//! What an operator does to an execution from outside.

use ff_core::backend::{FailureClass, FailureReason, Handle};
use ff_core::contracts::{
    CancelExecutionArgs, CancelExecutionResult, ChangePriorityArgs, ChangePriorityResult, ReplayExecutionArgs,
    ReplayExecutionResult, RevokeLeaseArgs, RevokeLeaseResult,
};
use ff_core::engine_error::{ContentionKind, EngineError, StateKind, ValidationKind};
use ff_core::policy::ExecutionPolicy;
use ff_core::state::PublicState;
use ff_core::types::{CancelSource, ExecutionId, FlowId, LaneId, LeaseEpoch, TimestampMs, WorkerInstanceId};
use uuid::Uuid;

use crate::harness::{Harness as Opened, LEASE_MS, LOST, T0, id_in, on_every_database, payload, refusal, uuid_of};

/// When the operators of these tests act.
const T1: i64 = T0 + 5_000;

pub(crate) fn cancelling(id: &ExecutionId) -> CancelExecutionArgs {
    CancelExecutionArgs {
        execution_id: id.clone(),
        reason: "not needed".to_owned(),
        source: CancelSource::OperatorOverride,
        lease_id: None,
        lease_epoch: None,
        attempt_id: None,
        now: TimestampMs::from_millis(T1),
    }
}

pub(crate) fn revoking(id: &ExecutionId) -> RevokeLeaseArgs {
    RevokeLeaseArgs {
        execution_id: id.clone(),
        expected_lease_id: None,
        worker_instance_id: WorkerInstanceId::new(""),
        reason: "unhealthy".to_owned(),
    }
}

pub(crate) fn prioritizing(id: &ExecutionId, new_priority: i32) -> ChangePriorityArgs {
    let (lane_id, now) = (LaneId::new("lane"), TimestampMs::from_millis(T1));
    ChangePriorityArgs { execution_id: id.clone(), new_priority, lane_id, now }
}

pub(crate) fn replaying(id: &ExecutionId) -> ReplayExecutionArgs {
    ReplayExecutionArgs { execution_id: id.clone(), now: TimestampMs::from_millis(T1) }
}

/// The first word of the ids that revoked leases get, which names the database.
fn lease_prefix(h: &Opened) -> &'static str {
    if h.declared().label == "postgres" { "pg" } else { "sqlite" }
}

/// The operator events of an execution, oldest first, with what subscribers filter by.
async fn operator_events(h: &Opened, id: &ExecutionId) -> Vec<String> {
    let shown = "event_type || ' ' || coalesce(namespace, '-') || ' ' || coalesce(instance_tag, '-')";
    let uuid = uuid_of(id);
    h.texts(&format!("SELECT {shown} FROM ff_operator_event WHERE execution_id = '{uuid}' ORDER BY event_id")).await
}

/// The details of the only operator event.
async fn details(h: &Opened) -> serde_json::Value {
    let found = h.texts("SELECT CAST(details AS text) FROM ff_operator_event").await;
    let [only] = found.as_slice() else { panic!("one event, not {found:?}") };
    serde_json::from_str(only).expect("the details are JSON")
}

/// Makes a created execution runnable, as its lane would.
pub(crate) async fn runnable(h: &Opened) -> ExecutionId {
    let id = h.create().await;
    h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'runnable' WHERE {}", h.of(&id))).await;
    id
}

/// An execution that was claimed and completed.
pub(crate) async fn completed(h: &Opened) -> ExecutionId {
    let (id, handle) = h.created_and_claimed().await;
    h.backend.complete(&handle, Some(b"result".to_vec())).await.unwrap();
    id
}

async fn states(h: &Opened, id: &ExecutionId) -> [String; 5] {
    let columns = ["lifecycle_phase", "ownership_state", "eligibility_state", "public_state", "attempt_state"];
    let mut words = Vec::new();
    for column in columns {
        words.push(h.core(id, column).await);
    }
    words.try_into().unwrap()
}

const CANCELLED: [&str; 5] = ["cancelled", "unowned", "not_applicable", "cancelled", "cancelled"];

/// Puts an execution into a flow as the child of another one, with a group that saw one success, two failures
/// and a skip, and with one edge that was resolved for good and one that was not.
pub(crate) async fn as_child(h: &Opened, id: &ExecutionId) -> FlowId {
    let flow = FlowId::from_uuid(Uuid::new_v4());
    let (of, partition) = (h.of(id), id.partition());
    let literal = h.flow_key(&flow).1;
    let child = of.trim_start_matches("execution_id = ");
    let edge = |uuid: u128, policy: &str| {
        let edge_id = h.flow_key(&FlowId::from_uuid(Uuid::from_u128(uuid))).1;
        format!("({partition}, {literal}, {edge_id}, {edge_id}, {child}, '{policy}', 0)")
    };
    let failed = edge(1, r#"{"edge_state":"impossible","resolved_at_ms":5,"applied_at_ms":1}"#);
    let succeeded = edge(2, r#"{"edge_state":"satisfied","resolved_at_ms":6,"applied_at_ms":1}"#);
    h.alter(&format!(
        "UPDATE ff_exec_core SET flow_id = {literal} WHERE {of};
         INSERT INTO ff_edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy, policy_version)
         VALUES {failed}, {succeeded};
         INSERT INTO ff_edge_group (partition_key, flow_id, downstream_eid, policy, success_count, fail_count,
                                    skip_count, running_count)
         VALUES ({partition}, {literal}, {child}, '{{\"kind\":\"all_of\"}}', 1, 2, 1, 3)"
    ))
    .await;
    flow
}

on_every_database! {
    async fn an_operator_cancels_what_nobody_holds(h) {
        let id = h.create().await;
        let answer = h.backend.cancel_execution(cancelling(&id)).await.unwrap();
        let expected = CancelExecutionResult::Cancelled {
            execution_id: id.clone(),
            public_state: PublicState::Cancelled,
        };
        assert_eq!(answer, expected);
        assert_eq!(states(&h, &id).await, CANCELLED);
        for (column, stored) in
            [("terminal_at_ms", T1.to_string().as_str()), ("cancellation_reason", "not needed"), ("cancelled_by", "operator_override")]
        {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        assert_eq!(h.document(&id).await["last_mutation_at"], T1.to_string());
        assert!(h.lease_events(&id).await.is_empty());
        assert!(operator_events(&h, &id).await.is_empty());
        assert_eq!(h.completions(&id).await, ["cancelled space instance-1"]);
        assert!(h.claim("worker-a").await.is_none());
    }

    async fn an_operator_cancels_what_a_worker_holds(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.cancel_execution(cancelling(&id)).await.unwrap();
        assert_eq!(states(&h, &id).await, CANCELLED);
        for (column, stored) in [
            ("worker_id", "worker-a"),
            ("worker_instance_id", "null"),
            ("lease_expires_at_ms", "null"),
            ("lease_epoch", "2"),
            ("terminal_at_ms", T1.to_string().as_str()),
            ("outcome", "cancelled"),
        ] {
            assert_eq!(h.attempts(&id, column).await, [stored], "{column}");
        }
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        let at = "SELECT CAST(occurred_at_ms AS text) FROM ff_lease_event WHERE event_type = 'revoked'";
        assert_eq!(h.texts(at).await, [T1.to_string()]);
        assert_eq!(h.completions(&id).await, ["cancelled space instance-1"]);
        assert_eq!(refusal(h.backend.complete(&handle, None).await), LOST);
    }

    async fn cancelling_twice_answers_the_same_and_writes_once(h) {
        let (id, _) = h.created_and_claimed().await;
        let (one, two) = tokio::join!(
            h.backend.cancel_execution(cancelling(&id)),
            h.backend.cancel_execution(cancelling(&id)),
        );
        assert_eq!(one.unwrap(), two.unwrap());
        h.backend.cancel_execution(cancelling(&id)).await.unwrap();
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert_eq!(h.completions(&id).await.len(), 1);
        assert_eq!(h.attempts(&id, "lease_epoch").await, ["2"]);
    }

    async fn what_a_worker_cancelled_counts_as_cancelled(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.cancel(&handle, "mine").await.unwrap();
        h.backend.cancel_execution(cancelling(&id)).await.unwrap();
        assert_eq!(h.core(&id, "cancelled_by").await, "worker");
        assert_eq!(h.completions(&id).await.len(), 1);
    }

    async fn what_ended_otherwise_is_not_cancelled(h) {
        let id = completed(&h).await;
        let refused = h.backend.cancel_execution(cancelling(&id)).await.unwrap_err();
        let EngineError::Validation { kind: ValidationKind::InvalidInput, detail } = refused else { panic!("{refused}") };
        assert_eq!(detail, format!("cancel_execution: execution_id={id}: already terminal in state 'completed'"));
        assert_eq!(h.completions(&id).await.len(), 1);
    }

    async fn who_is_no_operator_names_the_epoch_of_the_lease(h) {
        let (id, _) = h.created_and_claimed().await;
        let by_holder = |epoch: Option<u64>| {
            let mut args = cancelling(&id);
            args.source = CancelSource::LeaseHolder;
            args.lease_epoch = epoch.map(LeaseEpoch::new);
            args
        };
        let refused = h.backend.cancel_execution(by_holder(None)).await.unwrap_err();
        let EngineError::Validation { kind: ValidationKind::InvalidInput, detail } = refused else { panic!("{refused}") };
        let text = "lease_epoch required when source != operator_override and execution is active";
        assert_eq!(detail, format!("cancel_execution: execution_id={id}: {text}"));
        for stale in [0, 2, u64::MAX] {
            let refused = h.backend.cancel_execution(by_holder(Some(stale))).await.unwrap_err();
            assert!(matches!(refused, EngineError::State(StateKind::StaleLease)), "{refused}");
        }
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
        h.backend.cancel_execution(by_holder(Some(1))).await.unwrap();
        assert_eq!(h.core(&id, "cancelled_by").await, "lease_holder");
    }

    async fn who_held_an_earlier_attempt_cancels_nobody_elses_run(h) {
        let (id, old) = h.created_and_claimed().await;
        h.backend.fail(&old, FailureReason::new("no"), FailureClass::Transient).await.unwrap();
        let new = h.claim("worker-b").await.expect("it is tried again");
        let by_holder = |handle: &Handle| {
            let held = payload(handle);
            let mut args = cancelling(&id);
            args.source = CancelSource::LeaseHolder;
            (args.lease_epoch, args.attempt_id) = (Some(held.lease_epoch), Some(held.attempt_id));
            args
        };
        let refused = h.backend.cancel_execution(by_holder(&old)).await.unwrap_err();
        assert!(matches!(refused, EngineError::State(StateKind::StaleLease)), "{refused}");
        h.backend.renew(&new).await.unwrap();
        h.backend.cancel_execution(by_holder(&new)).await.unwrap();
    }

    async fn without_a_lease_no_epoch_is_asked_for(h) {
        let id = h.create().await;
        let mut args = cancelling(&id);
        args.source = CancelSource::Custom("billing".to_owned());
        h.backend.cancel_execution(args).await.unwrap();
        assert_eq!(h.core(&id, "cancelled_by").await, "billing");
    }

    async fn a_worker_of_the_past_is_no_lease(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.delay(&handle, TimestampMs::from_millis(T1)).await.unwrap();
        assert_eq!(h.attempts(&id, "worker_instance_id").await, ["worker-a-1"]);
        let before = h.lease_events(&id).await;
        let answer = h.backend.revoke_lease(revoking(&id)).await.unwrap();
        assert_eq!(answer, RevokeLeaseResult::AlreadySatisfied { reason: "no_active_lease".to_owned() });
        h.backend.cancel_execution(cancelling(&id)).await.unwrap();
        assert_eq!(h.lease_events(&id).await, before);
        assert_eq!(h.attempts(&id, "lease_epoch").await, ["1"]);
    }

    async fn a_cancelled_execution_leaves_no_timers_waitpoints_or_grants(h) {
        let id = h.create().await;
        let (of, partition) = (h.of(&id), id.partition());
        let uuid = of.trim_start_matches("execution_id = ");
        h.alter(&format!(
            "INSERT INTO ff_suspension_current (partition_key, execution_id, suspension_id, suspended_at_ms, condition)
             VALUES ({partition}, {uuid}, {uuid}, 1, '{{}}');
             INSERT INTO ff_waitpoint_pending (partition_key, waitpoint_id, execution_id, token_kid, token, created_at_ms)
             VALUES ({partition}, {uuid}, {uuid}, 'k', 't', 1);
             INSERT INTO ff_claim_grant (partition_key, grant_id, execution_id, kind, worker_id, worker_instance_id,
                                         grant_ttl_ms, issued_at_ms, expires_at_ms)
             VALUES ({partition}, 'g', {uuid}, 'claim', 'w', 'w-1', 1, 1, 1)"
        ))
        .await;
        h.backend.cancel_execution(cancelling(&id)).await.unwrap();
        for table in ["ff_suspension_current", "ff_waitpoint_pending", "ff_claim_grant"] {
            assert_eq!(h.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
        }
    }

    async fn nobody_acts_on_what_is_not_there_or_in_words_that_cannot_be_stored(h) {
        let id = id_in(1);
        for refused in [
            h.backend.cancel_execution(cancelling(&id)).await.map(drop),
            h.backend.revoke_lease(revoking(&id)).await.map(drop),
            h.backend.change_priority(prioritizing(&id, 1)).await.map(drop),
            h.backend.replay_execution(replaying(&id)).await.map(drop),
        ] {
            assert!(matches!(refused, Err(EngineError::NotFound { entity: "execution" })), "{refused:?}");
        }
        let id = h.create().await;
        let mut args = cancelling(&id);
        args.reason = "a\0b".to_owned();
        assert!(refusal(h.backend.cancel_execution(args).await).contains("reason"));
        let mut args = cancelling(&id);
        args.source = CancelSource::Custom("a\0b".to_owned());
        assert!(refusal(h.backend.cancel_execution(args).await).contains("source"));
    }

    async fn a_revoked_lease_leaves_the_execution_claimable_and_the_worker_fenced(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.pass_ms(7);
        let mut args = revoking(&id);
        args.worker_instance_id = WorkerInstanceId::new("worker-a-1");
        let lease_id = |epoch: u32| format!("{}:{}:0:{epoch}", lease_prefix(&h), uuid_of(&id));
        args.expected_lease_id = Some(lease_id(1));
        let answer = h.backend.revoke_lease(args.clone()).await.unwrap();
        assert_eq!(answer, RevokeLeaseResult::Revoked { lease_id: lease_id(1), lease_epoch: "2".to_owned() });
        let released = ["runnable", "unowned", "eligible_now", "waiting", "attempt_interrupted"];
        assert_eq!(states(&h, &id).await, released);
        for (column, stored) in [
            ("worker_id", "worker-a"),
            ("worker_instance_id", "null"),
            ("lease_expires_at_ms", "null"),
            ("lease_epoch", "2"),
            ("outcome", "null"),
        ] {
            assert_eq!(h.attempts(&id, column).await, [stored], "{column}");
        }
        let at = "SELECT CAST(occurred_at_ms AS text) FROM ff_lease_event WHERE event_type = 'revoked'";
        assert_eq!(h.texts(at).await, [(T0 + 7).to_string()]);
        let again = h.backend.revoke_lease(args).await.unwrap();
        assert_eq!(again, RevokeLeaseResult::AlreadySatisfied { reason: "no_active_lease".to_owned() });
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert_eq!(refusal(h.backend.renew(&handle).await), LOST);
        let taken = h.claim("worker-b").await.expect("it is claimable");
        assert_eq!(refusal(h.backend.complete(&handle, None).await), LOST);
        h.backend.complete(&taken, None).await.unwrap();
    }

    async fn a_lease_of_somebody_else_is_not_revoked(h) {
        let (id, handle) = h.created_and_claimed().await;
        let mut other_worker = revoking(&id);
        other_worker.worker_instance_id = WorkerInstanceId::new("worker-b-1");
        let mut other_lease = revoking(&id);
        other_lease.expected_lease_id = Some(format!("{}:{}:0:9", lease_prefix(&h), uuid_of(&id)));
        for (args, reason) in
            [(other_worker, "different_worker_instance_id"), (other_lease, "lease_id_mismatch")]
        {
            let answer = h.backend.revoke_lease(args).await.unwrap();
            assert_eq!(answer, RevokeLeaseResult::AlreadySatisfied { reason: reason.to_owned() });
        }
        assert_eq!(h.lease_events(&id).await, ["acquired"]);
        h.backend.renew(&handle).await.unwrap();
        let mut empty = revoking(&id);
        empty.expected_lease_id = Some(String::new());
        let answer = h.backend.revoke_lease(empty).await.unwrap();
        assert!(matches!(answer, RevokeLeaseResult::Revoked { .. }), "{answer:?}");
    }

    async fn a_lease_past_its_end_is_revoked_too(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS * 2);
        let answer = h.backend.revoke_lease(revoking(&id)).await.unwrap();
        assert!(matches!(answer, RevokeLeaseResult::Revoked { .. }), "{answer:?}");
        let unclaimed = h.create().await;
        let answer = h.backend.revoke_lease(revoking(&unclaimed)).await.unwrap();
        assert_eq!(answer, RevokeLeaseResult::AlreadySatisfied { reason: "no_active_lease".to_owned() });
    }

    async fn the_lease_of_a_typed_claim_is_found_behind_the_pointer(h) {
        let (cancelled, _) = h.created_and_claimed().await;
        let (revoked, _) = h.created_and_claimed().await;
        h.alter("UPDATE ff_exec_core SET attempt_index = 1").await;
        h.backend.cancel_execution(cancelling(&cancelled)).await.unwrap();
        assert_eq!(h.lease_events(&cancelled).await, ["acquired", "revoked"]);
        let answer = h.backend.revoke_lease(revoking(&revoked)).await.unwrap();
        assert!(matches!(answer, RevokeLeaseResult::Revoked { .. }), "{answer:?}");
    }

    async fn a_priority_is_kept_within_its_bounds_and_told(h) {
        let id = runnable(&h).await;
        let answer = h.backend.change_priority(prioritizing(&id, 12_000)).await.unwrap();
        assert_eq!(answer, ChangePriorityResult::Changed { execution_id: id.clone() });
        assert_eq!(h.core(&id, "priority").await, "9000");
        assert_eq!(h.document(&id).await["last_mutation_at"], T1.to_string());
        assert_eq!(operator_events(&h, &id).await, ["priority_changed space instance-1"]);
        assert_eq!(details(&h).await, serde_json::json!({"old_priority": 0, "new_priority": 9_000}));
        h.backend.change_priority(prioritizing(&id, -5)).await.unwrap();
        h.backend.change_priority(prioritizing(&id, 0)).await.unwrap();
        assert_eq!(h.core(&id, "priority").await, "0");
        assert_eq!(operator_events(&h, &id).await.len(), 3);
    }

    async fn a_higher_priority_is_claimed_first(h) {
        let first = runnable(&h).await;
        h.pass_ms(1);
        let second = runnable(&h).await;
        h.backend.change_priority(prioritizing(&second, 7)).await.unwrap();
        let order = [h.claim("worker-a").await.unwrap(), h.claim("worker-a").await.unwrap()]
            .map(|handle| crate::harness::payload(&handle).execution_id);
        assert_eq!(order, [second, first]);
    }

    async fn only_what_waits_for_a_claim_has_a_priority_to_change(h) {
        let ended = completed(&h).await;
        let submitted = h.create().await;
        let blocked = runnable(&h).await;
        h.alter(&format!(
            "UPDATE ff_exec_core SET eligibility_state = 'blocked_by_operator' WHERE {}",
            h.of(&blocked)
        ))
        .await;
        for id in [ended, blocked, submitted] {
            let refused = h.backend.change_priority(prioritizing(&id, 3)).await;
            let Err(EngineError::Contention(ContentionKind::ExecutionNotEligible)) = refused else {
                panic!("{refused:?}")
            };
            assert!(operator_events(&h, &id).await.is_empty());
            assert_eq!(h.core(&id, "priority").await, "0");
        }
    }

    async fn a_replayed_execution_runs_again_in_its_last_attempt(h) {
        let id = completed(&h).await;
        let answer = h.backend.replay_execution(replaying(&id)).await.unwrap();
        assert_eq!(answer, ReplayExecutionResult::Replayed { public_state: PublicState::Waiting });
        let opened = ["runnable", "unowned", "eligible_now", "waiting", "pending_replay_attempt"];
        assert_eq!(states(&h, &id).await, opened);
        for column in ["terminal_at_ms", "result", "cancellation_reason", "cancelled_by"] {
            let none = format!("SELECT count(*) FROM ff_exec_core WHERE {column} IS NULL AND {}", h.of(&id));
            assert_eq!(h.number(&none).await, 1, "{column}");
        }
        for (column, stored) in [
            ("outcome", "null"),
            ("terminal_at_ms", "null"),
            ("worker_id", "null"),
            ("worker_instance_id", "null"),
            ("lease_expires_at_ms", "null"),
            ("lease_epoch", "2"),
        ] {
            assert_eq!(h.attempts(&id, column).await, [stored], "{column}");
        }
        assert_eq!(h.core(&id, "attempt_index").await, "0");
        let document = h.document(&id).await;
        assert_eq!((&document["replay_count"], &document["last_mutation_at"]), (&1.into(), &T1.to_string().into()));
        assert_eq!(operator_events(&h, &id).await, ["replayed space instance-1"]);
        assert_eq!(details(&h).await, serde_json::json!({"branch": "normal"}));
        let again = h.claim("worker-b").await.expect("it is claimable");
        h.backend.complete(&again, None).await.unwrap();
        h.backend.replay_execution(replaying(&id)).await.unwrap();
        assert_eq!(h.document(&id).await["replay_count"], 2);
    }

    async fn only_what_ended_for_itself_is_replayed(h) {
        let (running, _) = h.created_and_claimed().await;
        let cancelled = h.create().await;
        h.backend.cancel_execution(cancelling(&cancelled)).await.unwrap();
        for id in [running, cancelled] {
            let refused = h.backend.replay_execution(replaying(&id)).await;
            assert!(matches!(refused, Err(EngineError::State(StateKind::ExecutionNotTerminal))), "{refused:?}");
            assert!(operator_events(&h, &id).await.is_empty());
        }
    }

    async fn a_policy_says_how_often_an_execution_is_replayed(h) {
        let id = h
            .create_with(|args| {
                args.policy = Some(ExecutionPolicy { max_replay_count: 1, ..ExecutionPolicy::default() });
            })
            .await;
        for _ in 0..2 {
            let handle = h.claim("worker-a").await.unwrap();
            h.backend.complete(&handle, None).await.unwrap();
            let replayed = h.backend.replay_execution(replaying(&id)).await;
            if let Err(refused) = replayed {
                assert!(matches!(refused, EngineError::State(StateKind::MaxReplaysExhausted)), "{refused}");
            }
        }
        assert_eq!(h.document(&id).await["replay_count"], 1);
        assert_eq!(h.core(&id, "lifecycle_phase").await, "terminal");
    }

    async fn a_skipped_member_waits_for_its_parents_once_more(h) {
        let id = completed(&h).await;
        as_child(&h, &id).await;
        h.alter(&format!("UPDATE ff_attempt SET outcome = 'skipped' WHERE {}", h.of(&id))).await;
        let answer = h.backend.replay_execution(replaying(&id)).await.unwrap();
        assert_eq!(answer, ReplayExecutionResult::Replayed { public_state: PublicState::WaitingChildren });
        let waiting =
            ["runnable", "unowned", "blocked_by_dependencies", "waiting_children", "pending_replay_attempt"];
        assert_eq!(states(&h, &id).await, waiting);
        let counters = "CAST(success_count AS text) || ' ' || fail_count || ' ' || skip_count || ' ' || running_count";
        assert_eq!(h.texts(&format!("SELECT {counters} FROM ff_edge_group")).await, ["1 0 0 0"]);
        let expected = serde_json::json!({"branch": "skipped_flow_member", "groups_reset": 1});
        assert_eq!(details(&h).await, expected);
        let edges = h.texts("SELECT CAST(policy AS text) FROM ff_edge ORDER BY edge_id").await;
        let edges: Vec<serde_json::Value> = edges.iter().map(|edge| serde_json::from_str(edge).unwrap()).collect();
        assert_eq!(edges[0], serde_json::json!({"edge_state": "applied", "applied_at_ms": 1}));
        assert_eq!(edges[1]["resolved_at_ms"], 6);
        assert!(h.claim("worker-b").await.is_none());
    }

    async fn a_member_that_was_skipped_before_it_ever_ran_waits_too(h) {
        let id = h.create().await;
        as_child(&h, &id).await;
        let of = h.of(&id);
        h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'terminal', public_state = 'skipped' WHERE {of}"))
            .await;
        let answer = h.backend.replay_execution(replaying(&id)).await.unwrap();
        assert_eq!(answer, ReplayExecutionResult::Replayed { public_state: PublicState::WaitingChildren });
    }

    async fn a_member_that_ran_does_not_wait_and_its_groups_stay(h) {
        let id = completed(&h).await;
        as_child(&h, &id).await;
        let answer = h.backend.replay_execution(replaying(&id)).await.unwrap();
        assert_eq!(answer, ReplayExecutionResult::Replayed { public_state: PublicState::Waiting });
        assert_eq!(h.number("SELECT CAST(fail_count AS bigint) FROM ff_edge_group").await, 2);
    }
}
