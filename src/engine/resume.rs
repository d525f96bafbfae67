//! What follows a suspension: the resumption by the control plane, and the timeout. How a resumed execution is claimed is
//! in [`crate::engine::claim`].

use ff_core::contracts::{ResumeExecutionArgs, ResumeExecutionResult};
use ff_core::engine_error::{EngineError, StateKind};
use ff_core::partition::Partition;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, SignalId};
use serde_json::json;

use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::policy::timeout::{Ending, Timeout, after_timeout};
use crate::engine::seize::{self, Seized, Taking};
use crate::model::given::stored_ms;
use crate::model::id::{ExecKey, exec_key, exec_key_in};
use crate::model::signal::Members;
use crate::model::word::{BlockingWord, EligibilityWord, PhaseWord, PublicWord};
use crate::statements::{Statements, attempt, execution, grant, resume, suspension, waitpoint};

/// Moves a suspended execution back to where claims find it, at once or after a delay.
///
/// Precondition: the execution is suspended. Effect: its suspension and its waitpoints are gone, it is
/// claimable now or when the delay is over; no event. Repeating it is `State(ExecutionNotSuspended)`.
pub(crate) async fn resume<D: Dialect>(
    engine: &Engine<D>,
    args: &ResumeExecutionArgs,
) -> Result<ResumeExecutionResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    let delay_ms = stored_ms(args.resume_delay_ms);
    let resume_at_ms = (delay_ms > 0).then(|| engine.now_ms().saturating_add(delay_ms));
    transaction!(engine, "resume_release", [key, resume_at_ms], |conn| {
        resume_on::<D>(conn, *key, *resume_at_ms).await
    })
}

async fn resume_on<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    resume_at_ms: Option<i64>,
) -> Result<ResumeExecutionResult, Abort> {
    let Some(core) = conn.resume_lock(&resume::ResumeLockParams { execution: key }).await? else {
        return Err(Abort::from(EngineError::NotFound { entity: "execution" }));
    };
    let deleted = if core.lifecycle_phase == PhaseWord::Suspended {
        conn.suspension_delete(&suspension::SuspensionDeleteParams { execution: key }).await?
    } else {
        0
    };
    if deleted == 0 {
        return Err(Abort::from(EngineError::State(StateKind::ExecutionNotSuspended)));
    }
    conn.waitpoint_delete_all(&waitpoint::WaitpointDeleteAllParams { execution: key }).await?;
    let mut changed_fields = json!({ "current_suspension_id": "", "current_waitpoint_id": "" });
    if let (Some(_), Some(deadline_ms)) = (resume_at_ms, core.deadline_at_ms) {
        changed_fields["execution_deadline_at"] = deadline_ms.into();
    }
    let (public_state, public_word, eligibility_state, blocking_reason) = match resume_at_ms {
        None => {
            (PublicState::Waiting, PublicWord::Waiting, EligibilityWord::EligibleNow, BlockingWord::WaitingForWorker)
        }
        Some(_) => (
            PublicState::Delayed,
            PublicWord::Delayed,
            EligibilityWord::NotEligibleUntilTime,
            BlockingWord::WaitingForResumeDelay,
        ),
    };
    conn.resume_release(&resume::ResumeReleaseParams {
        eligibility_state,
        public_state: public_word,
        blocking_reason,
        deadline_at_ms: resume_at_ms.or(core.deadline_at_ms),
        changed_fields,
        execution: key,
    })
    .await?;
    Ok(ResumeExecutionResult::Resumed { public_state })
}

/// Applies the timeout of the suspension of an execution, for a caller who names the partition.
///
/// As [`expire_due`].
pub(crate) async fn expire<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    id: &ExecutionId,
) -> Result<(), EngineError> {
    expire_due(engine, exec_key_in(partition, id)?, Taking::Waits).await.map(drop)
}

