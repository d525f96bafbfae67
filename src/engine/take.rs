//! Taking an execution by name: a worker that was granted it, or an operator.
//!
//! ```text
//!   submitted/runnable, eligible, unowned --issue_claim_grant--> granted --claim_execution--> active, leased
//!   submitted/runnable, granted to anybody or not ------issue_grant_and_claim-----> active, leased
//! ```
//!
//! Both start the attempt that is named, or lease it again on its next epoch, and leave the execution's pointer
//! one past it. Both use up every claim grant of the execution.

use ff_core::backend::HandleKind;
use ff_core::contracts::{
    ClaimExecutionArgs, ClaimExecutionResult, ClaimGrantOutcome, ClaimedExecution, IssueGrantAndClaimArgs,
};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::state::AttemptType;
use ff_core::types::{AttemptId, AttemptIndex, LeaseEpoch, LeaseId, TimestampMs};
use serde_json::json;

use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::execution;
use crate::engine::give_back::{Answered, Took};
use crate::engine::lease::{Granted, attempt_number};
use crate::engine::policy::give_back::Before;
use crate::engine::reclaim::attempt_policy;
use crate::engine::typed::{ClaimSeen, Named, Seen, claim_refusal, column_index, not_active};
use crate::model::document;
use crate::model::given::stored_ms;
use crate::model::id::{ExecKey, corruption, exec_key, reject_nul};
use crate::model::limits;
use crate::model::word::{AttemptTypeWord, AttemptWord, LeaseWord, OwnershipWord, PhaseWord};
use crate::statements::{Statements, attempt, execution as execution_rows, grant, typed};

/// Who an operator's lease belongs to.
const OPERATOR: &str = "operator";

/// Uses the claim grant of an execution.
///
/// Precondition: the execution is eligible and unowned, and its newest claim grant is this worker's and has not
/// expired at `args.now`. Effect: the attempt that `args` expects starts on epoch 1, or goes on with its next
/// epoch when it ran before; every claim grant is used up; an `acquired` event is written. The handle in the
/// answer is good for every operation on handles. Repeating it finds the execution active.
pub(crate) async fn claim<D: Dialect>(engine: &Engine<D>, args: &ClaimExecutionArgs) -> Answered<ClaimExecutionResult> {
    let key = exec_key(&args.execution_id)?;
    let attempt_index = column_index("expected_attempt_index", args.expected_attempt_index)?;
    limits::WORKER_ID.check("worker_id", args.worker_id.as_str())?;
    reject_nul("worker_instance_id", args.worker_instance_id.as_str())?;
    let now_ms = args.now.0;
    let lease_expires_at_ms = now_ms.saturating_add(stored_ms(args.lease_ttl_ms));
    let params = typed::TypedClaimParams {
        partition_key: key.partition_key,
        execution_id: key.execution_id,
        worker_id: args.worker_id.as_str().to_owned(),
        now_ms,
        execution_text: key.text(),
        lease_id: args.lease_id.to_string(),
        attempt_index,
        worker_instance_id: args.worker_instance_id.as_str().to_owned(),
        lease_expires_at_ms,
        policy: attempt_policy(&args.attempt_policy_json)?,
        attempt_id: args.attempt_id.to_string(),
        deadline_at_ms: args.execution_deadline_at,
    };
    let partition_key = key.partition_key;
    let again = params.clone();
    let claimed = unit!(engine, typed_claim, params, |row, wakes| wakes.lease(row.lease_event_id, partition_key))?;
    let row = match claimed {
        Some(row) => row,
        None => claim_again(engine, args, key, again).await?,
    };
    let granted = Granted {
        kind: HandleKind::Fresh,
        attempt_index,
        attempt_id: args.attempt_id.clone(),
        lease_id: args.lease_id.clone(),
        lease_epoch: row.lease_epoch,
        lease_ttl_ms: args.lease_ttl_ms,
        lane_id: args.lane_id.clone(),
        worker_instance_id: args.worker_instance_id.clone(),
    };
    let took = granted.took(key, Before::ToStart(AttemptTypeWord::stored(&row.attempt_type).before_start()));
    let claimed = ClaimedExecution::new(
        args.execution_id.clone(),
        args.lease_id.clone(),
        LeaseEpoch::new(row.lease_epoch.max(0).unsigned_abs()),
        args.expected_attempt_index,
        args.attempt_id.clone(),
        attempt_type(&row.attempt_type),
        TimestampMs::from_millis(lease_expires_at_ms),
        granted.handle::<D>(key)?,
    );
    Ok((ClaimExecutionResult::Claimed(claimed), Some(took)))
}

fn attempt_type(stored: &str) -> AttemptType {
    match AttemptTypeWord::stored(stored) {
        AttemptTypeWord::Retry => AttemptType::Retry,
        AttemptTypeWord::Replay => AttemptType::Replay,
        AttemptTypeWord::Initial => AttemptType::Initial,
    }
}

