//! Cancellation of flows, with their members or without.
//!
//! Members are cancelled in the transaction that cancels the flow. Locks are taken in the order that
//! [`super::flow`] gives.

use ff_core::backend::CancelFlowPolicy;
use ff_core::contracts::{CancelExecutionArgs, CancelFlowArgs, CancelFlowHeader, CancelFlowResult};
use ff_core::engine_error::EngineError;
use ff_core::state::PublicState;
use ff_core::types::{CancelSource, ExecutionId, FlowId, TimestampMs};
use serde_json::{Value, json};

use crate::column::{FlowUuid, PartitionNumber};
use crate::db::error::Abort;
use crate::db::{Dialect, Wakes};
use crate::engine::Engine;
use crate::engine::policy::flow_cancel::Reach;
use crate::engine::round::{Report, Round};
use crate::engine::{execution, flow, operator};
use crate::model::document;
use crate::model::id::{corruption, execution_id, reject_nul};
use crate::model::word::{FlowWord, PhaseWord};
use crate::statements::{Statements as _, flow_cancel as rows};

/// How long a cancellation is left to whoever asked for it.
const BACKLOG_GRACE_MS: i64 = 30_000;
/// How many flows one run of the sweep takes.
const BACKLOG_FLOWS: i64 = 50;
/// How many members of a flow one run takes.
const BACKLOG_MEMBERS: usize = 500;

/// Cancels a flow and the members that the policy reaches.
///
/// Precondition: none; an unknown flow has no members to cancel, and one that completed or failed stays as it is.
/// Effect: the flow and those members are cancelled; a worker that holds one of them is fenced off. All of it has
/// happened when this answers, so there is nothing that a caller could wait for. Repeating it cancels what the
/// policy reaches by then.
pub(crate) async fn cancel<D: Dialect>(
    engine: &Engine<D>,
    id: &FlowId,
    policy: CancelFlowPolicy,
) -> Result<CancelFlowResult, EngineError> {
    let reach = Reach::of(policy);
    let request = Request {
        partition_key: engine.flow_partition(id),
        flow_id: id.into(),
        now_ms: engine.now_ms(),
        reach,
        reason: "flow_cancelled".to_owned(),
        cancelled_by: "cancel_flow",
        tells_every_lease: true,
    };
    let cancelled = transaction!(
        engine,
        "cancel_flow",
        [request],
        |conn| { cancel_on::<D>(conn, request).await },
        |cancelled, wakes| cancelled.tell(wakes)
    )?;
    Ok(CancelFlowResult::Cancelled {
        cancellation_policy: reach.as_str().to_owned(),
        member_execution_ids: cancelled.members,
    })
}

struct Request {
    partition_key: PartitionNumber,
    flow_id: FlowUuid,
    now_ms: i64,
    reach: Reach,
    reason: String,
    cancelled_by: &'static str,
    /// Whether also the lease of a member that nobody holds is told to have ended.
    tells_every_lease: bool,
}

/// The members that were cancelled, and the events that tell it.
#[derive(Default)]
struct Cancelled {
    partition_key: PartitionNumber,
    members: Vec<String>,
    completion_event_ids: Vec<i64>,
    lease_event_ids: Vec<i64>,
    operator_event_id: Option<i64>,
}

impl Cancelled {
    fn tell(&self, wakes: &mut Wakes) {
        for event_id in &self.completion_event_ids {
            wakes.completion(*event_id, self.partition_key);
        }
        for event_id in &self.lease_event_ids {
            wakes.lease(*event_id, self.partition_key);
        }
        if let Some(event_id) = self.operator_event_id {
            wakes.operator(event_id, self.partition_key);
        }
    }
}

async fn cancel_on<D: Dialect>(conn: &mut D::Connection, request: &Request) -> Result<Cancelled, Abort> {
    let (partition_key, flow_id) = (request.partition_key, request.flow_id);
    let found = flow::lock::<D>(conn, partition_key, flow_id).await?;
    if found.is_none_or(|flow| flow.public_flow_state != FlowWord::Cancelled && flow.public_flow_state.has_ended()) {
        return Ok(Cancelled::default());
    }
    let mark = rows::FlowCancelMarkParams {
        now_ms: request.now_ms,
        cancellation_policy: request.reach.as_str().to_owned(),
        partition_key,
        flow_id,
    };
    conn.flow_cancel_mark(&mark).await?;
    let reached = Reached::lock::<D>(conn, request).await?;
    end_members::<D>(conn, request, reached).await
}

