//! Claims: an execution becomes a worker's, by its place in the queue, by name, or because it resumes.
//!
//! ```text
//!   submitted/runnable, eligible, unowned --claim--> active, leased
//!   submitted/runnable, eligible, unowned --issue_claim_grant--> granted --claim_execution--> active, leased
//!   submitted/runnable, granted to anybody or not ------issue_grant_and_claim-----> active, leased
//!   suspended, resumed ---------------------------claim_from_resume_grant--------> active, leased (next epoch)
//! ```
//!
//! A claim by name starts the attempt that is named, or leases it again on its next epoch, leaves the execution's
//! pointer one past it, and uses up every claim grant of the execution.

use ff_core::backend::{CapabilitySet, ClaimPolicy, Handle, HandleKind, ResumeToken};
use ff_core::contracts::{
    ClaimExecutionArgs, ClaimExecutionResult, ClaimGrantOutcome, ClaimedExecution, IssueGrantAndClaimArgs,
};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::handle_codec::HandlePayload;
use ff_core::state::AttemptType;
use ff_core::types::{AttemptId, AttemptIndex, LaneId, LeaseId, TimestampMs, WorkerInstanceId};
use serde_json::json;

use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::execution;
use crate::engine::give_back::{Answered, Took};
use crate::engine::named::{ClaimSeen, Named, Seen, claim_refusal, not_active};
use crate::engine::policy::give_back::Before;
use crate::model::attempt::{attempt_number, index_before_next, shown_epoch, stored_type};
use crate::model::given::{attempt_policy, stored_ms};
use crate::model::id::{ExecKey, attempt_id, corruption, exec_key, execution_id, reject_nul};
use crate::model::word::{AttemptWord, LeaseWord, OwnershipWord, PhaseWord, PublicWord};
use crate::model::{document, handle, limits};
use crate::statements::{Statements, attempt, execution as execution_rows, grant, lease, typed};

/// Who an operator's lease belongs to.
const OPERATOR: &str = "operator";

/// Leases the best execution of a lane that a worker with these capabilities may run: highest priority
/// first, then oldest. Answers at once, `None` when there is none; `policy.max_wait` is not waited for.
///
/// Precondition: none. Effect: one execution becomes active, its attempt gets a new epoch, an `acquired`
/// event is written. Repeating it claims another execution.
pub(crate) async fn next<D: Dialect>(
    engine: &Engine<D>,
    lane: &LaneId,
    capabilities: &CapabilitySet,
    policy: &ClaimPolicy,
) -> Answered<Option<Handle>> {
    reject_nul("lane_id", lane.as_str())?;
    limits::WORKER_ID.check("worker_id", policy.worker_id.as_str())?;
    reject_nul("worker_instance_id", policy.worker_instance_id.as_str())?;
    for token in &capabilities.tokens {
        reject_nul("capabilities", token)?;
    }
    let nothing_is_due = execution::promote_due_sometimes(engine).await?;
    let claimed = claim_now(engine, lane, capabilities, policy).await?;
    if claimed.0.is_some() || nothing_is_due || execution::promote_due(engine).await? == 0 {
        return Ok(claimed);
    }
    claim_now(engine, lane, capabilities, policy).await
}

async fn claim_now<D: Dialect>(
    engine: &Engine<D>,
    lane: &LaneId,
    capabilities: &CapabilitySet,
    policy: &ClaimPolicy,
) -> Answered<Option<Handle>> {
    let now_ms = engine.now_ms();
    let lease_id = LeaseId::new();
    let params = lease::LeaseClaimParams {
        lane_id: lane.as_str().to_owned(),
        capabilities: capabilities.tokens.clone(),
        lease_id: lease_id.to_string(),
        now_ms,
        worker_id: policy.worker_id.as_str().to_owned(),
        worker_instance_id: policy.worker_instance_id.as_str().to_owned(),
        lease_expires_at_ms: now_ms.saturating_add(i64::from(policy.lease_ttl_ms)),
    };
    let claimed = engine
        .db()
        .combined_telling(params, move |row, wakes| wakes.lease(row.lease_event_id, row.partition_key))
        .await?;
    let Some(row) = claimed else {
        return Ok((None, None));
    };
    let key = ExecKey { partition_key: row.partition_key, execution_id: row.execution_id };
    let grant = Granted {
        kind: HandleKind::Fresh,
        attempt_index: row.attempt_index,
        attempt_id: attempt_id(key.execution_id, row.attempt_index),
        lease_id,
        lease_epoch: row.lease_epoch,
        lease_ttl_ms: u64::from(policy.lease_ttl_ms),
        lane_id: lane.clone(),
        worker_instance_id: policy.worker_instance_id.clone(),
    };
    let took = grant.took(key, Before::Queue);
    Ok((Some(grant.handle::<D>(key)?), Some(took)))
}

