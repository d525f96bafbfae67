//! Dependency edges between the members of a flow, and the groups of edges into one member.
//!
//! An edge is staged, which makes it part of the flow's graph, and then applied, which makes its downstream
//! execution wait for it. Locks are taken in the order that [`super::flow`] gives.

use ff_core::contracts::{
    ApplyDependencyToChildArgs, ApplyDependencyToChildResult, EdgeDependencyPolicy, EdgeDirection, EdgeGroupState,
    EdgeSnapshot, SetEdgeGroupPolicyResult, StageDependencyEdgeArgs, StageDependencyEdgeResult,
};
use ff_core::engine_error::{ConflictKind, ContentionKind, EngineError, ValidationKind};
use ff_core::types::{EdgeId, ExecutionId, FlowId};
use serde_json::{Value, json};

use crate::column::{ExecutionUuid, FlowUuid};
use crate::db::Dialect;
use crate::db::error::{Abort, unreadable};
use crate::engine::Engine;
use crate::engine::flow;
use crate::engine::group::{Hopped, catch_up_on};
use crate::engine::policy::group::Counts;
use crate::model::document;
use crate::model::edge::{self as stored, EdgeKey};
use crate::model::id::{ExecKey, GroupKey, exec_key, invalid_input, reject_nul};
use crate::model::state::may_be_blocked;
use crate::model::word::{EligibilityWord, FlowWord};
use crate::statements::{Statements as _, edge, flow as flows};

/// An edge whose downstream execution leads to this many others is taken for one that closes a cycle.
const MAX_REACHED: i64 = 1000;
/// Where an edge's document is, in errors.
const DOCUMENT: &str = "ff_edge.policy";

/// Makes an edge part of a flow's graph.
///
/// Precondition: the flow is open and at the expected revision, both executions are its members, the edge's id is
/// new in it, and the downstream execution does not lead to the upstream one. Effect: the edge is stored,
/// pending, and the graph has the next revision. Repeating it finds another revision.
///
/// # Errors
/// `Validation(InvalidInput)`: `self_referencing_edge`, `flow_not_found`, `flow_already_terminal`,
/// `execution_not_in_flow`, or a partition that cannot hold members; `Contention(StaleGraphRevision)` for
/// another revision and for a flow that is not open; `Conflict(CycleDetected)`, also when more than a thousand
/// executions depend on the downstream one; `Conflict(DependencyAlreadyExists)` with the edge of that id.
pub(crate) async fn stage<D: Dialect>(
    engine: &Engine<D>,
    args: &StageDependencyEdgeArgs,
) -> Result<StageDependencyEdgeResult, EngineError> {
    if args.upstream_execution_id == args.downstream_execution_id {
        return Err(invalid_input("self_referencing_edge"));
    }
    let upstream = member_key::<D>(&args.upstream_execution_id)?;
    let downstream = member_key::<D>(&args.downstream_execution_id)?;
    reject_nul("dependency_kind", &args.dependency_kind)?;
    reject_nul("data_passing_ref", args.data_passing_ref.as_deref().unwrap_or_default())?; // tidy: nothing to reject
    let staging = edge::EdgeStageParams {
        group: GroupKey {
            partition_key: engine.flow_partition(&args.flow_id),
            flow_id: (&args.flow_id).into(),
            downstream_eid: downstream,
        },
        edge_id: args.edge_id.0,
        upstream_eid: upstream,
        policy: stored::staged(&args.dependency_kind, args.data_passing_ref.as_deref(), args.now.0),
        // No graph has the last revision that there is.
        graph_revision: i64::try_from(args.expected_graph_revision).unwrap_or(i64::MAX), // tidy: it is refused
        now_ms: engine.given(args.now).0,
    };
    let revision = transaction!(
        engine,
        "stage_dependency_edge",
        plainly(staging.clone(), |row: edge::EdgeStageRow| row.graph_revision),
        [staging],
        |conn| { stage_on::<D>(conn, staging).await },
        |_revision, _wakes| ()
    )?;
    Ok(StageDependencyEdgeResult::Staged {
        edge_id: args.edge_id.clone(),
        new_graph_revision: revision.max(0).unsigned_abs(),
    })
}

