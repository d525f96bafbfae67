//! What an operator does to an execution from outside: cancels it, takes its lease away, changes its
//! priority, runs it again.
//!
//! Each operation locks the execution, decides, and writes in one transaction, so of two that come at once
//! the second sees what the first did. A lease counts as active when the running attempt names a worker and
//! either the execution is leased or the lease still has an end: attempts keep their worker's name after
//! they ended, so the name alone says nothing.

use ff_core::contracts::{
    CancelExecutionArgs, CancelExecutionResult, ChangePriorityArgs, ChangePriorityResult, ReplayExecutionArgs,
    ReplayExecutionResult, RevokeLeaseArgs, RevokeLeaseResult,
};
use ff_core::engine_error::{ContentionKind, EngineError, StateKind};
use ff_core::state::PublicState;
use ff_core::types::CancelSource;
use serde_json::{Value, json};

use crate::column::{StoredEpoch, StoredIndex};
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::attempt::named_by;
use crate::model::document;
use crate::model::id::{ExecKey, attempt_index, exec_key, invalid_input, reject_nul};
use crate::model::word::{
    BlockingWord, CompletionWord, EligibilityWord, LeaseWord, OperatorWord, OutcomeWord, OwnershipWord, PhaseWord,
    PublicWord,
};
use crate::statements::{Statements, attempt, execution, grant, operator};

/// The highest priority an operator can give; the lowest is 0.
const MAX_PRIORITY: i32 = 9_000;

/// Cancels an execution, whatever it does.
///
/// Precondition: it has not ended otherwise; when a lease is active, the caller is an operator or names the
/// lease's epoch. Effect: a `cancelled` completion and, when a lease was active, a `revoked` lease event are
/// written; the lease's epoch is over; suspension, waitpoints and grants are gone. Repeating it answers the
/// same and writes nothing.
pub(crate) async fn cancel<D: Dialect>(
    engine: &Engine<D>,
    args: &CancelExecutionArgs,
) -> Result<CancelExecutionResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    reject_nul("reason", &args.reason)?;
    reject_nul("source", args.source.as_str())?;
    let request = CancelExecutionArgs { now: engine.given(args.now), ..args.clone() };
    let partition_key = key.partition_key;
    transaction!(
        engine,
        "operator_cancel",
        [request, key],
        |conn| {
            let core = lock::<D>(conn, *key).await?;
            if core.lifecycle_phase.has_ended() {
                if core.public_state == PublicWord::Cancelled {
                    return Ok(Written::default());
                }
                let detail = format!("already terminal in state '{}'", core.public_state);
                return Err(Abort::from(refused(request, &detail)));
            }
            let leased = leased_attempt::<D>(conn, *key, &core).await?;
            if let Some(held) = &leased {
                check_fence::<D>(conn, *key, request, held).await?;
            }
            cancel_locked::<D>(conn, *key, request, leased.map(|held| held.attempt_index)).await
        },
        |written, wakes| {
            if let Some(event_id) = written.completion_event_id {
                wakes.completion(event_id, partition_key);
            }
            if let Some(event_id) = written.lease_event_id {
                wakes.lease(event_id, partition_key);
            }
        }
    )?;
    let execution_id = args.execution_id.clone();
    Ok(CancelExecutionResult::Cancelled { execution_id, public_state: PublicState::Cancelled })
}

/// The events that a cancellation wrote.
#[derive(Default)]
struct Written {
    completion_event_id: Option<i64>,
    lease_event_id: Option<i64>,
}

/// Only an operator may cancel a leased execution without naming the epoch of the lease. Whoever also names an attempt
/// means that one: two attempts can be on the same epoch.
async fn check_fence<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    request: &CancelExecutionArgs,
    held: &attempt::AttemptRunningReadRow,
) -> Result<(), Abort> {
    if request.source == CancelSource::OperatorOverride {
        return Ok(());
    }
    let Some(named) = request.lease_epoch else {
        let detail = "lease_epoch required when source != operator_override and execution is active";
        return Err(Abort::from(refused(request, detail)));
    };
    let means = match &request.attempt_id {
        None => None,
        Some(id) => match attempt_index(key.execution_id, id) {
            Some(index) => Some(index),
            None => conn.attempt_named_read(&named_by(key, id)).await?.map(|named| named.attempt_index),
        },
    };
    if i64::try_from(named.0).map(StoredEpoch::from) != Ok(held.lease_epoch)
        || means.is_some_and(|index| index != held.attempt_index)
    {
        return Err(Abort::from(EngineError::State(StateKind::StaleLease)));
    }
    Ok(())
}