/// What a handle is made of once a lease was taken.
pub(crate) struct Granted {
    pub(crate) kind: HandleKind,
    pub(crate) attempt_index: i32,
    pub(crate) attempt_id: AttemptId,
    pub(crate) lease_id: LeaseId,
    pub(crate) lease_epoch: i64,
    pub(crate) lease_ttl_ms: u64,
    pub(crate) lane_id: LaneId,
    pub(crate) worker_instance_id: WorkerInstanceId,
}

impl Granted {
    /// What was taken from there, for the case that nobody takes the handle.
    pub(crate) fn took(&self, key: ExecKey, before: Before) -> Took {
        let (attempt_index, lease_epoch, lease_id) = (self.attempt_index, self.lease_epoch, self.lease_id.clone());
        Took::Lease { key, attempt_index, lease_epoch, lease_id, before }
    }

    /// The handle.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` when the row's key makes no id, `Validation(Corruption)` when its attempt
    /// index is negative. A negative epoch reads as 0.
    pub(crate) fn handle<D: Dialect>(self, key: ExecKey) -> Result<Handle, EngineError> {
        let payload = HandlePayload::new(
            execution_id(key.partition_key, key.execution_id)?,
            AttemptIndex::new(attempt_number(self.attempt_index)?),
            self.attempt_id,
            self.lease_id,
            shown_epoch(self.lease_epoch),
            self.lease_ttl_ms,
            self.lane_id,
            self.worker_instance_id,
        );
        Ok(handle::encode(D::TAG, self.kind, &payload))
    }
}