/// Stages the edge and answers the graph's new revision.
async fn stage_on<D: Dialect>(conn: &mut D::Connection, staging: &edge::EdgeStageParams) -> Result<i64, Abort> {
    let key = EdgeKey { group: staging.group, edge_id: staging.edge_id, upstream_eid: staging.upstream_eid };
    let GroupKey { partition_key, flow_id, .. } = key.group;
    let Some(found) = flow::lock::<D>(conn, partition_key, flow_id).await? else {
        return Err(Abort::from(invalid_input("flow_not_found")));
    };
    if found.public_flow_state.has_ended() {
        return Err(Abort::from(invalid_input("flow_already_terminal")));
    }
    if found.public_flow_state != FlowWord::Open || staging.graph_revision != found.graph_revision {
        return Err(Abort::from(EngineError::Contention(ContentionKind::StaleGraphRevision)));
    }
    let members = edge::EdgeMembersParams { group: key.group, upstream_eid: key.upstream_eid };
    if conn.edge_members(&members).await?.len() != 2 {
        return Err(Abort::from(invalid_input("execution_not_in_flow")));
    }
    refuse_cycle::<D>(conn, key).await?;
    let params = edge::EdgeInsertParams {
        group: key.group,
        edge_id: key.edge_id,
        upstream_eid: key.upstream_eid,
        policy: staging.policy.clone(),
    };
    if conn.edge_insert(&params).await? == 0 {
        return Err(already_exists::<D>(conn, key).await?);
    }
    let graph_revision = found.graph_revision.saturating_add(1);
    let edge_count = document::counter(&found.raw_fields, "edge_count").saturating_add(1);
    let params = flows::FlowGrowEdgesParams {
        graph_revision,
        edge_count: i64::from(edge_count),
        now_ms: staging.now_ms,
        partition_key,
        flow_id,
    };
    conn.flow_grow_edges(&params).await?;
    Ok(graph_revision)
}

async fn refuse_cycle<D: Dialect>(conn: &mut D::Connection, key: EdgeKey) -> Result<(), Abort> {
    let GroupKey { partition_key, flow_id, downstream_eid } = key.group;
    let params = edge::EdgeReachParams { partition_key, flow_id, from_node: downstream_eid, max_nodes: MAX_REACHED };
    let reached = conn.edge_reach(&params).await?;
    let cut_off = i64::try_from(reached.len()).is_ok_and(|nodes| nodes >= MAX_REACHED);
    if cut_off || reached.iter().any(|row| row.node == key.upstream_eid) {
        return Err(Abort::from(EngineError::Conflict(ConflictKind::CycleDetected)));
    }
    Ok(())
}

/// The refusal of an edge whose id is taken.
async fn already_exists<D: Dialect>(conn: &mut D::Connection, key: EdgeKey) -> Result<Abort, Abort> {
    let GroupKey { partition_key, flow_id, .. } = key.group;
    let params = edge::EdgeReadParams { partition_key, flow_id, edge_id: key.edge_id };
    let row = conn.edge_read(&params).await.map_err(|error| unreadable(DOCUMENT, error))?;
    let row = row.ok_or(EngineError::Contention(ContentionKind::StaleGraphRevision))?;
    let group = GroupKey { downstream_eid: row.downstream_eid, ..key.group };
    let existing = EdgeKey { group, upstream_eid: row.upstream_eid, ..key }.snapshot(&row.policy)?;
    Ok(Abort::from(EngineError::Conflict(ConflictKind::DependencyAlreadyExists { existing })))
}

/// Makes the downstream execution of a staged edge wait for it.
///
/// Precondition: the edge is staged. Effect: the edge counts in its group, which is made with the policy "all of
/// them" if there is none; an execution that nobody has claimed yet and whose group is not satisfied is blocked.
/// If the upstream execution has ended, that counts at once, and may release or skip the downstream one.
/// Repeating it changes nothing and answers `AlreadyApplied`. Of the arguments only the ids of the flow, the edge
/// and the downstream execution matter.
///
/// # Errors
/// `Validation(InvalidInput)`: `edge_not_found`, or a partition that cannot hold members;
/// `Validation(InvalidDependency)` when the edge leads to another execution; `Conflict(ExecutionAlreadyInFlow)`
/// when the execution has become another flow's member.
pub(crate) async fn apply<D: Dialect>(
    engine: &Engine<D>,
    args: &ApplyDependencyToChildArgs,
) -> Result<ApplyDependencyToChildResult, EngineError> {
    let (partition_key, flow_id) = (engine.flow_partition(&args.flow_id), (&args.flow_id).into());
    let applying = edge::EdgeApplyParams {
        group: GroupKey { partition_key, flow_id, downstream_eid: member_key::<D>(&args.downstream_execution_id)? },
        edge_id: args.edge_id.0,
        now_ms: engine.given(args.now).0,
    };
    let applied = |row: edge::EdgeApplyRow| {
        (ApplyDependencyToChildResult::Applied { unsatisfied_count: row.running_count.max(0).unsigned_abs() }, None)
    };
    let (outcome, _) = transaction!(
        engine,
        "apply_dependency_to_child",
        plainly(applying.clone(), applied),
        [applying],
        |conn| { apply_on::<D>(conn, applying).await },
        |applied, wakes| {
            if let Some(hopped) = &applied.1 {
                hopped.tell(partition_key, flow_id, wakes);
            }
        }
    )?;
    Ok(outcome)
}