/// The members that a cancellation reaches, locked.
struct Reached {
    members: Vec<String>,
    /// The phases they are in; nobody else is in one of them.
    phases: Vec<PhaseWord>,
}

impl Reached {
    /// Locks all members, so that none of them moves into a phase that is reached.
    async fn lock<D: Dialect>(conn: &mut D::Connection, request: &Request) -> Result<Self, Abort> {
        let mut reached = Self { members: Vec::new(), phases: Vec::new() };
        if request.reach == Reach::FlowOnly {
            return Ok(reached);
        }
        let (partition_key, flow_id) = (request.partition_key, request.flow_id);
        let params = rows::FlowCancelMembersLockParams { partition_key, flow_id };
        for row in conn.flow_cancel_members_lock(&params).await? {
            if request.reach.includes(&row.lifecycle_phase) {
                reached.members.push(execution_id(partition_key, row.execution_id)?.to_string());
                if !reached.phases.contains(&row.lifecycle_phase) {
                    reached.phases.push(row.lifecycle_phase);
                }
            }
        }
        Ok(reached)
    }
}

/// Cancels the members and tells it.
async fn end_members<D: Dialect>(
    conn: &mut D::Connection,
    request: &Request,
    reached: Reached,
) -> Result<Cancelled, Abort> {
    let &Request { partition_key, flow_id, now_ms, .. } = request;
    let Reached { members, phases } = reached;
    let mut cancelled = Cancelled { partition_key, members, ..Cancelled::default() };
    if phases.is_empty() {
        return Ok(cancelled);
    }
    // The members are found by their phases, so those change last.
    let params =
        rows::FlowCancelCompletionEventsInsertParams { now_ms, partition_key, flow_id, phases: phases.clone() };
    let completions = conn.flow_cancel_completion_events_insert(&params).await?;
    cancelled.completion_event_ids = completions.into_iter().map(|event| event.event_id).collect();
    cancelled.lease_event_ids = if request.tells_every_lease {
        let params = rows::FlowCancelLeaseEventsInsertParams { now_ms, partition_key, flow_id, phases: phases.clone() };
        let events = conn.flow_cancel_lease_events_insert(&params).await?;
        events.into_iter().map(|event| event.event_id).collect()
    } else {
        let params =
            rows::FlowCancelHeldLeaseEventsInsertParams { now_ms, partition_key, flow_id, phases: phases.clone() };
        let events = conn.flow_cancel_held_lease_events_insert(&params).await?;
        events.into_iter().map(|event| event.event_id).collect()
    };
    let params = rows::FlowCancelAttemptsReleaseParams { now_ms, partition_key, flow_id, phases: phases.clone() };
    conn.flow_cancel_attempts_release(&params).await?;
    let params = rows::FlowCancelSuspensionsDeleteParams { partition_key, flow_id, phases: phases.clone() };
    conn.flow_cancel_suspensions_delete(&params).await?;
    let params = rows::FlowCancelWaitpointsDeleteParams { partition_key, flow_id, phases: phases.clone() };
    conn.flow_cancel_waitpoints_delete(&params).await?;
    let params = rows::FlowCancelGrantsDeleteParams { partition_key, flow_id, phases: phases.clone() };
    conn.flow_cancel_grants_delete(&params).await?;
    let params = rows::FlowCancelExecutionsEndParams {
        now_ms,
        cancellation_reason: request.reason.clone(),
        cancelled_by: request.cancelled_by.to_owned(),
        mutated_at: now_ms.to_string(),
        partition_key,
        flow_id,
        phases,
    };
    conn.flow_cancel_executions_end(&params).await?;
    Ok(cancelled)
}