/// Uses the claim grant of an execution.
///
/// Precondition: the execution is eligible and unowned, and its newest claim grant is this worker's and has not
/// expired at `args.now`. Effect: the attempt that `args` expects starts on epoch 1, or goes on with its next
/// epoch when it ran before; every claim grant is used up; an `acquired` event is written. The handle in the
/// answer is good for every operation on handles. Repeating it finds the execution active.
pub(crate) async fn by_grant<D: Dialect>(
    engine: &Engine<D>,
    args: &ClaimExecutionArgs,
) -> Answered<ClaimExecutionResult> {
    let key = exec_key(&args.execution_id)?;
    let attempt_index = index_before_next("expected_attempt_index", args.expected_attempt_index)?;
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
    let claimed =
        engine.db().unit_telling(params, move |row, wakes| wakes.lease(row.lease_event_id, partition_key)).await?;
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
    let attempt_type = stored_type(&row.attempt_type);
    let took = granted.took(key, Before::ToStart(attempt_type));
    let claimed = ClaimedExecution::new(
        args.execution_id.clone(),
        args.lease_id.clone(),
        shown_epoch(row.lease_epoch),
        args.expected_attempt_index,
        args.attempt_id.clone(),
        attempt_type,
        TimestampMs::from_millis(lease_expires_at_ms),
        granted.handle::<D>(key)?,
    );
    Ok((ClaimExecutionResult::Claimed(claimed), Some(took)))
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
    let newest = engine.db().read(params).await?;
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
    let outcome =
        ClaimGrantOutcome::new(lease_id, shown_epoch(lease_epoch), AttemptIndex::new(attempt_number(attempt_index)?));
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
    let (attempt_index, attempt_pointer, lease_epoch, before) = if core.attempt_state == AttemptWord::AttemptInterrupted
    {
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
        (core.attempt_index, next, lease_epoch, Before::ToStart(attempt_type))
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
            event_type: LeaseWord::Acquired,
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
    if !core.ownership_state.is_free() {
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
    attempt_type: AttemptType,
) -> Result<i64, Abort> {
    let params = typed::TypedAttemptTakeParams {
        partition_key: take.key.partition_key,
        execution_id: take.key.execution_id,
        attempt_index,
        worker: OPERATOR.to_owned(),
        lease_expires_at_ms: take.lease_expires_at_ms,
        now_ms: take.now_ms,
        attempt_fields: json!({
            "attempt_type": attempt_type,
            "attempt_id": take.attempt_id.to_string(),
            "lease_id": take.lease_id.to_string(),
        }),
    };
    Ok(conn.typed_attempt_take(&params).await?.lease_epoch)
}

impl typed::TypedLockRow {
    /// What the attempt that is to start is.
    fn attempt_type(&self) -> Result<AttemptType, EngineError> {
        let state = &self.attempt_state;
        state.to_start().ok_or_else(|| corruption(format!("issue_grant_and_claim: unrecognized attempt_state={state}")))
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

/// Leases the newest attempt of an execution again for the worker that resumes it. `None` when the execution
/// has ended or somebody holds a live lease.
///
/// Precondition: the execution was claimed before. Effect: the attempt gets its next epoch, the execution
/// becomes active, a `reclaimed` event is written. Repeating it answers `None` while the new lease is live.
pub(crate) async fn by_resume_grant<D: Dialect>(engine: &Engine<D>, token: &ResumeToken) -> Answered<Option<Handle>> {
    let key = exec_key(&token.grant.execution_id)?;
    limits::WORKER_ID.check("worker_id", token.worker_id.as_str())?;
    reject_nul("worker_instance_id", token.worker_instance_id.as_str())?;
    let now_ms = engine.now_ms();
    let lease_id = LeaseId::new();
    let resuming = Resuming { key, now_ms, lease_id: lease_id.clone(), token: token.clone() };
    let seated = transaction!(
        engine,
        "lease_reseat",
        [resuming],
        |conn| { reseat_on::<D>(conn, resuming).await },
        |seated, wakes| {
            if let Some(seated) = seated {
                wakes.lease(seated.row.lease_event_id, key.partition_key);
            }
        }
    )?;
    let Some(Seated { attempt_index, before, row }) = seated else {
        return Ok((None, None));
    };
    let granted = Granted {
        kind: HandleKind::Resumed,
        attempt_index,
        attempt_id: attempt_id(key.execution_id, attempt_index),
        lease_id,
        lease_epoch: row.lease_epoch,
        lease_ttl_ms: u64::from(token.lease_ttl_ms),
        lane_id: token.grant.lane_id.clone(),
        worker_instance_id: token.worker_instance_id.clone(),
    };
    let took = granted.took(key, before);
    Ok((Some(granted.handle::<D>(key)?), Some(took)))
}

struct Resuming {
    key: ExecKey,
    now_ms: i64,
    lease_id: LeaseId,
    token: ResumeToken,
}

/// An attempt that was leased again, and how its execution stood before.
struct Seated {
    attempt_index: i32,
    before: Before,
    row: lease::LeaseReseatRow,
}

/// Leases the newest attempt again and says which it is. The execution is locked first: which attempt is the newest
/// is known only when nobody can begin another one.
async fn reseat_on<D: Dialect>(conn: &mut D::Connection, resuming: &Resuming) -> Result<Option<Seated>, Abort> {
    let Resuming { key, now_ms, lease_id, token } = resuming;
    let ExecKey { partition_key, execution_id } = *key;
    conn.execution_lock(&execution_rows::ExecutionLockParams { partition_key, execution_id }).await?;
    let newest = conn.lease_newest_read(&lease::LeaseNewestReadParams { partition_key, execution_id }).await?;
    let Some(newest) = newest else {
        return Err(Abort::from(EngineError::NotFound { entity: "attempt" }));
    };
    let params = lease::LeaseReseatParams {
        partition_key,
        execution_id,
        attempt_index: newest.attempt_index,
        lease_epoch: newest.lease_epoch,
        execution_text: key.text(),
        lease_id: lease_id.to_string(),
        now_ms: *now_ms,
        worker_id: token.worker_id.as_str().to_owned(),
        worker_instance_id: token.worker_instance_id.as_str().to_owned(),
        lease_expires_at_ms: now_ms.saturating_add(i64::from(token.lease_ttl_ms)),
    };
    let state = execution_rows::ExecutionStateReadParams { partition_key, execution_id };
    let is_resumable =
        conn.execution_state_read(&state).await?.is_some_and(|row| row.public_state == PublicWord::Resumable);
    let before = if is_resumable { Before::Resumable } else { Before::Interrupted };
    let seated = conn.lease_reseat(&params).await?;
    Ok(seated.map(|row| Seated { attempt_index: newest.attempt_index, before, row }))
}