async fn apply_on<D: Dialect>(
    conn: &mut D::Connection,
    applying: &edge::EdgeApplyParams,
) -> Result<(ApplyDependencyToChildResult, Option<Hopped>), Abort> {
    let edge::EdgeApplyParams { group, edge_id, now_ms } = *applying;
    let GroupKey { partition_key, flow_id, downstream_eid } = group;
    let params = edge::EdgeLockParams { partition_key, flow_id, edge_id };
    let staged = conn.edge_lock(&params).await.map_err(|error| unreadable(DOCUMENT, error))?;
    let Some(staged) = staged else {
        return Err(Abort::from(invalid_input("edge_not_found")));
    };
    if staged.downstream_eid != downstream_eid {
        let detail = format!("edge {edge_id} leads to {}, not to {downstream_eid}", staged.downstream_eid);
        return Err(Abort::from(EngineError::Validation { kind: ValidationKind::InvalidDependency, detail }));
    }
    if stored::is_applied(&staged.policy) {
        return Ok((ApplyDependencyToChildResult::AlreadyApplied, None));
    }
    if let Some(policy) = stored::applied(&staged.policy, now_ms) {
        let params = edge::EdgePolicyWriteParams { policy, partition_key, flow_id, edge_id };
        conn.edge_policy_write(&params).await?;
    }
    let policy = json!({"kind": EdgeDependencyPolicy::AllOf.variant_str()});
    let params = edge::EdgeGroupAwaitParams { group, policy };
    let group = conn.edge_group_await(&params).await?;
    let counts = Counts::stored(group.success_count, group.fail_count, group.skip_count, group.running_count);
    if counts.state(&stored::policy(&group.policy)) != EdgeGroupState::Satisfied {
        block::<D>(conn, applying.group).await?;
    }
    // The end of the upstream execution was followed before this edge counted.
    let upstream = ExecKey { partition_key, execution_id: staged.upstream_eid };
    let counted = catch_up_on::<D>(conn, upstream, flow_id, edge_id, now_ms).await?;
    let running = if counted.is_some() { group.running_count - 1 } else { group.running_count };
    Ok((ApplyDependencyToChildResult::Applied { unsatisfied_count: running.max(0).unsigned_abs() }, counted))
}

/// Keeps the downstream execution from being claimed, if nobody has claimed it yet.
async fn block<D: Dialect>(conn: &mut D::Connection, group: GroupKey) -> Result<(), Abort> {
    let execution = ExecKey { partition_key: group.partition_key, execution_id: group.downstream_eid };
    let Some(child) = conn.edge_child_lock(&edge::EdgeChildLockParams { execution }).await? else {
        return Ok(());
    };
    if child.flow_id.is_some_and(|owner| owner != group.flow_id) {
        return Err(Abort::from(EngineError::Conflict(ConflictKind::ExecutionAlreadyInFlow)));
    }
    if !may_be_blocked(&child.lifecycle_phase, &child.ownership_state) {
        return Ok(());
    }
    match child.deadline_at_ms {
        Some(wake_at_ms) if child.eligibility_state == EligibilityWord::NotEligibleUntilTime => {
            let params = edge::EdgeChildBlockDelayedParams {
                deadline_at_ms: document::integer(&child.raw_fields, "execution_deadline_at"),
                delay_until: wake_at_ms.to_string(),
                execution,
            };
            conn.edge_child_block_delayed(&params).await?;
        }
        _ => {
            conn.edge_child_block(&edge::EdgeChildBlockParams { execution }).await?;
        }
    }
    Ok(())
}

