//! What the end of a flow's member does to those that wait for it.

use std::time::{Duration, Instant};

use ff_core::backend::{CapabilitySet, CompletionPayload, FailOutcome, FailureClass, FailureReason, Handle};
use ff_core::contracts::{
    ApplyDependencyToChildArgs, ApplyDependencyToChildResult, CascadeOutcome, EdgeDependencyPolicy, EdgeGroupState,
    OnSatisfied, ResolveDependencyArgs, ResolveDependencyOutcome, StageDependencyEdgeArgs,
};
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{AttemptIndex, EdgeId, ExecutionId, FlowId, LaneId, TimestampMs};

use crate::flow::{column as flow_column, created, member as any_member};
use crate::harness::{Harness as Opened, LOST, PATIENCE, T0, on_every_database, policy, refusal, uuid_of};

/// Creates a member of a flow on a lane of its own, so that it can be claimed by name.
pub(crate) async fn member(h: &Opened, flow: &FlowId) -> ExecutionId {
    let id = any_member(h, flow).await;
    h.alter(&format!("UPDATE ff_exec_core SET lane_id = '{}' WHERE {}", uuid_of(&id), h.of(&id))).await;
    id
}

/// Claims that execution, if it may be claimed.
pub(crate) async fn claim(h: &Opened, id: &ExecutionId) -> Option<Handle> {
    let lane = LaneId::new(uuid_of(id));
    h.backend
        .claim(&lane, &CapabilitySet::new::<_, String>([]), policy("worker-a"))
        .await
        .expect("the claim is answered")
}

/// Claims an execution and completes it with the result `result`.
pub(crate) async fn succeed(h: &Opened, id: &ExecutionId) {
    let handle = claim(h, id).await.expect("it may be claimed");
    h.backend.complete(&handle, Some(b"result".to_vec())).await.expect("it completes");
}

/// Claims an execution and fails it for good.
async fn lose(h: &Opened, id: &ExecutionId) {
    let handle = claim(h, id).await.expect("it may be claimed");
    let reason = FailureReason::new("lost");
    let outcome = h.backend.fail(&handle, reason, FailureClass::Permanent).await.expect("it fails");
    assert!(matches!(outcome, FailOutcome::TerminalFailed), "{outcome:?}");
}

