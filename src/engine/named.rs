//! What the control plane does with an attempt that it names itself: renews, completes and fails it.
//!
//! Unlike a handle, a caller here says execution, attempt and fence one by one. Only the fence's epoch is
//! compared: attempts that a handle's claim started do not keep the other ids. The attempt must be the running
//! one, so that a worker that lost its execution to the next attempt is told so.
//!
//! Each write is fenced inside its statement; a second read says why nothing was written. Repeating a call that
//! ended an execution finds it no longer active: unlike those of handles, these calls do not answer twice.

use ff_core::contracts::{
    CompleteExecutionArgs, CompleteExecutionResult, FailExecutionArgs, FailExecutionResult, RenewLeaseArgs,
    RenewLeaseResult,
};
use ff_core::engine_error::{ConflictKind, ContentionKind, EngineError, StateKind};
use ff_core::state::PublicState;
use ff_core::types::{AttemptIndex, CancelSource, ExecutionId, LeaseFence, TimestampMs};

use crate::column::{StoredEpoch, StoredIndex};
use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::policy::retry::TypedPolicy;
use crate::metric::End;
use crate::model::document;
use crate::model::given::stored_ms;
use crate::model::id::{ExecKey, exec_key, invalid_input, reject_nul};
use crate::model::word::{AttemptWord, EligibilityWord, OwnershipWord, PhaseWord};
use crate::statements::{attempt, typed};

/// Moves the end of a lease to now plus `args.lease_ttl_ms`.
///
/// Precondition: the fence holds and the time of the lease has not passed. Effect: the new end and a `renewed`
/// event. Repeating it moves the end again.
pub(crate) async fn renew<D: Dialect>(
    engine: &Engine<D>,
    args: &RenewLeaseArgs,
) -> Result<RenewLeaseResult, EngineError> {
    let fence = args.fence.as_ref().ok_or_else(fence_required)?;
    let named = Named::new(&args.execution_id, args.attempt_index)?;
    let (now_ms, lease_epoch) = (engine.now_ms(), StoredEpoch::of_fence(fence.lease_epoch));
    let lease_expires_at_ms = now_ms.saturating_add(stored_ms(args.lease_ttl_ms));
    let params = typed::TypedRenewParams {
        execution: named.key,
        attempt_index: named.attempt_index,
        lease_epoch,
        now_ms,
        execution_text: named.key.text(),
        lease_id: fence.lease_id.to_string(),
        lease_expires_at_ms,
    };
    let partition_key = named.key.partition_key;
    let renewed =
        engine.db().unit_telling(params, move |row, wakes| wakes.lease(row.lease_event_id, partition_key)).await?;
    if renewed.is_some() {
        engine.running().goes_on(named.key.execution_id, args.lease_ttl_ms);
        return Ok(RenewLeaseResult::Renewed { expires_at: TimestampMs::from_millis(lease_expires_at_ms) });
    }
    let seen = Seen::of(engine, &named).await?;
    seen.attempt_refusal(engine, &named, Some(lease_epoch)).await?;
    if seen.lease_expires_at_ms().is_none_or(|expires_at_ms| expires_at_ms <= now_ms) {
        return Err(EngineError::State(StateKind::LeaseExpired));
    }
    Err(stale())
}