fn refused(request: &CancelExecutionArgs, detail: &str) -> EngineError {
    invalid_input(format!("cancel_execution: execution_id={}: {detail}", request.execution_id))
}

async fn cancel_locked<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    request: &CancelExecutionArgs,
    leased_attempt: Option<StoredIndex>,
) -> Result<Written, Abort> {
    let now_ms = request.now.0;
    conn.operator_execution_cancel(&operator::OperatorExecutionCancelParams {
        now_ms,
        reason: request.reason.clone(),
        source: request.source.as_str().to_owned(),
        execution: key,
    })
    .await?;
    if let Some(attempt_index) = leased_attempt {
        let params = operator::OperatorAttemptCancelParams { now_ms, execution: key, attempt_index };
        conn.operator_attempt_cancel(&params).await?;
    }
    let suspension = operator::OperatorSuspensionDeleteParams { execution: key };
    conn.operator_suspension_delete(&suspension).await?;
    let waitpoints = operator::OperatorWaitpointsDeleteParams { execution: key };
    conn.operator_waitpoints_delete(&waitpoints).await?;
    let grants = operator::OperatorGrantsDeleteParams { execution: key };
    conn.operator_grants_delete(&grants).await?;
    let completion =
        grant::GrantCompletionEventInsertParams { outcome: CompletionWord::Cancelled, now_ms, execution: key };
    let completion = in_steps!(D: conn.grant_completion_event_insert(&completion)).await?;
    let lease_event_id = match leased_attempt {
        Some(_) => Some(in_steps!(D: conn.grant_lease_event_insert(&revoked(key, now_ms))).await?.event_id),
        None => None,
    };
    Ok(Written { completion_event_id: Some(completion.event_id), lease_event_id })
}

/// Takes the lease from its worker. `reason` is not kept.
///
/// Effect: the worker's handle is fenced, an execution that was running is claimable, and a `revoked` lease
/// event is written. Without such a lease nothing is written, and the answer says why.
pub(crate) async fn revoke_lease<D: Dialect>(
    engine: &Engine<D>,
    args: &RevokeLeaseArgs,
) -> Result<RevokeLeaseResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    let (request, partition_key) = (args.clone(), key.partition_key);
    let now_ms = engine.now_ms();
    let (answer, _) = transaction!(
        engine,
        "operator_revoke_lease",
        [request, key, now_ms],
        |conn| {
            let core = lock::<D>(conn, *key).await?;
            match leased_attempt::<D>(conn, *key, &core).await? {
                None => Ok(satisfied("no_active_lease")),
                Some(held) => revoke_locked::<D>(conn, *key, request, &held, *now_ms).await,
            }
        },
        |done, wakes| {
            if let (_, Some(event_id)) = done {
                wakes.lease(*event_id, partition_key);
                wakes.queued();
            }
        }
    )?;
    Ok(answer)
}

/// An answer, and the lease event behind it.
type Revocation = (RevokeLeaseResult, Option<i64>);

fn satisfied(reason: &str) -> Revocation {
    (RevokeLeaseResult::AlreadySatisfied { reason: reason.to_owned() }, None)
}