/// Waits until every completion of a member is followed to its last edge.
pub(crate) async fn settled(h: &Opened) {
    let started = Instant::now();
    let open = "SELECT count(*) FROM ff_completion_event WHERE flow_id IS NOT NULL AND dispatched_at_ms IS NULL";
    while h.number(open).await > 0 {
        assert!(started.elapsed() < PATIENCE, "completions are followed");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Stages an edge at the flow's present revision.
async fn staged(h: &Opened, flow: &FlowId, up: &ExecutionId, down: &ExecutionId, data: Option<&str>) -> EdgeId {
    let args = StageDependencyEdgeArgs {
        flow_id: flow.clone(),
        edge_id: EdgeId::new(),
        upstream_execution_id: up.clone(),
        downstream_execution_id: down.clone(),
        dependency_kind: "success_only".to_owned(),
        data_passing_ref: data.map(str::to_owned),
        expected_graph_revision: flow_column(h, flow, "graph_revision").await.parse().expect("a number"),
        now: TimestampMs::from_millis(h.clock.now_ms()),
    };
    let edge_id = args.edge_id.clone();
    h.backend.stage_dependency_edge(args).await.expect("the edge is staged");
    edge_id
}

/// Applies an edge; answers how many dependencies are open then.
async fn applied(h: &Opened, flow: &FlowId, edge_id: &EdgeId, up: &ExecutionId, down: &ExecutionId) -> u32 {
    let args = ApplyDependencyToChildArgs {
        flow_id: flow.clone(),
        edge_id: edge_id.clone(),
        downstream_execution_id: down.clone(),
        upstream_execution_id: up.clone(),
        graph_revision: 0,
        dependency_kind: "success_only".to_owned(),
        data_passing_ref: None,
        now: TimestampMs::from_millis(h.clock.now_ms()),
    };
    match h.backend.apply_dependency_to_child(args).await.expect("the edge is applied") {
        ApplyDependencyToChildResult::Applied { unsatisfied_count } => unsatisfied_count,
        other => panic!("{other:?}"),
    }
}

/// Makes one execution wait for another.
pub(crate) async fn edge(h: &Opened, flow: &FlowId, up: &ExecutionId, down: &ExecutionId) -> EdgeId {
    let edge_id = staged(h, flow, up, down, None).await;
    applied(h, flow, &edge_id, up, down).await;
    edge_id
}

/// A member with that policy, and that many members that it waits for.
pub(crate) async fn group(
    h: &Opened,
    flow: &FlowId,
    policy: Option<EdgeDependencyPolicy>,
    upstreams: usize,
) -> (ExecutionId, Vec<ExecutionId>) {
    let down = member(h, flow).await;
    if let Some(policy) = policy {
        h.backend.set_edge_group_policy(flow, &down, policy).await.expect("the policy is set");
    }
    let mut ups = Vec::new();
    for _ in 0..upstreams {
        let up = member(h, flow).await;
        edge(h, flow, &up, &down).await;
        ups.push(up);
    }
    (down, ups)
}

/// The condition that picks the rows of a downstream execution.
pub(crate) fn downstream(h: &Opened, id: &ExecutionId) -> String {
    h.of(id).replacen("execution_id", "downstream_eid", 1)
}

/// Success, fail, skip and running of a group.
pub(crate) async fn counts(h: &Opened, down: &ExecutionId) -> String {
    let columns = ["success_count", "fail_count", "skip_count", "running_count"];
    let shown = columns.map(|column| format!("CAST({column} AS text)")).join(" || ' ' || ");
    h.texts(&format!("SELECT {shown} FROM ff_edge_group WHERE {}", downstream(h, down))).await.remove(0)
}

async fn group_state(h: &Opened, flow: &FlowId) -> Vec<EdgeGroupState> {
    let snapshot = h.backend.describe_flow(flow).await.unwrap().expect("the flow is there");
    snapshot.edge_groups.iter().map(|group| group.group_state).collect()
}

/// Ends an execution as a process does that dies right after its commit, `age_ms` ago.
pub(crate) async fn ended_elsewhere(h: &Opened, flow: &FlowId, id: &ExecutionId, outcome: &str, age_ms: i64) {
    let public_state = if outcome == "success" { "completed" } else { outcome };
    h.alter(&format!(
        "UPDATE ff_exec_core SET lifecycle_phase = 'terminal', public_state = '{public_state}',
                eligibility_state = 'not_applicable', result = payload WHERE {}",
        h.of(id)
    ))
    .await;
    completion(h, flow, id, outcome, age_ms).await;
}

/// Stores a completion of that age.
pub(crate) async fn completion(h: &Opened, flow: &FlowId, id: &ExecutionId, outcome: &str, age_ms: i64) {
    let (partition, flow_uuid) = h.flow_key(flow);
    let condition = h.of(id);
    let (_, uuid) = condition.split_once("= ").expect("a condition");
    let at_ms = h.clock.now_ms() - age_ms;
    h.alter(&format!(
        "INSERT INTO ff_completion_event
                (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms, committed_at_ms)
         VALUES ({partition}, {uuid}, {flow_uuid}, '{outcome}', 'space', 'instance-1', {at_ms}, {at_ms})"
    ))
    .await;
}

/// Tells of a completion of that age.
pub(crate) fn payload(h: &Opened, id: &ExecutionId, age_ms: i64) -> CompletionPayload {
    CompletionPayload::new(id.clone(), "success", None, TimestampMs::from_millis(h.clock.now_ms() - age_ms))
}

pub(crate) async fn cascade(h: &Opened, id: &ExecutionId, age_ms: i64) -> usize {
    let outcome = h.backend.cascade_completion(&payload(h, id, age_ms)).await.expect("it is followed");
    assert_eq!(outcome, CascadeOutcome::async_dispatched(outcome.resolved));
    outcome.resolved
}

pub(crate) fn resolving(
    h: &Opened,
    flow: &FlowId,
    edge_id: &EdgeId,
    up: &ExecutionId,
    down: &ExecutionId,
    outcome: &str,
) -> ResolveDependencyArgs {
    ResolveDependencyArgs::new(
        Partition { family: PartitionFamily::Flow, index: down.partition() },
        flow.clone(),
        down.clone(),
        up.clone(),
        edge_id.clone(),
        LaneId::new("lane"),
        AttemptIndex::new(0),
        outcome.to_owned(),
        TimestampMs::from_millis(h.clock.now_ms()),
    )
}

fn any_of(on_satisfied: OnSatisfied) -> Option<EdgeDependencyPolicy> {
    Some(EdgeDependencyPolicy::any_of(on_satisfied))
}

pub(crate) fn quorum(k: u32) -> Option<EdgeDependencyPolicy> {
    Some(EdgeDependencyPolicy::quorum(k, OnSatisfied::let_run()))
}

async fn pending_cancels(h: &Opened) -> i64 {
    h.number("SELECT count(*) FROM ff_pending_cancel_groups").await
}

on_every_database! {
    async fn a_child_may_be_claimed_once_all_it_waits_for_has_succeeded(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, None, 2).await;
        assert!(claim(&h, &down).await.is_none());
        succeed(&h, &ups[0]).await;
        settled(&h).await;
        assert_eq!(counts(&h, &down).await, "1 0 0 1");
        assert_eq!(group_state(&h, &flow).await, [EdgeGroupState::Pending]);
        assert!(claim(&h, &down).await.is_none());
        succeed(&h, &ups[1]).await;
        settled(&h).await;
        assert_eq!(counts(&h, &down).await, "2 0 0 0");
        assert_eq!(group_state(&h, &flow).await, [EdgeGroupState::Satisfied]);
        for (column, stored) in [
            ("eligibility_state", "eligible_now"),
            ("public_state", "waiting"),
            ("blocking_reason", "waiting_for_worker"),
            ("ownership_state", "unowned"),
        ] {
            assert_eq!(h.core(&down, column).await, stored, "{column}");
        }
        assert_eq!(pending_cancels(&h).await, 0);
        succeed(&h, &down).await;
    }

    async fn an_edge_says_how_it_was_resolved(h) {
        let flow = created(&h).await;
        let (down, up) = (member(&h, &flow).await, member(&h, &flow).await);
        let edge_id = edge(&h, &flow, &up, &down).await;
        h.pass_ms(7);
        lose(&h, &up).await;
        settled(&h).await;
        let described = h.backend.describe_edge(&flow, &edge_id).await.unwrap().unwrap();
        assert_eq!(described.edge_state, "impossible");
        let document: serde_json::Value =
            serde_json::from_str(&h.texts("SELECT CAST(policy AS text) FROM ff_edge").await[0]).unwrap();
        assert_eq!(document["resolved_at_ms"], T0 + 7);
        assert_eq!(document["applied_at_ms"], T0);
    }

    async fn a_child_is_skipped_when_what_it_needs_is_lost_and_so_is_all_that_waits_for_it(h) {
        let flow = created(&h).await;
        let (child, ups) = group(&h, &flow, None, 2).await;
        let grandchild = member(&h, &flow).await;
        edge(&h, &flow, &child, &grandchild).await;
        lose(&h, &ups[0]).await;
        settled(&h).await;
        for id in [&child, &grandchild] {
            for (column, stored) in [
                ("lifecycle_phase", "terminal"),
                ("ownership_state", "unowned"),
                ("eligibility_state", "not_applicable"),
                ("public_state", "skipped"),
                ("attempt_state", "attempt_terminal"),
                ("blocking_reason", "null"),
            ] {
                assert_eq!(h.core(id, column).await, stored, "{column}");
            }
            assert_eq!(h.core(id, "terminal_at_ms").await, T0.to_string());
            assert_eq!(h.completions(id).await, ["skipped space instance-1"]);
            assert!(h.lease_events(id).await.is_empty());
        }
        assert_eq!((counts(&h, &child).await, counts(&h, &grandchild).await), ("0 1 0 1".into(), "0 0 1 0".into()));
        // The other one is not stopped, and its end changes nothing any more.
        succeed(&h, &ups[1]).await;
        settled(&h).await;
        assert_eq!(counts(&h, &child).await, "1 1 0 0");
        assert_eq!(h.completions(&child).await.len(), 1);
        assert_eq!(h.core(&child, "public_state").await, "skipped");
    }

    async fn any_success_is_enough_and_the_others_go_on_when_they_may(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, any_of(OnSatisfied::let_run()), 3).await;
        lose(&h, &ups[0]).await;
        settled(&h).await;
        assert!(claim(&h, &down).await.is_none());
        succeed(&h, &ups[1]).await;
        settled(&h).await;
        assert_eq!(pending_cancels(&h).await, 0);
        let handle = claim(&h, &down).await.expect("it may be claimed");
        // What comes later is counted, and leaves the child alone.
        succeed(&h, &ups[2]).await;
        settled(&h).await;
        assert_eq!(counts(&h, &down).await, "2 1 0 0");
        assert_eq!(h.core(&down, "eligibility_state").await, "not_applicable");
        h.backend.complete(&handle, None).await.unwrap();
    }

    async fn any_of_gives_up_after_the_last_loss(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, any_of(OnSatisfied::cancel_remaining()), 2).await;
        lose(&h, &ups[0]).await;
        settled(&h).await;
        assert_eq!(h.core(&down, "public_state").await, "waiting_children");
        lose(&h, &ups[1]).await;
        settled(&h).await;
        assert_eq!(h.core(&down, "public_state").await, "skipped");
        assert_eq!(pending_cancels(&h).await, 0);
    }

    async fn a_quorum_needs_its_number_and_gives_up_when_too_few_are_left(h) {
        let flow = created(&h).await;
        let (met, ups) = group(&h, &flow, quorum(2), 3).await;
        succeed(&h, &ups[0]).await;
        lose(&h, &ups[1]).await;
        settled(&h).await;
        assert!(claim(&h, &met).await.is_none());
        succeed(&h, &ups[2]).await;
        settled(&h).await;
        assert!(claim(&h, &met).await.is_some());
        let (missed, ups) = group(&h, &flow, quorum(2), 3).await;
        lose(&h, &ups[0]).await;
        settled(&h).await;
        assert_eq!(h.core(&missed, "public_state").await, "waiting_children");
        lose(&h, &ups[1]).await;
        settled(&h).await;
        assert_eq!(h.core(&missed, "public_state").await, "skipped");
    }

    async fn what_holds_a_child_back_besides_its_dependencies_stays(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, None, 1).await;
        h.alter(&format!(
            "UPDATE ff_exec_core SET eligibility_state = 'blocked_by_operator' WHERE {}", h.of(&down)
        )).await;
        succeed(&h, &ups[0]).await;
        settled(&h).await;
        assert_eq!(counts(&h, &down).await, "1 0 0 0");
        assert_eq!(h.core(&down, "eligibility_state").await, "blocked_by_operator");
    }

    async fn a_child_that_is_delayed_waits_for_its_time_after_its_dependencies(h) {
        let flow = created(&h).await;
        let down = member(&h, &flow).await;
        let wake_at_ms = T0 + 60_000;
        h.alter(&format!(
            "UPDATE ff_exec_core SET eligibility_state = 'not_eligible_until_time', deadline_at_ms = {wake_at_ms}
              WHERE {}", h.of(&down)
        )).await;
        let up = member(&h, &flow).await;
        edge(&h, &flow, &up, &down).await;
        assert_eq!(h.core(&down, "eligibility_state").await, "blocked_by_dependencies");
        succeed(&h, &up).await;
        settled(&h).await;
        for (column, stored) in [
            ("eligibility_state", "not_eligible_until_time"),
            ("public_state", "delayed"),
            ("deadline_at_ms", wake_at_ms.to_string().as_str()),
        ] {
            assert_eq!(h.core(&down, column).await, stored, "{column}");
        }
        assert!(claim(&h, &down).await.is_none());
        h.pass_ms(60_000);
        assert!(claim(&h, &down).await.is_some());
    }

    async fn a_parent_that_waits_for_its_children_goes_on_after_them(h) {
        let flow = created(&h).await;
        let (parent, child) = (member(&h, &flow).await, member(&h, &flow).await);
        let handle = claim(&h, &parent).await.expect("it may be claimed");
        edge(&h, &flow, &child, &parent).await;
        h.backend.wait_children(&handle).await.unwrap();
        assert!(claim(&h, &parent).await.is_none());
        succeed(&h, &child).await;
        settled(&h).await;
        let again = claim(&h, &parent).await.expect("it goes on");
        h.backend.complete(&again, None).await.unwrap();
    }

    async fn a_parent_whose_children_are_done_before_it_waits_goes_on_at_once(h) {
        let flow = created(&h).await;
        let (parent, child, other) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        let handle = claim(&h, &parent).await.expect("it may be claimed");
        edge(&h, &flow, &child, &parent).await;
        edge(&h, &flow, &other, &parent).await;
        succeed(&h, &child).await;
        succeed(&h, &other).await;
        settled(&h).await;
        assert_eq!(h.core(&parent, "lifecycle_phase").await, "active");
        h.backend.wait_children(&handle).await.unwrap();
        h.backend.wait_children(&handle).await.unwrap();
        let again = claim(&h, &parent).await.expect("it goes on");
        h.backend.complete(&again, None).await.unwrap();
    }

    async fn a_skipped_parents_attempt_says_so_and_its_timers_are_gone(h) {
        let flow = created(&h).await;
        let (parent, child) = (member(&h, &flow).await, member(&h, &flow).await);
        let handle = claim(&h, &parent).await.expect("it may be claimed");
        edge(&h, &flow, &child, &parent).await;
        h.backend.wait_children(&handle).await.unwrap();
        let (condition, (partition, _)) = (h.of(&parent), h.flow_key(&flow));
        let (_, uuid) = condition.split_once("= ").expect("a condition");
        h.alter(&format!(
            "INSERT INTO ff_suspension_current
                    (partition_key, execution_id, suspension_id, suspended_at_ms, condition)
             VALUES ({partition}, {uuid}, {uuid}, {T0}, '{{}}')"
        )).await;
        lose(&h, &child).await;
        settled(&h).await;
        assert_eq!(h.attempts(&parent, "outcome").await, ["skipped"]);
        assert_eq!(h.core(&parent, "public_state").await, "skipped");
        assert_eq!(h.number(&format!("SELECT count(*) FROM ff_suspension_current WHERE {condition}")).await, 0);
    }

    async fn a_child_at_work_loses_its_lease_when_it_is_skipped(h) {
        let flow = created(&h).await;
        let (down, up) = (member(&h, &flow).await, member(&h, &flow).await);
        let handle = claim(&h, &down).await.expect("it may be claimed");
        edge(&h, &flow, &up, &down).await;
        lose(&h, &up).await;
        settled(&h).await;
        assert_eq!(h.core(&down, "public_state").await, "skipped");
        assert_eq!(h.attempts(&down, "outcome").await, ["skipped"]);
        assert_eq!(h.attempts(&down, "worker_instance_id").await, ["null"]);
        assert_eq!(h.lease_events(&down).await, ["acquired", "revoked"]);
        assert_eq!(refusal(h.backend.complete(&handle, None).await), LOST);
        assert_eq!(h.completions(&down).await, ["skipped space instance-1"]);
    }

    async fn a_result_becomes_the_input_of_a_child_that_asks_for_it(h) {
        let flow = created(&h).await;
        let (down, up, other) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        let edge_id = staged(&h, &flow, &up, &down, Some("result")).await;
        applied(&h, &flow, &edge_id, &up, &down).await;
        edge(&h, &flow, &other, &down).await;
        succeed(&h, &up).await;
        settled(&h).await;
        assert_eq!(h.backend.read_execution_context(&down).await.unwrap().input_payload, b"result");
        // An edge that passes nothing leaves the input alone.
        succeed(&h, &other).await;
        settled(&h).await;
        assert_eq!(h.backend.read_execution_context(&down).await.unwrap().input_payload, b"result");
        assert!(claim(&h, &down).await.is_some());
    }

    async fn a_result_that_comes_late_or_is_missing_changes_no_input(h) {
        let flow = created(&h).await;
        let down = member(&h, &flow).await;
        h.backend
            .set_edge_group_policy(&flow, &down, EdgeDependencyPolicy::any_of(OnSatisfied::let_run()))
            .await
            .unwrap();
        let ups = [member(&h, &flow).await, member(&h, &flow).await];
        for up in &ups {
            let edge_id = staged(&h, &flow, up, &down, Some("result")).await;
            applied(&h, &flow, &edge_id, up, &down).await;
        }
        let handle = claim(&h, &ups[0]).await.expect("it may be claimed");
        h.backend.complete(&handle, None).await.unwrap();
        settled(&h).await;
        assert_eq!(h.core(&down, "eligibility_state").await, "eligible_now");
        succeed(&h, &ups[1]).await;
        settled(&h).await;
        assert_eq!(h.backend.read_execution_context(&down).await.unwrap().input_payload, b"input");
    }

    async fn an_edge_applied_after_the_end_counts_at_once(h) {
        let flow = created(&h).await;
        let (good, bad) = (member(&h, &flow).await, member(&h, &flow).await);
        let (child, orphan) = (member(&h, &flow).await, member(&h, &flow).await);
        let late = staged(&h, &flow, &good, &child, None).await;
        let lost = staged(&h, &flow, &bad, &orphan, None).await;
        succeed(&h, &good).await;
        lose(&h, &bad).await;
        settled(&h).await;
        assert_eq!(h.number("SELECT count(*) FROM ff_edge_group").await, 0);
        assert_eq!(applied(&h, &flow, &late, &good, &child).await, 0);
        assert_eq!(counts(&h, &child).await, "1 0 0 0");
        assert!(claim(&h, &child).await.is_some());
        applied(&h, &flow, &lost, &bad, &orphan).await;
        settled(&h).await;
        assert_eq!(h.core(&orphan, "public_state").await, "skipped");
        assert_eq!(h.completions(&orphan).await, ["skipped space instance-1"]);
    }

    async fn an_edge_of_another_writer_without_a_document_counts(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, any_of(OnSatisfied::let_run()), 1).await;
        h.alter("UPDATE ff_edge SET policy = '{}'").await;
        h.alter(&format!(
            "UPDATE ff_exec_core SET lifecycle_phase = 'blocked', eligibility_state = 'blocked' WHERE {}", h.of(&down)
        )).await;
        ended_elsewhere(&h, &flow, &ups[0], "success", 5).await;
        assert_eq!(cascade(&h, &ups[0], 5).await, 1);
        assert_eq!(h.core(&down, "lifecycle_phase").await, "runnable");
        assert_eq!(h.core(&down, "eligibility_state").await, "eligible_now");
    }

    async fn one_edge_may_be_resolved_by_itself(h) {
        let flow = created(&h).await;
        let down = member(&h, &flow).await;
        let (good, bad) = (member(&h, &flow).await, member(&h, &flow).await);
        h.backend
            .set_edge_group_policy(&flow, &down, EdgeDependencyPolicy::any_of(OnSatisfied::let_run()))
            .await
            .unwrap();
        let lost = edge(&h, &flow, &bad, &down).await;
        let won = edge(&h, &flow, &good, &down).await;
        let resolve = |edge_id: &EdgeId, up: &ExecutionId, outcome: &str| {
            h.backend.resolve_dependency(resolving(&h, &flow, edge_id, up, &down, outcome))
        };
        assert_eq!(resolve(&lost, &bad, "cancelled").await.unwrap(), ResolveDependencyOutcome::Impossible);
        assert_eq!(h.core(&down, "public_state").await, "waiting_children");
        assert_eq!(resolve(&won, &good, "success").await.unwrap(), ResolveDependencyOutcome::Satisfied);
        assert_eq!(h.core(&down, "eligibility_state").await, "eligible_now");
        assert_eq!(resolve(&won, &good, "failed").await.unwrap(), ResolveDependencyOutcome::AlreadyResolved);
        // Following the completion does not count the edge again.
        succeed(&h, &good).await;
        settled(&h).await;
        assert_eq!(counts(&h, &down).await, "1 1 0 0");
    }

    async fn resolving_needs_an_applied_edge_between_the_two(h) {
        let flow = created(&h).await;
        let (down, up) = (member(&h, &flow).await, member(&h, &flow).await);
        let staged = staged(&h, &flow, &up, &down, None).await;
        let unknown = EdgeId::new();
        for (edge_id, from, to, expected) in [
            (&unknown, &up, &down, "is not staged"),
            (&staged, &up, &down, "is not applied"),
            (&staged, &down, &up, "joins"),
        ] {
            let refused = h.backend.resolve_dependency(resolving(&h, &flow, edge_id, from, to, "success")).await;
            match refused.unwrap_err() {
                EngineError::Validation { kind: ValidationKind::InvalidDependency, detail } => {
                    assert!(detail.contains(expected), "{detail}");
                }
                other => panic!("{other}"),
            }
        }
        applied(&h, &flow, &staged, &up, &down).await;
        let refused = h.backend.resolve_dependency(resolving(&h, &flow, &staged, &up, &down, "resumable")).await;
        assert!(refusal(refused).contains("upstream_outcome"));
        assert_eq!(counts(&h, &down).await, "0 0 0 1");
    }

    async fn more_ends_than_edges_are_corruption_and_write_nothing(h) {
        let flow = created(&h).await;
        let (down, up) = (member(&h, &flow).await, member(&h, &flow).await);
        let edge_id = edge(&h, &flow, &up, &down).await;
        h.alter("UPDATE ff_edge_group SET success_count = 1").await;
        let refused = h.backend.resolve_dependency(resolving(&h, &flow, &edge_id, &up, &down, "success")).await;
        let refused = refused.unwrap_err();
        assert!(
            matches!(&refused, EngineError::Validation { kind: ValidationKind::Corruption, .. }), "{refused}"
        );
        assert_eq!(counts(&h, &down).await, "1 0 0 1");
        assert_eq!(h.backend.describe_edge(&flow, &edge_id).await.unwrap().unwrap().edge_state, "applied");
        h.alter("DELETE FROM ff_edge_group").await;
        let refused = h.backend.resolve_dependency(resolving(&h, &flow, &edge_id, &up, &down, "success")).await;
        assert!(refusal(refused).contains("no group"));
    }

    async fn ends_at_the_same_time_are_all_counted(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, None, 8).await;
        let other = h.another_handle().await;
        let mut handles = Vec::new();
        for up in &ups {
            handles.push(claim(&h, up).await.expect("it may be claimed"));
        }
        let ending = handles.iter().enumerate().map(|(at, handle)| {
            let backend = if at % 2 == 0 { &h.backend } else { &other };
            async move { backend.complete(handle, None).await.expect("it completes") }
        });
        futures_util::future::join_all(ending).await;
        settled(&h).await;
        assert_eq!(counts(&h, &down).await, "8 0 0 0");
        assert!(claim(&h, &down).await.is_some());
    }
}