/// Ends an attempt and its execution with success.
///
/// Precondition: the fence holds, or the caller overrides it as an operator; the time of the lease has not
/// passed at `args.now`. Effect: the result is stored, a `success` completion and a `revoked` lease event are
/// written.
pub(crate) async fn complete<D: Dialect>(
    engine: &Engine<D>,
    args: &CompleteExecutionArgs,
) -> Result<CompleteExecutionResult, EngineError> {
    let lease_epoch = epoch_or_override(args.fence.as_ref(), &args.source)?;
    let named = Named::new(&args.execution_id, args.attempt_index)?;
    let now_ms = engine.given(args.now).0;
    let params = typed::TypedCompleteParams {
        execution: named.key,
        attempt_index: named.attempt_index,
        lease_epoch,
        now_ms,
        execution_text: named.key.text(),
        lease_id: args.fence.as_ref().map(|fence| fence.lease_id.to_string()),
        result: args.result_payload.clone(),
    };
    let partition_key = named.key.partition_key;
    let done = engine
        .db()
        .unit_telling(params, move |row, wakes| {
            wakes.completion(row.completion_event_id, partition_key);
            wakes.lease(row.lease_event_id, partition_key);
        })
        .await?;
    if done.is_some() {
        engine.ended(named.key.execution_id, End::Completed);
        let execution_id = args.execution_id.clone();
        return Ok(CompleteExecutionResult::Completed { execution_id, public_state: PublicState::Completed });
    }
    Err(Seen::of(engine, &named).await?.completion_refusal(lease_epoch, now_ms))
}

/// Ends an attempt with a failure: the next one may start after the backoff of `args.retry_policy_json`, or the
/// execution ends when that allows no more retries.
///
/// Precondition: the fence holds, or the caller overrides it as an operator; the time of the lease may have
/// passed. Effect: a `revoked` lease event and, when the execution ends, a `failed` completion are written.
pub(crate) async fn fail<D: Dialect>(
    engine: &Engine<D>,
    args: &FailExecutionArgs,
) -> Result<FailExecutionResult, EngineError> {
    let lease_epoch = epoch_or_override(args.fence.as_ref(), &args.source)?;
    let named = Named::new(&args.execution_id, args.attempt_index)?;
    reject_nul("failure_reason", &args.failure_reason)?;
    let policy = TypedPolicy::parse(&args.retry_policy_json)?;
    let seen = Seen::of(engine, &named).await?;
    seen.attempt_refusal(engine, &named, lease_epoch).await?;
    let retries = seen.retries();
    let done = match policy.and_then(|policy| policy.delay_ms(retries)) {
        Some(delay_ms) => retry(engine, &named, args, lease_epoch, retries, delay_ms).await?,
        None => end(engine, &named, args, lease_epoch).await?,
    };
    if let Some(result) = done {
        let is_retried = matches!(result, FailExecutionResult::RetryScheduled { .. });
        engine.ended(named.key.execution_id, if is_retried { End::Retried } else { End::Failed });
        return Ok(result);
    }
    Seen::of(engine, &named).await?.attempt_refusal(engine, &named, lease_epoch).await?;
    Err(stale())
}

async fn end<D: Dialect>(
    engine: &Engine<D>,
    named: &Named,
    args: &FailExecutionArgs,
    lease_epoch: Option<StoredEpoch>,
) -> Result<Option<FailExecutionResult>, EngineError> {
    let params = typed::TypedFailParams {
        execution: named.key,
        attempt_index: named.attempt_index,
        lease_epoch,
        now_ms: engine.now_ms(),
        execution_text: named.key.text(),
        lease_id: args.fence.as_ref().map(|fence| fence.lease_id.to_string()),
        failure_reason: args.failure_reason.clone(),
    };
    let partition_key = named.key.partition_key;
    let done = engine
        .db()
        .unit_telling(params, move |row, wakes| {
            wakes.completion(row.completion_event_id, partition_key);
            wakes.lease(row.lease_event_id, partition_key);
        })
        .await?;
    Ok(done.map(|_| FailExecutionResult::TerminalFailed))
}