async fn revoke_locked<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    request: &RevokeLeaseArgs,
    held: &attempt::AttemptRunningReadRow,
    now_ms: i64,
) -> Result<Revocation, Abort> {
    let execution_id = key.execution_id;
    let asked = request.worker_instance_id.as_str();
    if !asked.is_empty() && held.worker_instance_id.as_deref() != Some(asked) {
        return Ok(satisfied("different_worker_instance_id"));
    }
    let (prefix, attempt_index, lease_epoch) = (D::REVOKED_LEASE_PREFIX, held.attempt_index, held.lease_epoch);
    let lease_id = format!("{prefix}:{execution_id}:{attempt_index}:{lease_epoch}");
    if request.expected_lease_id.as_deref().is_some_and(|expected| !expected.is_empty() && expected != lease_id) {
        return Ok(satisfied("lease_id_mismatch"));
    }
    let params = operator::OperatorAttemptRevokeParams { execution: key, attempt_index, lease_epoch };
    if conn.operator_attempt_revoke(&params).await? == 0 {
        return Ok(satisfied("epoch_moved"));
    }
    let release = operator::OperatorExecutionReleaseParams { now_ms, execution: key };
    conn.operator_execution_release(&release).await?;
    let event = in_steps!(D: conn.grant_lease_event_insert(&revoked(key, now_ms))).await?;
    let lease_epoch = lease_epoch.next().to_string();
    Ok((RevokeLeaseResult::Revoked { lease_id, lease_epoch }, Some(event.event_id)))
}

/// Sets the priority of an execution that waits to be claimed, kept between 0 and 9,000.
///
/// Precondition: it is runnable and eligible; one that was just submitted is not runnable yet. Effect: a
/// `priority_changed` operator event is written, also when the priority was the same. `lane_id` is not used.
pub(crate) async fn change_priority<D: Dialect>(
    engine: &Engine<D>,
    args: &ChangePriorityArgs,
) -> Result<ChangePriorityResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    let (priority, partition_key) = (args.new_priority.clamp(0, MAX_PRIORITY), key.partition_key);
    let now_ms = engine.given(args.now).0;
    transaction!(
        engine,
        "operator_change_priority",
        [key, priority, now_ms],
        |conn| {
            let core = lock::<D>(conn, *key).await?;
            let params = operator::OperatorPrioritySetParams { priority: *priority, now_ms: *now_ms, execution: *key };
            if conn.operator_priority_set(&params).await? == 0 {
                return Err(Abort::from(EngineError::Contention(ContentionKind::ExecutionNotEligible)));
            }
            let details = json!({ "old_priority": core.priority, "new_priority": priority });
            event::<D>(conn, *key, OperatorWord::PriorityChanged, details, *now_ms).await
        },
        |event_id, wakes| wakes.operator(*event_id, partition_key)
    )?;
    Ok(ChangePriorityResult::Changed { execution_id: args.execution_id.clone() })
}

/// Runs an ended execution again. A member of a flow that was skipped because of its parents waits for them
/// once more; any other is claimable at once.
///
/// Precondition: it is terminal, which a cancelled one is not, and its policy allows one more replay. Effect:
/// what the end left behind is gone, the last attempt is open under its next epoch, and a `replayed` operator
/// event is written.
pub(crate) async fn replay<D: Dialect>(
    engine: &Engine<D>,
    args: &ReplayExecutionArgs,
) -> Result<ReplayExecutionResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    let (now_ms, partition_key) = (engine.given(args.now).0, key.partition_key);
    let (public_state, _) = transaction!(
        engine,
        "operator_replay",
        [key, now_ms],
        |conn| {
            lock_edges::<D>(conn, *key).await?;
            let core = lock::<D>(conn, *key).await?;
            if core.lifecycle_phase != PhaseWord::Terminal {
                return Err(Abort::from(EngineError::State(StateKind::ExecutionNotTerminal)));
            }
            let replays = document::counter(&core.raw_fields, "replay_count");
            if max_replays(core.policy.as_ref()).is_some_and(|max| u64::from(replays) >= max) {
                return Err(Abort::from(EngineError::State(StateKind::MaxReplaysExhausted)));
            }
            replay_locked::<D>(conn, *key, &core, replays, *now_ms).await
        },
        |done, wakes| {
            wakes.operator(done.1, partition_key);
            wakes.queued();
        }
    )?;
    Ok(ReplayExecutionResult::Replayed { public_state })
}

/// How often the policy lets an execution be replayed; as often as one likes where it does not say.
fn max_replays(policy: Option<&Value>) -> Option<u64> {
    policy?.get("max_replay_count")?.as_u64()
}