/// Says why a claim was refused, or makes it when nothing speaks against it by now: whoever held the execution gave this
/// worker another grant, which the claim that waited for the execution did not see.
async fn claim_again<D: Dialect>(
    engine: &Engine<D>,
    args: &ClaimExecutionArgs,
    key: ExecKey,
    params: typed::TypedClaimParams,
) -> Result<typed::TypedClaimRow, EngineError> {
    let attempt_index = params.attempt_index;
    claim_refused(engine, args, key, attempt_index).await?;
    let ExecKey { partition_key, execution_id } = key;
    let lock = execution_rows::ExecutionLockParams { partition_key, execution_id };
    let claimed = transaction!(
        engine,
        "typed_claim_again",
        [lock, params],
        |conn| {
            conn.execution_lock(lock).await?;
            Ok(conn.typed_claim(params).await?)
        },
        |row, wakes| {
            if let Some(row) = row {
                wakes.lease(row.lease_event_id, partition_key);
            }
        }
    )?;
    if let Some(row) = claimed {
        return Ok(row);
    }
    claim_refused(engine, args, key, attempt_index).await?;
    Err(EngineError::Contention(ContentionKind::LeaseConflict))
}

/// Answers with an error when something speaks against a claim.
async fn claim_refused<D: Dialect>(
    engine: &Engine<D>,
    args: &ClaimExecutionArgs,
    key: ExecKey,
    attempt_index: i32,
) -> Result<(), EngineError> {
    if let Some(refusal) = Seen::of(engine, &Named { key, attempt_index }).await?.claim_refusal() {
        return Err(refusal);
    }
    let params = typed::TypedGrantNewestParams { partition_key: key.partition_key, execution_id: key.execution_id };
    let newest = read!(engine, typed_grant_newest, params)?;
    let Some(held) = newest.filter(|held| held.worker_id == args.worker_id.as_str()) else {
        return Err(EngineError::Contention(ContentionKind::InvalidClaimGrant));
    };
    if held.expires_at_ms > 0 && held.expires_at_ms < args.now.0 {
        return Err(EngineError::Contention(ContentionKind::ClaimGrantExpired));
    }
    Ok(())
}

/// Grants an operator an execution and claims it, in one transaction: no grant is left behind, whatever happens.
///
/// Precondition: the execution is unowned and eligible, granted to a worker or not; one whose attempt was
/// interrupted is resumed instead, whatever its eligibility. Effect: the lease belongs to the worker `operator`;
/// an `acquired` event is written. Repeating it finds the execution active.
pub(crate) async fn grant_and_claim<D: Dialect>(
    engine: &Engine<D>,
    args: &IssueGrantAndClaimArgs,
) -> Answered<ClaimGrantOutcome> {
    let key = exec_key(&args.execution_id)?;
    execution::promote_due_sometimes(engine).await?;
    let now_ms = engine.now_ms();
    let lease_expires_at_ms = now_ms.saturating_add(stored_ms(args.lease_duration_ms));
    let take = Take { key, now_ms, lease_expires_at_ms, lease_id: LeaseId::new(), attempt_id: AttemptId::new() };
    let lease_id = take.lease_id.clone();
    let partition_key = key.partition_key;
    let taken = transaction!(
        engine,
        "typed_grant_and_claim",
        [take],
        |conn| { take_on::<D>(conn, take).await },
        |taken, wakes| wakes.lease(taken.lease_event_id, partition_key)
    )?;
    let Taken { attempt_index, lease_epoch, before, .. } = taken;
    let took = Took::Lease { key, attempt_index, lease_epoch, lease_id: lease_id.clone(), before };
    let outcome = ClaimGrantOutcome::new(
        lease_id,
        LeaseEpoch::new(lease_epoch.max(0).unsigned_abs()),
        AttemptIndex::new(attempt_number(attempt_index)?),
    );
    Ok((outcome, Some(took)))
}

struct Take {
    key: ExecKey,
    now_ms: i64,
    lease_expires_at_ms: i64,
    lease_id: LeaseId,
    attempt_id: AttemptId,
}

struct Taken {
    attempt_index: i32,
    lease_epoch: i64,
    lease_event_id: i64,
    before: Before,
}