async fn retry<D: Dialect>(
    engine: &Engine<D>,
    named: &Named,
    args: &FailExecutionArgs,
    lease_epoch: Option<StoredEpoch>,
    retries: u32,
    delay_ms: i64,
) -> Result<Option<FailExecutionResult>, EngineError> {
    let now_ms = engine.now_ms();
    let retry_at_ms = now_ms.saturating_add(delay_ms);
    let params = typed::TypedRetryParams {
        execution: named.key,
        attempt_index: named.attempt_index,
        lease_epoch,
        now_ms,
        execution_text: named.key.text(),
        lease_id: args.fence.as_ref().map(|fence| fence.lease_id.to_string()),
        failure_reason: args.failure_reason.clone(),
        retry_count: retries.saturating_add(1).to_string(),
        retry_at_ms,
    };
    let partition_key = named.key.partition_key;
    let done =
        engine.db().unit_telling(params, move |row, wakes| wakes.lease(row.lease_event_id, partition_key)).await?;
    Ok(done.map(|_| FailExecutionResult::RetryScheduled {
        delay_until: TimestampMs::from_millis(retry_at_ms),
        next_attempt_index: AttemptIndex::new(args.attempt_index.0.saturating_add(1)),
    }))
}

/// The attempt that a caller names.
pub(crate) struct Named {
    pub(crate) key: ExecKey,
    pub(crate) attempt_index: StoredIndex,
}

impl Named {
    /// Where it is.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` when the id has no place or the index exceeds the narrower of the two columns,
    /// that of Postgres, which both databases keep to.
    fn new(id: &ExecutionId, attempt_index: AttemptIndex) -> Result<Self, EngineError> {
        Ok(Self { key: exec_key(id)?, attempt_index: StoredIndex::before_next("attempt_index", attempt_index)? })
    }
}

/// What a refused call looks at.
pub(crate) struct Seen(Option<typed::TypedReadRow>);

impl Seen {
    /// The execution and the attempt that a caller names.
    pub(crate) async fn of<D: Dialect>(engine: &Engine<D>, named: &Named) -> Result<Self, EngineError> {
        let params = typed::TypedReadParams { execution: named.key, attempt_index: named.attempt_index };
        Ok(Self(engine.db().read(params).await?))
    }

    /// Why a call that asks for the attempt first is refused, as far as that does not depend on time.
    async fn attempt_refusal<D: Dialect>(
        &self,
        engine: &Engine<D>,
        named: &Named,
        lease_epoch: Option<StoredEpoch>,
    ) -> Result<(), EngineError> {
        let Some(core) = &self.0 else {
            return Err(orphan_refusal(engine, named, lease_epoch).await);
        };
        let Some(stored) = core.lease_epoch else {
            return Err(EngineError::NotFound { entity: "attempt" });
        };
        if lease_epoch.is_some_and(|epoch| epoch != stored) {
            return Err(stale());
        }
        if core.ownership_state == OwnershipWord::LeaseRevoked {
            return Err(EngineError::State(StateKind::LeaseRevoked));
        }
        if core.lifecycle_phase != PhaseWord::Active {
            return Err(core.not_active(stored.to_string(), outcome_of(core)));
        }
        Ok(())
    }

    /// Why a completion is refused; it asks for the execution first.
    fn completion_refusal(&self, lease_epoch: Option<StoredEpoch>, now_ms: i64) -> EngineError {
        let Some(core) = &self.0 else {
            return EngineError::NotFound { entity: "execution" };
        };
        if core.ownership_state == OwnershipWord::LeaseRevoked {
            return EngineError::State(StateKind::LeaseRevoked);
        }
        if core.lifecycle_phase != PhaseWord::Active {
            return core.not_active(String::new(), String::new());
        }
        let Some(stored) = core.lease_epoch else {
            return EngineError::NotFound { entity: "attempt" };
        };
        if lease_epoch.is_some_and(|epoch| epoch != stored) {
            return stale();
        }
        if core.lease_expires_at_ms.is_some_and(|expires_at_ms| expires_at_ms <= now_ms) {
            return EngineError::State(StateKind::LeaseExpired);
        }
        stale()
    }

    /// Why the execution may not be claimed, or nothing when only its grant decides.
    pub(crate) fn claim_refusal(&self) -> Option<EngineError> {
        let Some(core) = &self.0 else {
            return Some(EngineError::NotFound { entity: "execution" });
        };
        claim_refusal(
            &ClaimSeen {
                lifecycle_phase: &core.lifecycle_phase,
                ownership_state: &core.ownership_state,
                eligibility_state: &core.eligibility_state,
                attempt_state: &core.attempt_state,
            },
            || core.not_active(String::new(), outcome_of(core)),
        )
    }

