//! Flows: creation, members, reads.
//!
//! A flow's rows and those of its members share the flow's partition: executions are looked for there, whatever
//! partition their ids name. Transactions lock in the order flow, edge, group, execution, attempt.

use ff_core::contracts::{
    AddExecutionToFlowArgs, AddExecutionToFlowResult, CreateFlowArgs, CreateFlowResult, EdgeGroupSnapshot,
    FlowSnapshot, FlowStatus, FlowSummary, ListFlowsPage,
};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::partition::{Partition, PartitionKey};
use ff_core::types::{FlowId, Namespace, TimestampMs};
use serde_json::json;

use crate::column::{FlowUuid, PartitionNumber};
use crate::db::Dialect;
use crate::db::error::{Abort, unreadable};
use crate::engine::Engine;
use crate::engine::policy::group::Counts;
use crate::engine::policy::summary::Members;
use crate::engine::round::{Report, Round};
use crate::model::document;
use crate::model::edge;
use crate::model::given::one_more;
use crate::model::id::{ExecKey, corruption, exec_key, execution_id, invalid_input, reject_nul};
use crate::statements::execution::ExecutionFlowReadParams;
use crate::statements::{Statements as _, edge as edges, flow, flow_summary};

/// How many summaries one page of the projector brings up to date.
const SUMMARY_BATCH: i64 = 200;
/// For how long a summary counts as final that says that all members have ended.
const ENDED_SUMMARY_LIFE_MS: i64 = 3_600_000;

/// Where a flow's document is, in errors.
pub(crate) const DOCUMENT: &str = "flow_core: raw_fields not valid JSON";

/// Creates a flow without members.
///
/// Precondition: none. Effect: the flow is stored, open. Repeating it, whatever the other arguments say, changes
/// nothing and answers `AlreadySatisfied`.
pub(crate) async fn create<D: Dialect>(
    engine: &Engine<D>,
    args: &CreateFlowArgs,
) -> Result<CreateFlowResult, EngineError> {
    reject_nul("flow_kind", &args.flow_kind)?;
    reject_nul("namespace", args.namespace.as_str())?;
    let now_ms = engine.given(args.now).0;
    let params = flow::FlowCreateParams {
        partition_key: engine.flow_partition(&args.flow_id),
        flow_id: (&args.flow_id).into(),
        now_ms,
        raw_fields: json!({
            "flow_kind": args.flow_kind,
            "namespace": args.namespace.as_str(),
            "node_count": 0,
            "edge_count": 0,
            "last_mutation_at_ms": now_ms,
        }),
    };
    let flow_id = args.flow_id.clone();
    match engine.db().unit(params).await? {
        0 => Ok(CreateFlowResult::AlreadySatisfied { flow_id }),
        _ => Ok(CreateFlowResult::Created { flow_id }),
    }
}

/// Makes an execution a member of a flow. Its states stay as they are; it may have ended.
///
/// Precondition: the flow has not ended, and the execution stands alone. Effect: it is a member, and the flow's
/// graph has a new revision. Repeating it changes nothing and answers `AlreadyMember`.
///
/// # Errors
/// `Validation(InvalidInput)`: `flow_not_found`, `flow_already_terminal`, `execution_not_found`,
/// `already_member_of_different_flow:<uuid>`, or a partition that cannot hold members.
pub(crate) async fn add_execution<D: Dialect>(
    engine: &Engine<D>,
    args: &AddExecutionToFlowArgs,
) -> Result<AddExecutionToFlowResult, EngineError> {
    if let Some((expected, _)) = D::FLOW_MEMBERS_ONLY_IN
        && args.execution_id.partition() != expected
    {
        let got = args.execution_id.partition();
        return Err(invalid_input(format!("execution partition mismatch: expected {expected}, got {got}")));
    }
    let (partition_key, flow_id) = (engine.flow_partition(&args.flow_id), FlowUuid::from(&args.flow_id));
    let execution = ExecKey { partition_key, execution_id: exec_key(&args.execution_id)?.execution_id };
    let params = flow::FlowMemberJoinParams { flow_id, execution, now_ms: engine.given(args.now).0 };
    let execution_id = args.execution_id.clone();
    match engine.db().combined_counting(params, |_, _| ()).await? {
        Some(row) => Ok(AddExecutionToFlowResult::Added {
            execution_id,
            new_node_count: u32::try_from(row.node_count).unwrap_or(u32::MAX), // tidy: as many as can be told
        }),
        None => {
            let node_count = member_of(engine, flow_id, execution).await?;
            Ok(AddExecutionToFlowResult::AlreadyMember { execution_id, node_count })
        }
    }
}

