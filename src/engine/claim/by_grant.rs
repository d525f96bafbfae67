//! The claim by name, with a grant that a scheduler gave.

use ff_core::backend::HandleKind;
use ff_core::contracts::{ClaimExecutionArgs, ClaimExecutionResult, ClaimedExecution};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::types::TimestampMs;

use crate::column::StoredIndex;
use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::claim::give_back::Answered;
use crate::engine::claim::granted::Granted;
use crate::engine::named::{Named, Seen};
use crate::engine::policy::give_back::Before;
use crate::model::attempt::stored_type;
use crate::model::given::{attempt_policy, stored_ms};
use crate::model::id::{ExecKey, exec_key, reject_nul};
use crate::model::limits;
use crate::statements::{Statements, execution as execution_rows, typed};

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
    let attempt_index = StoredIndex::before_next("expected_attempt_index", args.expected_attempt_index)?;
    limits::WORKER_ID.check("worker_id", args.worker_id.as_str())?;
    reject_nul("worker_instance_id", args.worker_instance_id.as_str())?;
    let now_ms = engine.given(args.now).0;
    let lease_expires_at_ms = now_ms.saturating_add(stored_ms(args.lease_ttl_ms));
    let params = typed::TypedClaimParams {
        execution: key,
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
        row.lease_epoch.shown(),
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
    let partition_key = key.partition_key;
    let lock = execution_rows::ExecutionLockParams { execution: key };
    let claimed = transaction!(
        engine,
        "typed_claim_again",
        [lock, params],
        |conn| {
            conn.execution_lock(lock).await?;
            Ok(in_steps!(D: conn.typed_claim(params)).await?)
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
    attempt_index: StoredIndex,
) -> Result<(), EngineError> {
    if let Some(refusal) = Seen::of(engine, &Named { key, attempt_index }).await?.claim_refusal() {
        return Err(refusal);
    }
    let params = typed::TypedGrantNewestParams { execution: key };
    let newest = engine.db().read(params).await?;
    let Some(held) = newest.filter(|held| held.worker_id == args.worker_id.as_str()) else {
        return Err(EngineError::Contention(ContentionKind::InvalidClaimGrant));
    };
    if held.expires_at_ms > 0 && held.expires_at_ms < engine.given(args.now).0 {
        return Err(EngineError::Contention(ContentionKind::ClaimGrantExpired));
    }
    Ok(())
}
