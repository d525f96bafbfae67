//! What the holder of a lease does with its attempt: reports progress, ends it, interrupts it.
//!
//! Every write is fenced inside its statement: the handle's epoch must be the attempt's, the attempt must
//! be the running one, the execution must be active. When a statement changed nothing, a second read says
//! why. A handle whose attempt already ended the same way gets the same answer again and writes nothing;
//! every other handle that lost its lease gets `Contention(LeaseConflict)`.

use ff_core::backend::{FailOutcome, FailureClass, FailureReason, Handle};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::types::{AttemptId, TimestampMs};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::group::Awaited;
use crate::engine::policy::retry::{AfterFailure, after_failure, may_retry};
use crate::metric::End;
use crate::model::document;
use crate::model::handle::{self, Held};
use crate::model::id::GroupKey;
use crate::model::id::{ExecKey, invalid_input, reject_nul};
use crate::model::word::{EligibilityWord, OutcomeWord, PhaseWord, PublicWord};
use crate::statements::{Statements, attempt, execution, pause, retry};

/// Merges progress into the execution's document; what is not given stays as it is.
///
/// Precondition: the handle holds the lease. Repeating it writes the same members again.
pub(crate) async fn progress<D: Dialect>(
    engine: &Engine<D>,
    handle: &Handle,
    percent: Option<u8>,
    message: Option<String>,
) -> Result<(), EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    let mut changed = Map::new();
    if let Some(percent) = percent {
        changed.insert("progress_pct".to_owned(), percent.into());
    }
    if let Some(message) = message {
        reject_nul("progress message", &message)?;
        changed.insert("progress_message".to_owned(), message.into());
    }
    let params = attempt::AttemptProgressParams {
        execution: held.key,
        attempt_index: held.attempt_index,
        lease_epoch: held.lease_epoch,
        changed_fields: Value::Object(changed),
    };
    match engine.db().unit(params).await? {
        Some(_) => Ok(()),
        None => Err(refusal(engine, &held).await),
    }
}

/// Ends the attempt and its execution with success.
///
/// Precondition: the handle holds the lease. Effect: the result is stored, a `success` completion and a
/// `revoked` lease event are written. Repeating it with the same result answers the same, writing nothing.
pub(crate) async fn complete<D: Dialect>(
    engine: &Engine<D>,
    handle: &Handle,
    result: Option<Vec<u8>>,
) -> Result<(), EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    let partition_key = held.key.partition_key;
    let params = fenced!(attempt::AttemptCompleteParams, held, engine.now_ms(), result: result.clone());
    let done = engine
        .db()
        .combined_telling(params, move |row, wakes| {
            wakes.member_completion(row.completion_event_id, partition_key, row.flow_id);
            wakes.lease(row.lease_event_id, partition_key);
        })
        .await?;
    if done.is_some() {
        engine.ended(held.key.execution_id, End::Completed);
        return Ok(());
    }
    let seen = seen(engine, &held).await?;
    if seen.ended_as(&held, OutcomeWord::Success) && seen.result == result {
        return Ok(());
    }
    Err(lost())
}

/// Ends the attempt with a failure: the execution is tried again when the class and its retry policy
/// allow that, at once or after the policy's backoff, and ends otherwise. Without a policy it is tried again as often
/// as the engine's limit allows.
///
/// Precondition: the handle holds the lease. Effect: a `revoked` lease event and, when the execution ends,
/// a `failed` completion are written. Repeating it answers the same, writing nothing.
pub(crate) async fn fail<D: Dialect>(
    engine: &Engine<D>,
    handle: &Handle,
    reason: &FailureReason,
    class: FailureClass,
) -> Result<FailOutcome, EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    reject_nul("failure message", &reason.message)?;
    if !may_retry(class) {
        return fail_for_good(engine, &held, reason, false).await;
    }
    let params = retry::RetryPolicyReadParams { execution: held.key };
    let (policy, retries) = match engine.db().read(params).await? {
        Some(row) => (row.policy, document::counter(&row.raw_fields, "retry_count")),
        None => (None, 0),
    };
    let (random, _) = Uuid::new_v4().as_u64_pair();
    match after_failure(policy.as_ref(), retries, random, |failures| engine.limit().is_reached(failures)) {
        AfterFailure::Ends => fail_for_good(engine, &held, reason, true).await,
        AfterFailure::RetriesNow => retry_now(engine, &held, reason, retries).await,
        AfterFailure::RetriesAfterMs(delay_ms) => retry_later(engine, &held, reason, retries, delay_ms).await,
    }
}