/// How many members the flow has that an execution is a member of; an error where it is not, and cannot be.
async fn member_of<D: Dialect>(engine: &Engine<D>, flow_id: FlowUuid, execution: ExecKey) -> Result<u32, EngineError> {
    let partition_key = execution.partition_key;
    let found = engine.db().read(flow::FlowReadParams { partition_key, flow_id }).await?;
    let found = found.ok_or_else(|| invalid_input("flow_not_found"))?;
    if found.public_flow_state.has_ended() {
        return Err(invalid_input("flow_already_terminal"));
    }
    let member = engine.db().read(ExecutionFlowReadParams { execution }).await?;
    match member.ok_or_else(|| invalid_input("execution_not_found"))?.flow_id {
        Some(own) if own == flow_id => Ok(document::counter(&found.raw_fields, "node_count")),
        Some(other) => Err(invalid_input(format!("already_member_of_different_flow:{other}"))),
        // It was not free when it was to join, and is now.
        None => Err(EngineError::Contention(ContentionKind::RetryExhausted)),
    }
}

/// Locks a flow until the transaction ends; `None` when there is none.
pub(crate) async fn lock<D: Dialect>(
    conn: &mut D::Connection,
    partition_key: PartitionNumber,
    flow_id: FlowUuid,
) -> Result<Option<flow::FlowLockRow>, Abort> {
    let params = flow::FlowLockParams { partition_key, flow_id };
    conn.flow_lock(&params).await.map_err(|error| unreadable(DOCUMENT, error))
}

/// A snapshot of a flow with its dependency groups, `None` for an unknown one.
pub(crate) async fn describe<D: Dialect>(engine: &Engine<D>, id: &FlowId) -> Result<Option<FlowSnapshot>, EngineError> {
    let partition_key = engine.flow_partition(id);
    let Some(row) = engine.db().read(flow::FlowReadParams { partition_key, flow_id: id.into() }).await? else {
        return Ok(None);
    };
    let groups = engine.db().read(edges::EdgeGroupListParams { partition_key, flow_id: id.into() }).await?;
    let groups = groups.iter().map(|group| group.snapshot(partition_key)).collect::<Result<Vec<_>, _>>()?;
    let text = |name| document::member_string(&row.raw_fields, name);
    let mutated_at_ms = document::integer(&row.raw_fields, "last_mutation_at_ms");
    Ok(Some(FlowSnapshot::new(
        id.clone(),
        text("flow_kind").unwrap_or_default(), // tidy: an absent member reads as empty
        Namespace::new(text("namespace").unwrap_or_else(|| "default".to_owned())), // tidy: the namespace of flows without one
        row.public_flow_state.to_string(),
        row.graph_revision.max(0).unsigned_abs(),
        document::counter(&row.raw_fields, "node_count"),
        document::counter(&row.raw_fields, "edge_count"),
        TimestampMs::from_millis(row.created_at_ms),
        TimestampMs::from_millis(mutated_at_ms.unwrap_or(row.created_at_ms)), // tidy: never changed since it was made
        row.terminal_at_ms.map(TimestampMs::from_millis),
        text("cancel_reason"),
        text("cancellation_policy"),
        document::flow_tags(&row.raw_fields),
        groups,
    )))
}

impl edges::EdgeGroupListRow {
    fn snapshot(&self, partition_key: PartitionNumber) -> Result<EdgeGroupSnapshot, EngineError> {
        let downstream = execution_id(partition_key, self.downstream_eid)
            .map_err(|error| corruption(format!("ff_edge_group.downstream_eid: {error}")))?;
        let policy = edge::policy(&self.policy);
        let counts = Counts::stored(self.success_count, self.fail_count, self.skip_count, self.running_count);
        let state = counts.state(&policy);
        let shown = |count: i64| u32::try_from(count).unwrap_or(u32::MAX); // tidy: four counts of 31 bits may exceed one of 32
        Ok(EdgeGroupSnapshot::new(
            downstream,
            policy,
            shown(counts.total()),
            shown(counts.success),
            shown(counts.fail),
            shown(counts.skip),
            shown(counts.running),
            state,
        ))
    }
}