    fn lease_expires_at_ms(&self) -> Option<i64> {
        self.0.as_ref().and_then(|core| core.lease_expires_at_ms)
    }

    fn retries(&self) -> u32 {
        self.0.as_ref().map_or(0, |core| document::counter(&core.raw_fields, "retry_count"))
    }
}

/// The states that decide a typed claim.
pub(crate) struct ClaimSeen<'a> {
    pub(crate) lifecycle_phase: &'a PhaseWord,
    pub(crate) ownership_state: &'a OwnershipWord,
    pub(crate) eligibility_state: &'a EligibilityWord,
    pub(crate) attempt_state: &'a AttemptWord,
}

/// Why an execution in these states may not be claimed. A `submitted` one may: nothing else makes it runnable.
pub(crate) fn claim_refusal(seen: &ClaimSeen<'_>, not_active: impl FnOnce() -> EngineError) -> Option<EngineError> {
    if !seen.lifecycle_phase.waits() {
        return Some(not_active());
    }
    if *seen.ownership_state != OwnershipWord::Unowned {
        return Some(EngineError::Contention(ContentionKind::LeaseConflict));
    }
    if !seen.eligibility_state.is_claimable() {
        return Some(EngineError::Contention(ContentionKind::ExecutionNotLeaseable));
    }
    match seen.attempt_state {
        AttemptWord::RunningAttempt => Some(EngineError::Conflict(ConflictKind::ActiveAttemptExists)),
        AttemptWord::AttemptInterrupted => Some(EngineError::Contention(ContentionKind::ExecutionNotLeaseable)),
        _ => None,
    }
}

impl typed::TypedReadRow {
    fn not_active(&self, lease_epoch: String, terminal_outcome: String) -> EngineError {
        not_active(&self.lifecycle_phase, lease_epoch, terminal_outcome, &self.raw_fields)
    }
}

/// The execution is in another phase.
pub(crate) fn not_active(
    lifecycle_phase: &PhaseWord,
    lease_epoch: String,
    terminal_outcome: String,
    raw_fields: &serde_json::Value,
) -> EngineError {
    EngineError::Contention(ContentionKind::ExecutionNotActive {
        terminal_outcome,
        lease_epoch,
        lifecycle_phase: lifecycle_phase.to_string(),
        attempt_id: document::member_text(raw_fields, "current_attempt_id").unwrap_or_default(), // tidy: an absent member reads as empty
    })
}

fn outcome_of(core: &typed::TypedReadRow) -> String {
    document::terminal_outcome(&core.raw_fields)
}

/// An attempt without its execution, or neither.
async fn orphan_refusal<D: Dialect>(
    engine: &Engine<D>,
    named: &Named,
    lease_epoch: Option<StoredEpoch>,
) -> EngineError {
    let params = attempt::AttemptFenceReadParams { execution: named.key, attempt_index: named.attempt_index };
    match engine.db().read(params).await {
        Ok(None) => EngineError::NotFound { entity: "attempt" },
        Ok(Some(held)) if lease_epoch.is_some_and(|epoch| epoch != held.lease_epoch) => stale(),
        Ok(Some(_)) => EngineError::NotFound { entity: "execution" },
        Err(error) => error,
    }
}

fn epoch_or_override(fence: Option<&LeaseFence>, source: &CancelSource) -> Result<Option<StoredEpoch>, EngineError> {
    match fence {
        Some(fence) => Ok(Some(StoredEpoch::of_fence(fence.lease_epoch))),
        None if *source == CancelSource::OperatorOverride => Ok(None),
        None => Err(fence_required()),
    }
}

fn fence_required() -> EngineError {
    invalid_input("fence_required")
}

fn stale() -> EngineError {
    EngineError::State(StateKind::StaleLease)
}