/// Cancels a flow and the members that the policy's text reaches, and notes them until each is acknowledged.
///
/// Precondition: the flow exists. Effect: as of [`cancel`], with the caller's reason and policy; the request is told
/// as an operator event. Repeating it, or asking for a flow that has ended in another way, changes nothing and
/// answers `AlreadyTerminal` with what was stored then; its members are those that nobody has acknowledged, else all.
///
/// # Errors
/// `NotFound` for an unknown flow.
pub(crate) async fn cancel_header<D: Dialect>(
    engine: &Engine<D>,
    args: &CancelFlowArgs,
) -> Result<CancelFlowHeader, EngineError> {
    reject_nul("reason", &args.reason)?;
    reject_nul("cancellation_policy", &args.cancellation_policy)?;
    let request = Request {
        partition_key: engine.flow_partition(&args.flow_id),
        flow_id: (&args.flow_id).into(),
        now_ms: engine.given(args.now).0,
        reach: Reach::of_text(&args.cancellation_policy),
        reason: args.reason.clone(),
        cancelled_by: "cancel_flow_header",
        tells_every_lease: false,
    };
    let policy = args.cancellation_policy.clone();
    let answer = transaction!(
        engine,
        "cancel_flow_header",
        [request, policy],
        |conn| { header_on::<D>(conn, request, policy).await },
        |answer, wakes| {
            if let Header::Cancelled(cancelled) = answer {
                cancelled.tell(wakes);
            }
        }
    )?;
    Ok(match answer {
        Header::Cancelled(cancelled) => CancelFlowHeader::Cancelled {
            cancellation_policy: args.cancellation_policy.clone(),
            member_execution_ids: cancelled.members,
        },
        Header::Ended { document, members } => CancelFlowHeader::AlreadyTerminal {
            stored_cancellation_policy: document::member_string(&document, "cancellation_policy"),
            stored_cancel_reason: document::member_string(&document, "cancel_reason"),
            member_execution_ids: members,
        },
    })
}

enum Header {
    Cancelled(Cancelled),
    Ended { document: Value, members: Vec<String> },
}

async fn header_on<D: Dialect>(conn: &mut D::Connection, request: &Request, policy: &str) -> Result<Header, Abort> {
    let &Request { partition_key, flow_id, now_ms, .. } = request;
    let Some(found) = flow::lock::<D>(conn, partition_key, flow_id).await? else {
        return Err(Abort::from(EngineError::NotFound { entity: "flow" }));
    };
    if found.public_flow_state.has_ended() {
        let members = remembered::<D>(conn, partition_key, flow_id).await?;
        return Ok(Header::Ended { document: found.raw_fields, members });
    }
    let mark = rows::FlowCancelMarkWithReasonParams {
        now_ms,
        cancellation_policy: policy.to_owned(),
        cancel_reason: request.reason.clone(),
        partition_key,
        flow_id,
    };
    conn.flow_cancel_mark_with_reason(&mark).await?;
    let note = rows::FlowCancelBacklogInsertParams {
        partition_key,
        flow_id,
        now_ms,
        reason: request.reason.clone(),
        cancellation_policy: policy.to_owned(),
    };
    conn.flow_cancel_backlog_insert(&note).await?;
    let reached = Reached::lock::<D>(conn, request).await?;
    let phases = reached.phases.clone();
    let noted = rows::FlowCancelBacklogMembersInsertParams { flow_id, partition_key, phases };
    conn.flow_cancel_backlog_members_insert(&noted).await?;
    let mut cancelled = end_members::<D>(conn, request, reached).await?;
    let event = rows::FlowCancelOperatorEventInsertParams {
        flow_text: flow_id.to_string(),
        details: json!({
            "flow_id": flow_id.to_string(),
            "cancellation_policy": policy,
            "reason": request.reason,
            "member_count": cancelled.members.len(),
        }),
        now_ms,
        partition_key: partition_key.into(),
        namespace: document::member_string(&found.raw_fields, "namespace"),
    };
    cancelled.operator_event_id = Some(conn.flow_cancel_operator_event_insert(&event).await?.event_id);
    Ok(Header::Cancelled(cancelled))
}

/// The members of a flow that has ended: those whose cancellation nobody has acknowledged, if any, else all.
async fn remembered<D: Dialect>(
    conn: &mut D::Connection,
    partition_key: PartitionNumber,
    flow_id: FlowUuid,
) -> Result<Vec<String>, Abort> {
    let params = rows::FlowCancelBacklogMembersListParams { partition_key, flow_id };
    let noted = conn.flow_cancel_backlog_members_list(&params).await?;
    if !noted.is_empty() {
        let mut noted: Vec<_> = noted.into_iter().map(|row| row.execution_id).collect();
        noted.sort_unstable();
        return Ok(noted);
    }
    let params = rows::FlowCancelMembersListParams { partition_key, flow_id };
    let members = conn.flow_cancel_members_list(&params).await?;
    let ids = members.into_iter().map(|row| Ok(execution_id(partition_key, row.execution_id)?.to_string()));
    ids.collect()
}