async fn fail_for_good<D: Dialect>(
    engine: &Engine<D>,
    held: &Held,
    reason: &FailureReason,
    may_retry: bool,
) -> Result<FailOutcome, EngineError> {
    let params = fenced!(attempt::AttemptFailParams, held, engine.now_ms(), failure_message: reason.message.clone());
    let partition_key = held.key.partition_key;
    let done = engine
        .db()
        .combined_telling(params, move |row, wakes| {
            wakes.member_completion(row.completion_event_id, partition_key, row.flow_id);
            wakes.lease(row.lease_event_id, partition_key);
        })
        .await?;
    match done {
        Some(_) => {
            engine.ended(held.key.execution_id, End::Failed);
            Ok(FailOutcome::TerminalFailed)
        }
        None => failed_before(engine, held, may_retry).await,
    }
}

async fn retry_now<D: Dialect>(
    engine: &Engine<D>,
    held: &Held,
    reason: &FailureReason,
    retries: u32,
) -> Result<FailOutcome, EngineError> {
    let now_ms = engine.now_ms();
    let params = fenced!(
        retry::RetryNowParams, held, now_ms,
        failure_message: reason.message.clone(),
        retry_count: retries.saturating_add(1).to_string(),
    );
    let partition_key = held.key.partition_key;
    let done = engine
        .db()
        .unit_telling(params, move |row, wakes| {
            wakes.lease(row.lease_event_id, partition_key);
            wakes.queued();
        })
        .await?;
    match done {
        Some(_) => {
            engine.ended(held.key.execution_id, End::Retried);
            Ok(FailOutcome::RetryScheduled { delay_until: TimestampMs::from_millis(now_ms) })
        }
        None => failed_before(engine, held, true).await,
    }
}

async fn retry_later<D: Dialect>(
    engine: &Engine<D>,
    held: &Held,
    reason: &FailureReason,
    retries: u32,
    delay_ms: i64,
) -> Result<FailOutcome, EngineError> {
    let now_ms = engine.now_ms();
    let retry_at_ms = now_ms.saturating_add(delay_ms);
    let params = fenced!(
        retry::RetryLaterParams, held, now_ms,
        failure_message: reason.message.clone(),
        retry_count: retries.saturating_add(1).to_string(),
        retry_at_ms: retry_at_ms,
    );
    let partition_key = held.key.partition_key;
    let done =
        engine.db().unit_telling(params, move |row, wakes| wakes.lease(row.lease_event_id, partition_key)).await?;
    match done {
        Some(_) => {
            engine.ended(held.key.execution_id, End::Retried);
            Ok(FailOutcome::RetryScheduled { delay_until: TimestampMs::from_millis(retry_at_ms) })
        }
        None => failed_before(engine, held, true).await,
    }
}

/// The first answer again, when this attempt already failed under this handle. A failure that may not be
/// tried again is no repetition of one that was.
async fn failed_before<D: Dialect>(
    engine: &Engine<D>,
    held: &Held,
    may_retry: bool,
) -> Result<FailOutcome, EngineError> {
    let seen = seen(engine, held).await?;
    if seen.ended_as(held, OutcomeWord::Failed) {
        return Ok(FailOutcome::TerminalFailed);
    }
    if !may_retry || !seen.ended_as(held, OutcomeWord::Retry) {
        return Err(lost());
    }
    let retry_at_ms = seen.attempt_fields.get("retry_at_ms").and_then(Value::as_i64);
    let delay_until = retry_at_ms.or(seen.attempt_terminal_at_ms).ok_or_else(lost)?;
    Ok(FailOutcome::RetryScheduled { delay_until: TimestampMs::from_millis(delay_until) })
}

/// Cancels the execution for its worker.
///
/// Precondition: the execution has not ended, and no other lease took over; one that was never claimed has
/// no lease to lose. Effect: a `cancelled` completion and, when there is an attempt, a `revoked` lease event
/// are written. Repeating it answers Ok and writes nothing.
pub(crate) async fn cancel<D: Dialect>(engine: &Engine<D>, handle: &Handle, reason: &str) -> Result<(), EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    reject_nul("reason", reason)?;
    let lock = execution::ExecutionLockParams { execution: held.key };
    let id = held.payload.execution_id.to_string();
    let params = fenced!(attempt::AttemptCancelParams, held, engine.now_ms(), reason: reason.to_owned());
    let partition_key = held.key.partition_key;
    transaction!(
        engine,
        "attempt_cancel",
        [lock, params, id],
        |conn| {
            let Some(row) = conn.execution_lock(lock).await? else {
                let detail = format!("cancel: execution_id={id}: row not found on partition_key={partition_key}");
                return Err(Abort::from(invalid_input(detail)));
            };
            if row.lifecycle_phase == PhaseWord::Cancelled
                || (row.lifecycle_phase.has_ended() && row.public_state == PublicWord::Cancelled)
            {
                return Ok(None);
            }
            if row.lifecycle_phase.has_ended() {
                let detail = format!("cancel: execution_id={id}: already terminal in state '{}'", row.public_state);
                return Err(Abort::from(invalid_input(detail)));
            }
            match in_steps!(D: conn.attempt_cancel(params)).await? {
                Some(row) => Ok(Some(row)),
                None => Err(Abort::from(lost())),
            }
        },
        |done, wakes| {
            if let Some(row) = done {
                wakes.member_completion(row.completion_event_id, partition_key, row.flow_id);
                if let Some(event_id) = row.lease_event_id {
                    wakes.lease(event_id, partition_key);
                }
            }
        }
    )?;
    engine.ended(held.key.execution_id, End::Other);
    Ok(())
}

