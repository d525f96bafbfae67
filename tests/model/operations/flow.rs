//! Flows: members, edges, groups, what follows the end of a member, and cancellation.

use ff_core::backend::{CancelFlowPolicy, CancelFlowWait, CompletionPayload};
use ff_core::contracts::{
    AddExecutionToFlowArgs, ApplyDependencyToChildArgs, CancelFlowArgs, CreateExecutionArgs, CreateFlowArgs,
    EdgeDependencyPolicy, EdgeDirection, OnSatisfied, ResolveDependencyArgs, StageDependencyEdgeArgs,
};
use ff_core::types::{AttemptIndex, EdgeId, ExecutionId, FlowId};

use super::work::{create, creation, in_own_lane, lease};
use super::{NOTHING, operations};
use crate::numbers::Numbers;
use crate::side::{Edge, Side, flow, lane, namespace, some_partition, some_partition_key};

operations! {
    10 create_flow: |s, n| {
        let (flow, namespace) = (flow(n), namespace(n));
        let args = CreateFlowArgs { flow_id: flow, flow_kind: n.of(["kind", ""]).to_owned(), namespace, now: s.now() };
        let r = s.backend.create_flow(args).await;
        s.told(&r)
    };
    30 add_execution_to_flow: |s, n| {
        let (flow, execution) = (flow(n), s.companion(n));
        join(s, flow, execution).await
    };
    30 a_flow_of_four: |s, n| {
        let policy = n.one_in(2).then(|| group_policy(n));
        a_flow_of_four(s, n, policy, |args| args).await.0
    };
    12 a_group_whose_first_member_ended: |s, n| {
        let policy = EdgeDependencyPolicy::any_of(OnSatisfied::cancel_remaining());
        let (told, members) = a_flow_of_four(s, n, Some(policy), in_own_lane).await;
        s.known.rivals.push(members[1].clone());
        format!("{told}; {}", succeed(s, &members[0]).await)
    };
    // What has ended is nothing to cancel any more: its group is only to be tidied up.
    8 the_other_member_ends: |s, n| match n.from(&s.known.rivals).cloned() {
        Some(rival) => succeed(s, &rival).await,
        None => NOTHING.to_owned(),
    };
    30 stage_dependency_edge: |s, n| {
        let (flow, up) = s.member(n);
        let down = s.member(n).1;
        stage(s, n, flow, up, down).await
    };
    40 apply_dependency_to_child: |s, n| match n.from(&s.known.edges).cloned() {
        Some(edge) => apply(s, n, edge).await,
        None => NOTHING.to_owned(),
    };
    12 set_edge_group_policy: |s, n| {
        let (flow, down) = s.member(n);
        let policy = group_policy(n);
        let r = s.backend.set_edge_group_policy(&flow, &down, policy).await;
        s.told(&r)
    };
    6 resolve_dependency: |s, n| match n.from(&s.known.edges).cloned() {
        Some(edge) => {
            let up = if n.one_in(12) { edge.down.clone() } else { edge.up };
            let outcome = n.of(["success", "failed", "cancelled", "skipped", "resumable"]).to_owned();
            let partition = some_partition(n);
            let args = ResolveDependencyArgs::new(
                partition, edge.flow, edge.down, up, edge.id, lane(n), AttemptIndex::new(0), outcome, s.now(),
            );
            let r = s.backend.resolve_dependency(args).await;
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    4 cascade_completion: |s, n| {
        let (flow, execution) = s.member(n);
        let at = s.in_ms(n.of([0, -1, -1_000]));
        let payload = CompletionPayload::new(execution, n.of(["success", "failed"]), None, at).with_flow_id(flow);
        let r = s.backend.cascade_completion(&payload).await;
        s.told(&r)
    };
    8 cancel_flow: |s, n| {
        let flow = s.member(n).0;
        let policy = n.of([CancelFlowPolicy::CancelAll, CancelFlowPolicy::CancelPending, CancelFlowPolicy::FlowOnly]);
        let wait = n.of([CancelFlowWait::NoWait, CancelFlowWait::WaitIndefinite]);
        let r = s.backend.cancel_flow(&flow, policy, wait).await;
        s.told(&r)
    };
    6 cancel_flow_header: |s, n| {
        let args = CancelFlowArgs {
            flow_id: s.member(n).0,
            reason: n.of(["unwanted", ""]).to_owned(),
            cancellation_policy: n.of(["cancel_all", "cancel_pending", "flow_only", "no such policy"]).to_owned(),
            now: s.now(),
        };
        let r = s.backend.cancel_flow_header(args).await;
        s.told(&r)
    };
    8 ack_cancel_member: |s, n| {
        let (flow, execution) = s.member(n);
        let r = s.backend.ack_cancel_member(&flow, &execution).await;
        s.told(&r)
    };
    6 drain_sibling_cancel_group: |s, n| {
        let ((flow, down), partition) = (s.group(n), some_partition(n));
        let r = s.backend.drain_sibling_cancel_group(partition, &flow, &down).await;
        s.told(&r)
    };
    6 reconcile_sibling_cancel_group: |s, n| {
        let ((flow, down), partition) = (s.group(n), some_partition(n));
        let r = s.backend.reconcile_sibling_cancel_group(partition, &flow, &down).await;
        s.told(&r)
    };
    4 project_flow_summary: |s, n| {
        let (flow, partition, now) = (s.member(n).0, some_partition(n), s.now());
        let r = s.backend.project_flow_summary(partition, &flow, now).await;
        s.told(&r)
    };
    4 set_flow_tag: |s, n| {
        let (flow, key) = (s.member(n).0, n.of(["team.color", "team.size", "NoNamespace"]));
        let r = s.backend.set_flow_tag(&flow, key, n.of(["blue", "", "1"])).await;
        s.told(&r)
    };
    6 read_flow: |s, n| {
        let flow = s.member(n).0;
        let r = s.backend.describe_flow(&flow).await;
        let mut told = vec![s.told(&r)];
        let r = s.backend.get_flow_tag(&flow, n.of(["team.color", "NoNamespace"])).await;
        told.push(s.told(&r));
        let (partition, cursor) = (some_partition_key(n), n.of([None, Some(())]).map(|()| flow));
        let r = s.backend.list_flows(partition, cursor, n.of([10, 1, 0])).await;
        told.push(s.told(&r));
        told.join("; ")
    };
    6 read_edges: |s, n| {
        let (flow, node) = s.member(n);
        let direction = match n.below(2) {
            0 => EdgeDirection::Outgoing { from_node: node },
            _ => EdgeDirection::Incoming { to_node: node },
        };
        let r = s.backend.list_edges(&flow, direction).await;
        let mut told = vec![s.told(&r)];
        if let Some(edge) = n.from(&s.known.edges).cloned() {
            let r = s.backend.describe_edge(&flow, &edge.id).await;
            told.push(s.told(&r));
        }
        told.join("; ")
    };
}

async fn join(s: &mut Side, flow_id: FlowId, execution_id: ExecutionId) -> String {
    let args = AddExecutionToFlowArgs { flow_id: flow_id.clone(), execution_id: execution_id.clone(), now: s.now() };
    let r = s.backend.add_execution_to_flow(args).await;
    if r.is_ok() && !s.known.members.contains(&(flow_id.clone(), execution_id.clone())) {
        s.known.members.push((flow_id, execution_id));
    }
    s.told(&r)
}

async fn stage(s: &mut Side, n: &mut Numbers, flow: FlowId, up: ExecutionId, down: ExecutionId) -> String {
    let edge = Edge { flow, id: EdgeId::from_uuid(s.uuid()), up, down };
    let revision = s.graph_revision(&edge.flow).await;
    let args = StageDependencyEdgeArgs {
        flow_id: edge.flow.clone(),
        edge_id: match n.from(&s.known.edges) {
            Some(other) if n.one_in(16) => other.id.clone(),
            _ => edge.id.clone(),
        },
        upstream_execution_id: edge.up.clone(),
        downstream_execution_id: edge.down.clone(),
        dependency_kind: n.of(["success_only", "success_only", "success_only", "no such kind"]).to_owned(),
        data_passing_ref: n.of([None, Some("output")]).map(str::to_owned),
        expected_graph_revision: if n.one_in(12) { revision + 1 } else { revision },
        now: s.now(),
    };
    let r = s.backend.stage_dependency_edge(args).await;
    if r.is_ok() {
        s.known.edges.push(edge);
    }
    s.told(&r)
}

async fn apply(s: &mut Side, n: &mut Numbers, edge: Edge) -> String {
    let args = ApplyDependencyToChildArgs {
        flow_id: edge.flow,
        edge_id: edge.id,
        downstream_execution_id: edge.down,
        upstream_execution_id: edge.up,
        graph_revision: 0,
        dependency_kind: "success_only".to_owned(),
        data_passing_ref: n.of([None, Some("output")]).map(str::to_owned),
        now: s.now(),
    };
    let r = s.backend.apply_dependency_to_child(args).await;
    s.told(&r)
}

/// Claims and completes an execution that is alone in its lane.
async fn succeed(s: &mut Side, execution: &ExecutionId) -> String {
    let lane = s.known.lanes.get(execution).cloned().expect("it was created here");
    let Some(handle) = lease(s, &lane).await else { return NOTHING.to_owned() };
    let r = s.backend.complete(&handle, None).await;
    if r.is_ok() {
        s.spend(&handle);
    }
    s.told(&r)
}

/// Two members before one, and one after that, with a policy of the group.
async fn a_flow_of_four(
    s: &mut Side,
    n: &mut Numbers,
    policy: Option<EdgeDependencyPolicy>,
    placed: impl Fn(CreateExecutionArgs) -> CreateExecutionArgs,
) -> (String, Vec<ExecutionId>) {
    let flow = flow(n);
    let args =
        CreateFlowArgs { flow_id: flow.clone(), flow_kind: "kind".to_owned(), namespace: namespace(n), now: s.now() };
    let r = s.backend.create_flow(args).await;
    let mut told = vec![s.told(&r)];
    let mut members = Vec::new();
    for _ in 0..4 {
        let mut args = placed(creation(s, &mut Numbers::new([0; crate::numbers::PER_STEP])));
        args.namespace = namespace(n);
        members.push(args.execution_id.clone());
        told.push(create(s, args).await);
    }
    for member in &members {
        told.push(join(s, flow.clone(), member.clone()).await);
    }
    if let Some(policy) = policy {
        s.known.groups.push((flow.clone(), members[2].clone()));
        let r = s.backend.set_edge_group_policy(&flow, &members[2], policy).await;
        told.push(s.told(&r));
    }
    let plain = &mut Numbers::new([0; crate::numbers::PER_STEP]);
    for (up, down) in [(0, 2), (1, 2), (2, 3)] {
        told.push(stage(s, plain, flow.clone(), members[up].clone(), members[down].clone()).await);
        if let Some(edge) = s.known.edges.last().cloned().filter(|_| !n.one_in(6)) {
            told.push(apply(s, plain, edge).await);
        }
    }
    (told.join("; "), members)
}

fn group_policy(n: &mut Numbers) -> EdgeDependencyPolicy {
    let then = if n.one_in(3) { OnSatisfied::let_run() } else { OnSatisfied::cancel_remaining() };
    match n.below(4) {
        0 | 1 => EdgeDependencyPolicy::any_of(then),
        2 => EdgeDependencyPolicy::quorum(n.of([1, 2, 0]), then),
        _ => EdgeDependencyPolicy::all_of(),
    }
}