async fn take_on<D: Dialect>(conn: &mut D::Connection, take: &Take) -> Result<Taken, Abort> {
    let key = take.key;
    let lock = typed::TypedLockParams { partition_key: key.partition_key, execution_id: key.execution_id };
    let Some(core) = conn.typed_lock(&lock).await? else {
        return Err(Abort::from(EngineError::NotFound { entity: "execution" }));
    };
    let (attempt_index, attempt_pointer, lease_epoch, before) = if core.attempt_state == AttemptWord::Interrupted {
        if let Some(refusal) = resume_refusal(&core) {
            return Err(Abort::from(refusal));
        }
        let (attempt_index, lease_epoch) = resume::<D>(conn, take).await?;
        let before =
            if core.ownership_state == OwnershipWord::Released { Before::Resumable } else { Before::Interrupted };
        (attempt_index, core.attempt_index, lease_epoch, before)
    } else {
        if let Some(refusal) = core.refusal() {
            return Err(Abort::from(refusal));
        }
        let next = core.attempt_index.checked_add(1);
        let next = next.ok_or_else(|| corruption(format!("attempt_index is {}", core.attempt_index)))?;
        let attempt_type = core.attempt_type()?;
        let lease_epoch = start::<D>(conn, take, core.attempt_index, attempt_type).await?;
        (core.attempt_index, next, lease_epoch, Before::ToStart(attempt_type.before_start()))
    };
    let worker = OPERATOR.to_owned();
    conn.typed_execution_take(&typed::TypedExecutionTakeParams {
        attempt_pointer,
        now_ms: take.now_ms,
        attempt_id: take.attempt_id.to_string(),
        lease_id: take.lease_id.to_string(),
        worker,
        partition_key: key.partition_key,
        execution_id: key.execution_id,
    })
    .await?;
    let all = typed::TypedGrantDeleteAllParams { partition_key: key.partition_key, execution_id: key.execution_id };
    conn.typed_grant_delete_all(&all).await?;
    let event = conn
        .grant_lease_event_insert(&grant::GrantLeaseEventInsertParams {
            execution_text: key.text(),
            lease_id: Some(take.lease_id.to_string()),
            event_type: LeaseWord::Acquired.into(),
            now_ms: take.now_ms,
            partition_key: key.partition_key,
            execution_id: key.execution_id,
        })
        .await?;
    Ok(Taken { attempt_index, lease_epoch, lease_event_id: event.event_id, before })
}

/// Why an interrupted attempt may not be resumed: its execution has to be free.
fn resume_refusal(core: &typed::TypedLockRow) -> Option<EngineError> {
    if core.lifecycle_phase != PhaseWord::Runnable {
        return Some(core.not_active());
    }
    if !OwnershipWord::is_free(&core.ownership_state) {
        return Some(EngineError::Contention(ContentionKind::LeaseConflict));
    }
    None
}

async fn resume<D: Dialect>(conn: &mut D::Connection, take: &Take) -> Result<(i32, i64), Abort> {
    let key = take.key;
    let running =
        attempt::AttemptRunningReadParams { partition_key: key.partition_key, execution_id: key.execution_id };
    let missing = || Abort::from(EngineError::NotFound { entity: "attempt" });
    let attempt_index = conn.attempt_running_read(&running).await?.ok_or_else(missing)?.attempt_index;
    let params = typed::TypedAttemptResumeParams {
        worker: OPERATOR.to_owned(),
        lease_expires_at_ms: take.lease_expires_at_ms,
        now_ms: take.now_ms,
        attempt_id: take.attempt_id.to_string(),
        lease_id: take.lease_id.to_string(),
        partition_key: key.partition_key,
        execution_id: key.execution_id,
        attempt_index,
    };
    let resumed = conn.typed_attempt_resume(&params).await?.ok_or_else(missing)?;
    Ok((attempt_index, resumed.lease_epoch))
}

async fn start<D: Dialect>(
    conn: &mut D::Connection,
    take: &Take,
    attempt_index: i32,
    attempt_type: AttemptTypeWord,
) -> Result<i64, Abort> {
    let params = typed::TypedAttemptTakeParams {
        partition_key: take.key.partition_key,
        execution_id: take.key.execution_id,
        attempt_index,
        worker: OPERATOR.to_owned(),
        lease_expires_at_ms: take.lease_expires_at_ms,
        now_ms: take.now_ms,
        attempt_fields: json!({
            "attempt_type": attempt_type.as_str(),
            "attempt_id": take.attempt_id.to_string(),
            "lease_id": take.lease_id.to_string(),
        }),
    };
    Ok(conn.typed_attempt_take(&params).await?.lease_epoch)
}

impl typed::TypedLockRow {
    /// What the attempt that is to start is.
    fn attempt_type(&self) -> Result<AttemptTypeWord, EngineError> {
        let state = &self.attempt_state;
        AttemptWord::to_start(state)
            .ok_or_else(|| corruption(format!("issue_grant_and_claim: unrecognized attempt_state={state}")))
    }

    fn refusal(&self) -> Option<EngineError> {
        let seen = ClaimSeen {
            lifecycle_phase: &self.lifecycle_phase,
            ownership_state: &self.ownership_state,
            eligibility_state: &self.eligibility_state,
            attempt_state: &self.attempt_state,
        };
        claim_refusal(&seen, || self.not_active())
    }

    fn not_active(&self) -> EngineError {
        let outcome = document::terminal_outcome(&self.raw_fields);
        not_active(&self.lifecycle_phase, String::new(), outcome, &self.raw_fields)
    }
}
