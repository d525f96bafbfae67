//! The claim of an operator, who grants and claims at once.

use ff_core::contracts::{ClaimGrantOutcome, IssueGrantAndClaimArgs};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::state::AttemptType;
use ff_core::types::{AttemptId, AttemptIndex, LeaseId};
use serde_json::json;

use crate::column::{StoredEpoch, StoredIndex};
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::claim::give_back::{Answered, Took};
use crate::engine::named::{ClaimSeen, claim_refusal, not_active};
use crate::engine::policy::give_back::Before;
use crate::model::document;
use crate::model::given::stored_ms;
use crate::model::id::{ExecKey, corruption, exec_key};
use crate::model::word::{AttemptWord, EligibilityWord, LeaseWord, OwnershipWord, PhaseWord};
use crate::statements::{Statements, attempt, grant, typed};

/// Who an operator's lease belongs to.
const OPERATOR: &str = "operator";

/// Grants an operator an execution and claims it, in one transaction: no grant is left behind, whatever happens.
///
/// Precondition: the execution is unowned, and eligible or due, granted to a worker or not; one whose attempt was
/// interrupted is resumed instead, whatever its eligibility. Effect: the lease belongs to the worker `operator`;
/// an `acquired` event is written. Repeating it finds the execution active.
pub(crate) async fn grant_and_claim<D: Dialect>(
    engine: &Engine<D>,
    args: &IssueGrantAndClaimArgs,
) -> Answered<ClaimGrantOutcome> {
    let key = exec_key(&args.execution_id)?;
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
    let lease_ttl_ms = args.lease_duration_ms;
    let took = Took::Lease { key, attempt_index, lease_epoch, lease_id: lease_id.clone(), lease_ttl_ms, before };
    let outcome = ClaimGrantOutcome::new(lease_id, lease_epoch.shown(), AttemptIndex::new(attempt_index.number()?));
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
    attempt_index: StoredIndex,
    lease_epoch: StoredEpoch,
    lease_event_id: i64,
    before: Before,
}

async fn take_on<D: Dialect>(conn: &mut D::Connection, take: &Take) -> Result<Taken, Abort> {
    let key = take.key;
    let lock = typed::TypedLockParams { execution: key };
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
        if let Some(refusal) = core.refusal(take.now_ms) {
            return Err(Abort::from(refusal));
        }
        let next = core.attempt_index.next();
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
        execution: key,
    })
    .await?;
    let all = typed::TypedGrantDeleteAllParams { execution: key };
    conn.typed_grant_delete_all(&all).await?;
    let event = grant::GrantLeaseEventInsertParams {
        execution_text: key.text(),
        lease_id: Some(take.lease_id.to_string()),
        event_type: LeaseWord::Acquired,
        now_ms: take.now_ms,
        execution: key,
    };
    let event = in_steps!(D: conn.grant_lease_event_insert(&event)).await?;
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

async fn resume<D: Dialect>(conn: &mut D::Connection, take: &Take) -> Result<(StoredIndex, StoredEpoch), Abort> {
    let key = take.key;
    let running = attempt::AttemptRunningReadParams { execution: key };
    let missing = || Abort::from(EngineError::NotFound { entity: "attempt" });
    let attempt_index = conn.attempt_running_read(&running).await?.ok_or_else(missing)?.attempt_index;
    let params = typed::TypedAttemptResumeParams {
        worker: OPERATOR.to_owned(),
        lease_expires_at_ms: take.lease_expires_at_ms,
        now_ms: take.now_ms,
        attempt_id: take.attempt_id.to_string(),
        lease_id: take.lease_id.to_string(),
        execution: key,
        attempt_index,
    };
    let resumed = conn.typed_attempt_resume(&params).await?.ok_or_else(missing)?;
    Ok((attempt_index, resumed.lease_epoch))
}

async fn start<D: Dialect>(
    conn: &mut D::Connection,
    take: &Take,
    attempt_index: StoredIndex,
    attempt_type: AttemptType,
) -> Result<StoredEpoch, Abort> {
    let params = typed::TypedAttemptTakeParams {
        execution: take.key,
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

    /// Why it may not be claimed. One whose delay is over may, though no sweep has come by yet.
    fn refusal(&self, now_ms: i64) -> Option<EngineError> {
        let is_due = self.eligibility_state == EligibilityWord::NotEligibleUntilTime
            && self.deadline_at_ms.is_some_and(|due_at_ms| due_at_ms <= now_ms);
        let seen = ClaimSeen {
            lifecycle_phase: &self.lifecycle_phase,
            ownership_state: &self.ownership_state,
            eligibility_state: if is_due { &EligibilityWord::EligibleNow } else { &self.eligibility_state },
            attempt_state: &self.attempt_state,
        };
        claim_refusal(&seen, || self.not_active())
    }

    fn not_active(&self) -> EngineError {
        let outcome = document::terminal_outcome(&self.raw_fields);
        not_active(&self.lifecycle_phase, String::new(), outcome, &self.raw_fields)
    }
}
