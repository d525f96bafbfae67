//! The claim of an execution whose suspension is over.

use ff_core::backend::HandleKind;
use ff_core::contracts::{ClaimResumedExecutionArgs, ClaimResumedExecutionResult, ClaimedResumedExecution};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::types::{AttemptIndex, TimestampMs};

use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::claim::give_back::Answered;
use crate::engine::claim::granted::Granted;
use crate::engine::policy::give_back::Before;
use crate::model::given::stored_ms;
use crate::model::id::{ExecKey, attempt_id, exec_key, reject_nul};
use crate::model::limits;
use crate::model::word::PublicWord;
use crate::statements::{attempt, execution, resume};

/// Leases a resumable execution; the attempt that was suspended goes on, under its next epoch.
///
/// Precondition: a signal or a timeout resumed the execution, and nobody claimed it since. Effect: the
/// execution is active, an `acquired` event is written. Repeating it is `Contention(NotAResumedExecution)`.
/// The lane is taken from the arguments as it is; the attempt index and the time are not looked at.
pub(crate) async fn claim<D: Dialect>(
    engine: &Engine<D>,
    args: &ClaimResumedExecutionArgs,
) -> Answered<ClaimResumedExecutionResult> {
    let key = exec_key(&args.execution_id)?;
    limits::WORKER_ID.check("worker_id", args.worker_id.as_str())?;
    reject_nul("worker_instance_id", args.worker_instance_id.as_str())?;
    let now_ms = engine.now_ms();
    let ttl_ms = stored_ms(args.lease_ttl_ms);
    let lease_expires_at_ms = now_ms.saturating_add(ttl_ms);
    let params = resume::ResumeClaimParams {
        execution: key,
        execution_text: key.text(),
        lease_id: args.lease_id.to_string(),
        now_ms,
        worker_id: args.worker_id.as_str().to_owned(),
        worker_instance_id: args.worker_instance_id.as_str().to_owned(),
        lease_expires_at_ms,
    };
    let claimed = engine
        .db()
        .combined_telling(params, move |row, wakes| wakes.lease(row.lease_event_id, key.partition_key))
        .await?;
    let Some(row) = claimed else {
        return Err(not_resumable(engine, key).await);
    };
    let attempt_id = attempt_id(key.execution_id, row.attempt_index);
    let granted = Granted {
        kind: HandleKind::Resumed,
        attempt_index: row.attempt_index,
        attempt_id: attempt_id.clone(),
        lease_id: args.lease_id.clone(),
        lease_epoch: row.lease_epoch,
        lease_ttl_ms: args.lease_ttl_ms,
        lane_id: args.lane_id.clone(),
        worker_instance_id: args.worker_instance_id.clone(),
    };
    let took = granted.took(key, Before::Resumable);
    let claimed = ClaimedResumedExecution::new(
        args.execution_id.clone(),
        args.lease_id.clone(),
        row.lease_epoch.shown(),
        AttemptIndex::new(row.attempt_index.number()?),
        attempt_id,
        TimestampMs::from_millis(lease_expires_at_ms),
        granted.handle::<D>(key)?,
    );
    Ok((ClaimResumedExecutionResult::Claimed(claimed), Some(took)))
}

/// Why there was nothing to claim.
async fn not_resumable<D: Dialect>(engine: &Engine<D>, key: ExecKey) -> EngineError {
    match may_be_resumed(engine, key).await {
        Ok(Some(missing)) => EngineError::NotFound { entity: missing },
        Ok(None) => EngineError::Contention(ContentionKind::NotAResumedExecution),
        Err(error) => error,
    }
}

/// What is missing of an execution that could be resumed, if anything is.
async fn may_be_resumed<D: Dialect>(engine: &Engine<D>, key: ExecKey) -> Result<Option<&'static str>, EngineError> {
    let state = execution::ExecutionStateReadParams { execution: key };
    let Some(row) = engine.db().read(state).await? else {
        return Ok(Some("execution"));
    };
    if row.public_state != PublicWord::Resumable {
        return Ok(None);
    }
    let running = attempt::AttemptRunningReadParams { execution: key };
    Ok(if engine.db().read(running).await?.is_none() { Some("attempt") } else { None })
}