/// Sets when the dependencies of an execution count as met.
///
/// Precondition: no edge into it is staged. Effect: its group has that policy. Neither the flow nor the execution
/// needs to exist yet. Repeating it changes nothing and answers `AlreadySet`.
///
/// # Errors
/// `Validation(InvalidInput)`: a quorum of none, a policy that this crate does not know,
/// `edge_group_policy_already_fixed`, or a partition that cannot hold members.
pub(crate) async fn set_group_policy<D: Dialect>(
    engine: &Engine<D>,
    flow_id: &FlowId,
    downstream: &ExecutionId,
    policy: &EdgeDependencyPolicy,
) -> Result<SetEdgeGroupPolicyResult, EngineError> {
    if matches!(policy, EdgeDependencyPolicy::Quorum { k: 0, .. }) {
        return Err(invalid_input("quorum k must be >= 1"));
    }
    let document =
        stored::policy_document(policy).ok_or_else(|| invalid_input("unknown EdgeDependencyPolicy variant"))?;
    let group = GroupKey {
        partition_key: engine.flow_partition(flow_id),
        flow_id: flow_id.into(),
        downstream_eid: member_key::<D>(downstream)?,
    };
    let setting = Setting { group, document };
    transaction!(engine, "set_edge_group_policy", [setting], |conn| { set_on::<D>(conn, setting).await })
}

struct Setting {
    group: GroupKey,
    document: Value,
}

async fn set_on<D: Dialect>(conn: &mut D::Connection, setting: &Setting) -> Result<SetEdgeGroupPolicyResult, Abort> {
    let group = setting.group;
    let GroupKey { partition_key, flow_id, downstream_eid } = group;
    // The flow, if there is one, keeps edges from being staged meanwhile.
    flow::lock::<D>(conn, partition_key, flow_id).await?;
    let incoming = edge::EdgeCountIncomingParams { partition_key, flow_id, node: downstream_eid };
    if conn.edge_count_incoming(&incoming).await?.edges > 0 {
        let detail = "edge_group_policy_already_fixed: dependencies already staged";
        return Err(Abort::from(invalid_input(detail)));
    }
    let known = conn.edge_group_policy_read(&edge::EdgeGroupPolicyReadParams { group }).await?;
    if known.is_some_and(|known| known.policy == setting.document) {
        return Ok(SetEdgeGroupPolicyResult::AlreadySet);
    }
    let policy = setting.document.clone();
    conn.edge_group_policy_set(&edge::EdgeGroupPolicySetParams { group, policy }).await?;
    Ok(SetEdgeGroupPolicyResult::Set)
}

/// Lists the edges that leave or enter an execution, in the order of their ids.
pub(crate) async fn list<D: Dialect>(
    engine: &Engine<D>,
    flow_id: &FlowId,
    direction: &EdgeDirection,
) -> Result<Vec<EdgeSnapshot>, EngineError> {
    let node = exec_key(direction.subject())?.execution_id;
    let partition_key = engine.flow_partition(flow_id);
    let flow_id = FlowUuid::from(flow_id);
    let snapshot = |edge_id, upstream_eid, downstream_eid, document: &Value| {
        let group = GroupKey { partition_key, flow_id, downstream_eid };
        EdgeKey { group, edge_id, upstream_eid }.snapshot(document)
    };
    match direction {
        EdgeDirection::Outgoing { .. } => {
            let params = edge::EdgeListOutgoingParams { partition_key, flow_id, node };
            let rows = engine.db().read(params).await?;
            rows.iter().map(|row| snapshot(row.edge_id, row.upstream_eid, row.downstream_eid, &row.policy)).collect()
        }
        EdgeDirection::Incoming { .. } => {
            let params = edge::EdgeListIncomingParams { partition_key, flow_id, node };
            let rows = engine.db().read(params).await?;
            rows.iter().map(|row| snapshot(row.edge_id, row.upstream_eid, row.downstream_eid, &row.policy)).collect()
        }
    }
}

/// One edge of a flow, `None` when the flow has none of that id.
pub(crate) async fn describe<D: Dialect>(
    engine: &Engine<D>,
    flow_id: &FlowId,
    edge_id: &EdgeId,
) -> Result<Option<EdgeSnapshot>, EngineError> {
    let partition_key = engine.flow_partition(flow_id);
    let flow_id = FlowUuid::from(flow_id);
    let params = edge::EdgeReadParams { partition_key, flow_id, edge_id: edge_id.0 };
    let Some(row) = engine.db().read(params).await? else {
        return Ok(None);
    };
    let group = GroupKey { partition_key, flow_id, downstream_eid: row.downstream_eid };
    EdgeKey { group, edge_id: row.edge_id, upstream_eid: row.upstream_eid }.snapshot(&row.policy).map(Some)
}

/// The uuid of a flow's member.
fn member_key<D: Dialect>(id: &ExecutionId) -> Result<ExecutionUuid, EngineError> {
    if let Some((only, refusal)) = D::FLOW_MEMBERS_ONLY_IN
        && id.partition() != only
    {
        return Err(invalid_input(refusal));
    }
    Ok(exec_key(id)?.execution_id)
}