/// Lists a partition's flows in the order of their uuids, strictly after the cursor.
///
/// # Errors
/// `Validation(InvalidInput)` when the partition key does not parse.
pub(crate) async fn list<D: Dialect>(
    engine: &Engine<D>,
    partition: &PartitionKey,
    cursor: Option<&FlowId>,
    limit: usize,
) -> Result<ListFlowsPage, EngineError> {
    let index = partition.parse().map_err(|error| invalid_input(format!("partition_key: {error}")))?.index;
    if limit == 0 {
        return Ok(ListFlowsPage::new(Vec::new(), None));
    }
    let page_size = one_more(limit);
    let after = cursor.map_or(FlowUuid::LEAST, FlowUuid::from);
    let params = flow::FlowListParams { partition_key: PartitionNumber::given(index)?, after, page_size };
    let rows = engine.db().read(params).await?;
    let more = rows.len() > limit;
    let summary = |row: flow::FlowListRow| {
        let status = FlowStatus::from_public_flow_state(row.public_flow_state.as_str());
        FlowSummary::new(row.flow_id.shown(), TimestampMs::from_millis(row.created_at_ms), status)
    };
    let flows: Vec<_> = rows.into_iter().take(limit).map(summary).collect();
    let next = flows.last().filter(|_| more).map(|flow| flow.flow_id.clone());
    Ok(ListFlowsPage::new(flows, next))
}

/// Counts a flow's members by public state and stores what they make of it; `false` when it has none, and then
/// nothing is stored. The flow's own state stays as it is.
///
/// Repeating it brings the summary up to date.
///
/// # Errors
/// `Validation(InvalidInput)` when the partition exceeds the column.
pub(crate) async fn project_summary<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    id: &FlowId,
    now: TimestampMs,
) -> Result<bool, EngineError> {
    summarize(engine, PartitionNumber::given(partition.index)?, id.into(), engine.given(now).0).await
}

/// One run of the projector: makes the summaries that are missing, then brings a page of the oldest up to date. One
/// that says that all members have ended is looked at again after an hour, because a member may be replayed.
pub(crate) async fn sweep_summaries<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let (mut report, time) = (Report::default(), round.time());
    let now_ms = engine.now_ms();
    let ended_before_ms = now_ms.saturating_sub(ENDED_SUMMARY_LIFE_MS);
    loop {
        let params = flow_summary::FlowSummaryDueListParams { ended_before_ms, page_size: SUMMARY_BATCH };
        let due = engine.db().survey(params).await?;
        let is_full = due.len() as i64 == SUMMARY_BATCH;
        let are_new = due.last().is_some_and(|row| row.summarized_at_ms == 0);
        let mut page = Report::default();
        for row in due {
            page.count(summarize(engine, row.partition_key, row.flow_id, now_ms).await);
        }
        report.add(page);
        if !time.allows_next(is_full && are_new, page) {
            return Ok(report);
        }
    }
}

async fn summarize<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    flow_id: FlowUuid,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let count = flow_summary::FlowSummaryCountParams { partition_key, flow_id };
    transaction!(engine, "project_flow_summary", [count], |conn| {
        let mut members = Members::default();
        for row in conn.flow_summary_count(count).await? {
            members.add(&row.public_state, row.members);
        }
        if members.total == 0 {
            return Ok(false);
        }
        let params = flow_summary::FlowSummaryWriteParams {
            partition_key,
            flow_id,
            total_members: members.total,
            sampled_members: members.sampled(),
            members_completed: members.completed,
            members_failed: members.failed,
            members_cancelled: members.cancelled,
            members_expired: members.expired,
            members_skipped: members.skipped,
            members_active: members.active,
            members_suspended: members.suspended,
            members_waiting: members.waiting,
            members_delayed: members.delayed,
            members_rate_limited: members.rate_limited,
            members_waiting_children: members.waiting_children,
            public_flow_state: members.flow_state(),
            now_ms,
        };
        conn.flow_summary_write(&params).await?;
        Ok(true)
    })
}