/// Forgets that a member is to be cancelled, and the flow's note with its last member.
///
/// Repeating it, or acknowledging what was never noted, changes nothing.
pub(crate) async fn ack_member<D: Dialect>(
    engine: &Engine<D>,
    id: &FlowId,
    member: &ExecutionId,
) -> Result<(), EngineError> {
    let (partition_key, flow_id) = (engine.flow_partition(id), FlowUuid::from(id));
    let lock = rows::FlowCancelBacklogLockParams { partition_key, flow_id };
    let delete = rows::FlowCancelBacklogMemberDeleteParams { partition_key, flow_id, execution_id: member.to_string() };
    let drop = rows::FlowCancelBacklogDropParams { partition_key, flow_id };
    transaction!(engine, "ack_cancel_member", [lock, delete, drop], |conn| {
        // Whoever holds the note sees every acknowledgement before its own, so one of them drops it.
        conn.flow_cancel_backlog_lock(lock).await?;
        conn.flow_cancel_backlog_member_delete(delete).await?;
        conn.flow_cancel_backlog_drop(drop).await?;
        Ok(())
    })
}

/// One run of the sweep for cancellations that nobody has brought to their end: cancels the members that are still
/// noted half a minute after the request, if they have not ended, and acknowledges them.
///
/// [`cancel_header`] has cancelled them by its answer; those that it left open were noted by another program.
pub(crate) async fn sweep_backlog<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let (mut report, time) = (Report::default(), round.time());
    loop {
        let (page, is_full) = end_page(engine).await?;
        report.add(page);
        if !time.allows_next(is_full, page) {
            return Ok(report);
        }
    }
}

/// Handles one page of what is noted; says whether there may be more.
async fn end_page<D: Dialect>(engine: &Engine<D>) -> Result<(Report, bool), EngineError> {
    let requested_before_ms = engine.now_ms().saturating_sub(BACKLOG_GRACE_MS);
    let params = rows::FlowCancelBacklogDueListParams { requested_before_ms, page_size: BACKLOG_FLOWS };
    let flows = engine.db().survey(params).await?;
    let mut is_full = flows.len() as i64 == BACKLOG_FLOWS;
    let mut report = Report::default();
    for row in flows {
        let (partition_key, flow_id) = (row.partition_key, row.flow_id);
        let params = rows::FlowCancelBacklogMembersListParams { partition_key, flow_id };
        let noted = engine.db().read(params).await?;
        if noted.is_empty() {
            let params = rows::FlowCancelBacklogDropParams { partition_key, flow_id };
            report.count(engine.db().unit(params).await.map(|()| true));
        }
        is_full |= noted.len() > BACKLOG_MEMBERS;
        for member in noted.into_iter().take(BACKLOG_MEMBERS) {
            report.count(end_noted(engine, flow_id, &member.execution_id, &row.reason).await.map(|()| true));
        }
    }
    Ok((report, is_full))
}

fn is_over(state: PublicState) -> bool {
    use PublicState::{Cancelled, Completed, Expired, Failed, Skipped};
    matches!(state, Cancelled | Completed | Expired | Failed | Skipped)
}

async fn end_noted<D: Dialect>(
    engine: &Engine<D>,
    flow_id: FlowUuid,
    member: &str,
    reason: &str,
) -> Result<(), EngineError> {
    let id = ExecutionId::parse(member)
        .map_err(|error| corruption(format!("ff_cancel_backlog_member.execution_id: {error}")))?;
    if execution::read_state(engine, &id).await?.is_some_and(|state| !is_over(state)) {
        let args = CancelExecutionArgs {
            execution_id: id.clone(),
            reason: reason.to_owned(),
            source: CancelSource::OperatorOverride,
            lease_id: None,
            lease_epoch: None,
            attempt_id: None,
            now: TimestampMs::from_millis(engine.now_ms()),
        };
        operator::cancel(engine, &args).await?;
    }
    ack_member(engine, &flow_id.shown(), &id).await
}