/// Interrupts the attempt until a time; the same attempt then continues with the next epoch.
///
/// Precondition: the handle holds the lease. Effect: the execution is delayed, a `revoked` lease event is
/// written. Repeating it with the same time answers the same, writing nothing.
pub(crate) async fn delay<D: Dialect>(
    engine: &Engine<D>,
    handle: &Handle,
    delay_until: TimestampMs,
) -> Result<(), EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    let params = fenced!(pause::PauseUntilParams, held, engine.now_ms(), delay_until_ms: delay_until.0);
    let partition_key = held.key.partition_key;
    let done =
        engine.db().unit_telling(params, move |row, wakes| wakes.lease(row.lease_event_id, partition_key)).await?;
    if done.is_some() {
        engine.ended(held.key.execution_id, End::Other);
        return Ok(());
    }
    let seen = seen(engine, &held).await?;
    let still_delayed = seen.eligibility_state == Some(EligibilityWord::NotEligibleUntilTime);
    let same_time = !still_delayed || seen.deadline_at_ms == Some(delay_until.0);
    if seen.ended_as(&held, OutcomeWord::Interrupted) && same_time {
        return Ok(());
    }
    Err(lost())
}

/// Interrupts the attempt until the children of its execution are done.
///
/// Precondition: the handle holds the lease. Effect: the execution waits, a `revoked` lease event is
/// written; one whose children are all done already may be claimed at once. Repeating it answers the same,
/// writing nothing.
pub(crate) async fn wait_children<D: Dialect>(engine: &Engine<D>, handle: &Handle) -> Result<(), EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    let params = fenced!(pause::PauseForChildrenParams, held, engine.now_ms());
    let (partition_key, execution_id) = (held.key.partition_key, held.key.execution_id);
    let own = execution::ExecutionFlowReadParams { execution: held.key };
    let flow_id = engine.db().read(own).await?.and_then(|row| row.flow_id);
    let group = flow_id.map(|flow_id| GroupKey { partition_key, flow_id, downstream_eid: execution_id });
    let done = transaction!(
        engine,
        "wait_children",
        [params, group],
        |conn| {
            let awaited = match group {
                Some(group) => Some(Awaited::lock::<D>(conn, *group).await?),
                None => None,
            };
            let done = in_steps!(D: conn.pause_for_children(params)).await?;
            let is_released = match (&done, awaited) {
                (Some(_), Some(awaited)) => awaited.release_if_met::<D>(conn, params.now_ms).await?,
                _ => false,
            };
            Ok((done, is_released))
        },
        |done, wakes| {
            if let Some(row) = &done.0 {
                wakes.lease(row.lease_event_id, partition_key);
            }
            wakes.queued_if(done.1);
        }
    )?;
    if done.0.is_some() {
        engine.ended(execution_id, End::Other);
        return Ok(());
    }
    if seen(engine, &held).await?.ended_as(&held, OutcomeWord::WaitingChildren) {
        return Ok(());
    }
    Err(lost())
}

impl attempt::AttemptFenceReadRow {
    /// Whether the handle's own attempt, under the handle's own epoch, already came to that end.
    fn ended_as(&self, held: &Held, outcome: OutcomeWord) -> bool {
        self.lease_epoch == held.lease_epoch && self.outcome == Some(outcome)
    }
}

/// The state around a handle that a statement refused.
///
/// # Errors
/// `NotFound` when its attempt is not stored.
pub(crate) async fn seen<D: Dialect>(
    engine: &Engine<D>,
    held: &Held,
) -> Result<attempt::AttemptFenceReadRow, EngineError> {
    let params = attempt::AttemptFenceReadParams { execution: held.key, attempt_index: held.attempt_index };
    engine.db().read(params).await?.ok_or(EngineError::NotFound { entity: "attempt" })
}

/// Asks which attempt a caller gave that id.
pub(crate) fn named_by(key: ExecKey, id: &AttemptId) -> attempt::AttemptNamedReadParams {
    attempt::AttemptNamedReadParams { execution: key, attempt_id: id.to_string() }
}

/// Why a write that no repetition can explain was refused: there is no such attempt, or the lease is lost.
pub(crate) async fn refusal<D: Dialect>(engine: &Engine<D>, held: &Held) -> EngineError {
    match seen(engine, held).await {
        Ok(_) => lost(),
        Err(error) => error,
    }
}

/// The handle does not hold the lease.
pub(crate) fn lost() -> EngineError {
    EngineError::Contention(ContentionKind::LeaseConflict)
}
