//! The claim of the newest attempt, by a worker whose resumption was granted.

use ff_core::backend::{Handle, HandleKind, ResumeToken};
use ff_core::engine_error::EngineError;
use ff_core::types::LeaseId;

use crate::column::StoredIndex;
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::claim::give_back::Answered;
use crate::engine::claim::granted::Granted;
use crate::engine::policy::give_back::Before;
use crate::model::id::{ExecKey, attempt_id, exec_key, reject_nul};
use crate::model::limits;
use crate::model::word::PublicWord;
use crate::statements::{Statements, execution as execution_rows, lease};

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
    attempt_index: StoredIndex,
    before: Before,
    row: lease::LeaseReseatRow,
}

/// Leases the newest attempt again and says which it is. The execution is locked first: which attempt is the newest
/// is known only when nobody can begin another one.
async fn reseat_on<D: Dialect>(conn: &mut D::Connection, resuming: &Resuming) -> Result<Option<Seated>, Abort> {
    let Resuming { key, now_ms, lease_id, token } = resuming;
    conn.execution_lock(&execution_rows::ExecutionLockParams { execution: *key }).await?;
    let newest = conn.lease_newest_read(&lease::LeaseNewestReadParams { execution: *key }).await?;
    let Some(newest) = newest else {
        return Err(Abort::from(EngineError::NotFound { entity: "attempt" }));
    };
    let params = lease::LeaseReseatParams {
        execution: *key,
        attempt_index: newest.attempt_index,
        lease_epoch: newest.lease_epoch,
        execution_text: key.text(),
        lease_id: lease_id.to_string(),
        now_ms: *now_ms,
        worker_id: token.worker_id.as_str().to_owned(),
        worker_instance_id: token.worker_instance_id.as_str().to_owned(),
        lease_expires_at_ms: now_ms.saturating_add(i64::from(token.lease_ttl_ms)),
    };
    let state = execution_rows::ExecutionStateReadParams { execution: *key };
    let is_resumable =
        conn.execution_state_read(&state).await?.is_some_and(|row| row.public_state == PublicWord::Resumable);
    let before = if is_resumable { Before::Resumable } else { Before::Interrupted };
    let seated = in_steps!(D: conn.lease_reseat(&params)).await?;
    Ok(seated.map(|row| Seated { attempt_index: newest.attempt_index, before, row }))
}