/// Applies the timeout of a suspension, if its time has passed by our clock.
///
/// Precondition: none; what is not due is left alone. Effect: as the suspension asked for, the execution ends
/// or becomes resumable; a completion is written. Repeating it does nothing. A suspension that is over only
/// loses its timeout. Says whether the timeout was applied.
pub(crate) async fn expire_due<D: Dialect>(
    engine: &Engine<D>,
    key: ExecKey,
    taking: Taking,
) -> Result<bool, EngineError> {
    let now_ms = engine.now_ms();
    let completed = transaction!(
        engine,
        "suspension_expire",
        [key, now_ms, taking],
        |conn| {
            if *taking == Taking::Seizes && seize::whole::<D>(conn, *key).await? != Seized::Taken {
                return Ok(None);
            }
            expire_on::<D>(conn, *key, *now_ms).await
        },
        |completion_event_id, wakes| {
            if let Some(event_id) = completion_event_id {
                wakes.completion(*event_id, key.partition_key);
            }
        }
    )?;
    Ok(completed.is_some())
}

/// Answers the event id of the completion, if there is one.
async fn expire_on<D: Dialect>(conn: &mut D::Connection, key: ExecKey, now_ms: i64) -> Result<Option<i64>, Abort> {
    let Some(core) = conn.execution_lock(&execution::ExecutionLockParams { execution: key }).await? else {
        return Ok(None);
    };
    let read = suspension::SuspensionReadParams { execution: key };
    let Some(suspended) = conn.suspension_read(&read).await? else {
        return Ok(None);
    };
    if suspended.timeout_at_ms.is_none_or(|timeout_at_ms| timeout_at_ms >= now_ms) {
        return Ok(None);
    }
    let clear = suspension::SuspensionTimeoutClearParams { execution: key };
    if core.lifecycle_phase != PhaseWord::Suspended {
        conn.suspension_timeout_clear(&clear).await?;
        return Ok(None);
    }
    conn.waitpoint_delete_all(&waitpoint::WaitpointDeleteAllParams { execution: key }).await?;
    match after_timeout(suspended.timeout_behavior.as_deref())? {
        Timeout::Ends(ending) => end_on::<D>(conn, key, now_ms, ending).await.map(Some),
        Timeout::Resumes => {
            let mut members = Members::parse(&suspended.members_text)?;
            members.append_timeout(&SignalId::new(), now_ms)?;
            let members = members.into_value();
            conn.suspension_members_write(&suspension::SuspensionMembersWriteParams { members, execution: key })
                .await?;
            conn.suspension_timeout_clear(&clear).await?;
            conn.suspension_resume(&suspension::SuspensionResumeParams { execution: key }).await?;
            let event = suspension::SuspensionResumableEventInsertParams { now_ms, execution: key };
            Ok(Some(in_steps!(D: conn.suspension_resumable_event_insert(&event)).await?.event_id))
        }
    }
}

async fn end_on<D: Dialect>(conn: &mut D::Connection, key: ExecKey, now_ms: i64, ending: Ending) -> Result<i64, Abort> {
    conn.suspension_delete(&suspension::SuspensionDeleteParams { execution: key }).await?;
    conn.suspension_expire(&suspension::SuspensionExpireParams {
        public_state: ending.public_state,
        now_ms,
        cancellation_reason: ending.reason.to_owned(),
        execution: key,
    })
    .await?;
    let running = attempt::AttemptRunningReadParams { execution: key };
    if let Some(running) = conn.attempt_running_read(&running).await? {
        conn.suspension_attempt_expire(&suspension::SuspensionAttemptExpireParams {
            outcome: ending.outcome,
            now_ms,
            execution: key,
            attempt_index: running.attempt_index,
        })
        .await?;
    }
    let completion = grant::GrantCompletionEventInsertParams { outcome: ending.completion, now_ms, execution: key };
    Ok(in_steps!(D: conn.grant_completion_event_insert(&completion)).await?.event_id)
}
