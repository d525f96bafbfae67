//! Executions that wait for a budget, a quota, a worker or an operator, and their way back into the queue.

use ff_core::contracts::{
    BlockExecutionForAdmissionArgs, BlockExecutionForAdmissionOutcome, BlockRouteArgs, BlockRouteOutcome,
};
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::partition::Partition;
use ff_core::types::{ExecutionId, TimestampMs};

use crate::db::{Dialect, Wakes};
use crate::engine::Engine;
use crate::engine::policy::admission::{blocked_as, unblocks_by_itself};
use crate::model::id::{exec_key_in, reject_nul};
use crate::model::word::BlockingWord;
use crate::statements::admission;

/// Takes an execution out of the queue because an admission was refused.
///
/// Precondition: it waits to run. The last reason wins, so it is safe to repeat. Anything else is told as a
/// rejection and changes nothing.
///
/// # Errors
/// `Validation(InvalidInput)` when the id does not parse, the partition exceeds the column, or the detail holds
/// U+0000.
pub(crate) async fn block<D: Dialect>(
    engine: &Engine<D>,
    args: &BlockExecutionForAdmissionArgs,
) -> Result<BlockExecutionForAdmissionOutcome, EngineError> {
    let blocking = Blocking {
        partition: &args.partition,
        execution_id: &args.execution_id,
        reason: BlockingWord::from(args.reason.reason_code().to_owned()),
        detail: args.reason_detail.as_deref().unwrap_or_default(), // tidy: a caller's option
        now: engine.given(args.now),
    };
    Ok(match blocking.run(engine).await? {
        None => {
            BlockExecutionForAdmissionOutcome::Blocked { execution_id: args.execution_id.clone(), reason: args.reason }
        }
        Some(message) => BlockExecutionForAdmissionOutcome::LuaRejected { message: message.to_owned() },
    })
}

/// Takes an execution out of the queue for a reason that the caller names, as [`block`] does.
///
/// # Errors
/// As [`block`].
pub(crate) async fn block_route<D: Dialect>(
    engine: &Engine<D>,
    args: &BlockRouteArgs,
) -> Result<BlockRouteOutcome, EngineError> {
    let blocking = Blocking {
        partition: &args.partition,
        execution_id: &args.execution_id,
        reason: BlockingWord::from(args.reason_code.clone()),
        detail: &args.reason_detail,
        now: engine.given(args.now),
    };
    Ok(match blocking.run(engine).await? {
        None => BlockRouteOutcome::Blocked { execution_id: args.execution_id.clone() },
        Some(message) => BlockRouteOutcome::LuaRejected { message: message.to_owned() },
    })
}

struct Blocking<'a> {
    partition: &'a Partition,
    execution_id: &'a ExecutionId,
    reason: BlockingWord,
    detail: &'a str,
    now: TimestampMs,
}

impl Blocking<'_> {
    /// Blocks the execution, or says why not.
    async fn run<D: Dialect>(&self, engine: &Engine<D>) -> Result<Option<&'static str>, EngineError> {
        reject_nul("reason_detail", self.detail)?;
        let execution = exec_key_in(self.partition, self.execution_id)?;
        let blocked_as = blocked_as(&self.reason);
        if let Some(eligibility_state) = blocked_as.clone() {
            let params = admission::AdmissionBlockParams {
                eligibility_state,
                blocking_reason: self.reason.clone(),
                blocking_detail: self.detail.to_owned(),
                now_text: self.now.0.to_string(),
                execution,
            };
            if engine.db().unit(params).await? > 0 {
                return Ok(None);
            }
        }
        let params = admission::AdmissionPhaseReadParams { execution };
        Ok(Some(match engine.db().read(params).await? {
            None => "execution_not_found",
            Some(row) if row.lifecycle_phase.has_ended() => "execution_not_active",
            Some(row) if blocked_as.is_none() && row.lifecycle_phase.waits() => "invalid_blocking_reason",
            Some(_) => "execution_not_eligible",
        }))
    }
}

/// Puts an execution back into the queue if it is still blocked for the reason that the caller saw; otherwise
/// nothing happens. Safe to repeat.
///
/// # Errors
/// `Validation(InvalidBlockingReason)` when the reason is none that goes away by itself;
/// `Validation(InvalidInput)` when the id does not parse or the partition exceeds the column.
pub(crate) async fn unblock<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    execution_id: &ExecutionId,
    expected_reason: &str,
    now: TimestampMs,
) -> Result<(), EngineError> {
    let blocking_reason = BlockingWord::from(expected_reason.to_owned());
    if !unblocks_by_itself(&blocking_reason) {
        let detail = format!("unblock_execution: {expected_reason}");
        return Err(EngineError::Validation { kind: ValidationKind::InvalidBlockingReason, detail });
    }
    let params = admission::AdmissionUnblockParams {
        now_text: engine.given(now).0.to_string(),
        execution: exec_key_in(partition, execution_id)?,
        blocking_reason,
    };
    let tell = |unblocked: &u64, wakes: &mut Wakes| wakes.queued_if(*unblocked > 0);
    engine.db().unit_counting(params, tell).await?;
    Ok(())
}