async fn replay_locked<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    core: &operator::OperatorExecutionLockRow,
    replays: u32,
    now_ms: i64,
) -> Result<(PublicState, i64), Abort> {
    let running = attempt::AttemptRunningReadParams { execution: key };
    let last = conn.attempt_running_read(&running).await?;
    // A member that was skipped before it ever ran has no attempt that could say so.
    let was_skipped = match &last {
        Some(attempt) => attempt.outcome == Some(OutcomeWord::Skipped),
        None => core.public_state == PublicWord::Skipped,
    };
    let parents = core.flow_id.filter(|_| was_skipped);
    let mut details = json!({ "branch": "normal" });
    if let Some(flow_id) = parents {
        let groups = operator::OperatorGroupsResetParams { execution: key, flow_id };
        let groups_reset = conn.operator_groups_reset(&groups).await?;
        let edges = operator::OperatorEdgesReopenParams { execution: key, flow_id };
        conn.operator_edges_reopen(&edges).await?;
        details = json!({ "branch": "skipped_flow_member", "groups_reset": groups_reset });
    }
    let (eligibility_state, public_state, blocking_reason, answer) = match parents {
        None => {
            (EligibilityWord::EligibleNow, PublicWord::Waiting, BlockingWord::WaitingForWorker, PublicState::Waiting)
        }
        Some(_) => (
            EligibilityWord::BlockedByDependencies,
            PublicWord::WaitingChildren,
            BlockingWord::WaitingForChildren,
            PublicState::WaitingChildren,
        ),
    };
    conn.operator_execution_replay(&operator::OperatorExecutionReplayParams {
        eligibility_state,
        public_state,
        blocking_reason,
        now_ms,
        replay_count: i64::from(replays).saturating_add(1),
        execution: key,
    })
    .await?;
    if let Some(last) = last {
        let attempt_index = last.attempt_index;
        let params = operator::OperatorAttemptReopenParams { execution: key, attempt_index };
        conn.operator_attempt_reopen(&params).await?;
    }
    Ok((answer, event::<D>(conn, key, OperatorWord::Replayed, details, now_ms).await?))
}

/// Locks what a replay changes of the graph before the execution itself, as whoever follows an edge does. A member
/// stays in its flow, so the flow is known without a lock.
async fn lock_edges<D: Dialect>(conn: &mut D::Connection, key: ExecKey) -> Result<(), Abort> {
    let found = conn.execution_flow_read(&execution::ExecutionFlowReadParams { execution: key }).await?;
    if let Some(flow_id) = found.and_then(|core| core.flow_id) {
        conn.operator_edges_lock(&operator::OperatorEdgesLockParams { execution: key, flow_id }).await?;
        conn.operator_group_lock(&operator::OperatorGroupLockParams { execution: key, flow_id }).await?;
    }
    Ok(())
}

/// Locks the execution until the transaction ends.
async fn lock<D: Dialect>(conn: &mut D::Connection, key: ExecKey) -> Result<operator::OperatorExecutionLockRow, Abort> {
    let params = operator::OperatorExecutionLockParams { execution: key };
    let found = conn.operator_execution_lock(&params).await?;
    found.ok_or(Abort::from(EngineError::NotFound { entity: "execution" }))
}

/// The running attempt, if its lease is active.
async fn leased_attempt<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    core: &operator::OperatorExecutionLockRow,
) -> Result<Option<attempt::AttemptRunningReadRow>, Abort> {
    let params = attempt::AttemptRunningReadParams { execution: key };
    let running = conn.attempt_running_read(&params).await?;
    Ok(running.filter(|attempt| {
        attempt.worker_instance_id.as_deref().is_some_and(|worker| !worker.is_empty())
            && (core.ownership_state == OwnershipWord::Leased || attempt.lease_expires_at_ms.is_some())
    }))
}

/// The lease event of a lease that an operator took away.
fn revoked(key: ExecKey, now_ms: i64) -> grant::GrantLeaseEventInsertParams {
    grant::GrantLeaseEventInsertParams {
        execution_text: key.text(),
        lease_id: None,
        event_type: LeaseWord::Revoked,
        now_ms,
        execution: key,
    }
}

/// Writes an operator event; answers its id.
async fn event<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    event_type: OperatorWord,
    details: Value,
    now_ms: i64,
) -> Result<i64, Abort> {
    let params =
        operator::OperatorEventInsertParams { execution_text: key.text(), event_type, details, now_ms, execution: key };
    Ok(in_steps!(D: conn.operator_event_insert(&params)).await?.event_id)
}
