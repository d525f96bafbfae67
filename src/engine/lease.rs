//! Leases: taking one, keeping it, taking it over when its holder resumes, and listing those that ran out.
//!
//! ```text
//!   submitted/runnable, eligible, unowned --claim--> active, leased --renew--> active, leased
//!                                                        |
//!                     suspended, resumed --claim_from_resume_grant--> active, leased (next epoch)
//! ```
//!
//! A lease is an epoch: whoever holds the newest epoch of the running attempt of an active execution holds
//! the lease, also when its time has passed, until a sweep, a revocation or another claim ends it.

use ff_core::backend::{CapabilitySet, ClaimPolicy, Handle, HandleKind, LeaseRenewal, ResumeToken};
use ff_core::contracts::{
    ExpiredLeaseInfo, ExpiredLeasesCursor, LIST_EXPIRED_LEASES_DEFAULT_LIMIT, LIST_EXPIRED_LEASES_MAX_LIMIT,
    ListExpiredLeasesArgs, ListExpiredLeasesResult,
};
use ff_core::engine_error::EngineError;
use ff_core::handle_codec::HandlePayload;
use ff_core::types::{AttemptId, AttemptIndex, LaneId, LeaseEpoch, LeaseId, TimestampMs, WorkerInstanceId};
use uuid::Uuid;

use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::give_back::{Answered, Took};
use crate::engine::policy::give_back::Before;
use crate::engine::{attempt, execution as executions};
use crate::model::given::stored_ms;
use crate::model::handle;
use crate::model::id::{ExecKey, attempt_id, corruption, exec_key, execution_id, reject_nul};
use crate::model::limits;
use crate::model::word::PublicWord;
use crate::statements::{Statements, execution, lease};

/// Leases the best execution of a lane that a worker with these capabilities may run: highest priority
/// first, then oldest. Answers at once, `None` when there is none; `policy.max_wait` is not waited for.
///
/// Precondition: none. Effect: one execution becomes active, its attempt gets a new epoch, an `acquired`
/// event is written. Repeating it claims another execution.
pub(crate) async fn claim<D: Dialect>(
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
    let nothing_is_due = executions::promote_due_sometimes(engine).await?;
    let claimed = claim_now(engine, lane, capabilities, policy).await?;
    if claimed.0.is_some() || nothing_is_due || executions::promote_due(engine).await? == 0 {
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
    let claimed = unit!(engine, lease_claim, params, |row, wakes| wakes.lease(row.lease_event_id, row.partition_key))?;
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
            LeaseEpoch::new(self.lease_epoch.max(0).unsigned_abs()),
            self.lease_ttl_ms,
            self.lane_id,
            self.worker_instance_id,
        );
        Ok(handle::encode(D::TAG, self.kind, &payload))
    }
}

/// An attempt's index as ff-core counts it.
///
/// # Errors
/// `Validation(Corruption)` when it is negative.
pub(crate) fn attempt_number(stored: i32) -> Result<u32, EngineError> {
    u32::try_from(stored).map_err(|_| corruption(format!("attempt_index is negative: {stored}")))
}

/// Moves the end of a lease to now plus the handle's time to live.
///
/// Precondition: the handle holds the lease; its time may have passed. Effect: the new end and a `renewed`
/// event. Repeating it moves the end again.
pub(crate) async fn renew<D: Dialect>(engine: &Engine<D>, handle: &Handle) -> Result<LeaseRenewal, EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    let now_ms = engine.now_ms();
    let ttl_ms = stored_ms(held.payload.lease_ttl_ms);
    let lease_expires_at_ms = now_ms.saturating_add(ttl_ms);
    let params = fenced!(lease::LeaseRenewParams, held, now_ms, lease_expires_at_ms: lease_expires_at_ms);
    let partition_key = held.key.partition_key;
    let renewed = unit!(engine, lease_renew, params, |row, wakes| wakes.lease(row.lease_event_id, partition_key))?;
    if renewed.is_none() {
        return Err(attempt::refusal(engine, &held).await);
    }
    Ok(LeaseRenewal::new(lease_expires_at_ms.max(0).unsigned_abs(), held.payload.lease_epoch.0))
}

/// Leases the newest attempt of an execution again for the worker that resumes it. `None` when the execution
/// has ended or somebody holds a live lease.
///
/// Precondition: the execution was claimed before. Effect: the attempt gets its next epoch, the execution
/// becomes active, a `reclaimed` event is written. Repeating it answers `None` while the new lease is live.
pub(crate) async fn claim_from_resume_grant<D: Dialect>(
    engine: &Engine<D>,
    token: &ResumeToken,
) -> Answered<Option<Handle>> {
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
    conn.execution_lock(&execution::ExecutionLockParams { partition_key, execution_id }).await?;
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
    let state = execution::ExecutionStateReadParams { partition_key, execution_id };
    let is_resumable =
        conn.execution_state_read(&state).await?.is_some_and(|row| row.public_state == PublicWord::Resumable);
    let before = if is_resumable { Before::Resumable } else { Before::Interrupted };
    let seated = conn.lease_reseat(&params).await?;
    Ok(seated.map(|row| Seated { attempt_index: newest.attempt_index, before, row }))
}

/// Lists leases whose time has passed at `args.as_of` and whose worker is still named, oldest first.
///
/// A page that is exactly full has a cursor, which may lead to an empty page.
pub(crate) async fn list_expired<D: Dialect>(
    engine: &Engine<D>,
    args: &ListExpiredLeasesArgs,
) -> Result<ListExpiredLeasesResult, EngineError> {
    let limit = args
        .limit
        .unwrap_or(LIST_EXPIRED_LEASES_DEFAULT_LIMIT) // tidy: a caller's option
        .clamp(1, LIST_EXPIRED_LEASES_MAX_LIMIT);
    args.namespace.iter().try_for_each(|namespace| reject_nul("namespace", namespace.as_str()))?;
    let (after_expires_at_ms, after_key) = match &args.after {
        Some(cursor) => (cursor.expires_at_ms.0, exec_key(&cursor.execution_id)?),
        None => (i64::MIN, ExecKey { partition_key: i16::MIN, execution_id: Uuid::nil() }),
    };
    let params = lease::LeaseExpiredListParams {
        as_of_ms: args.as_of.0,
        namespace: args.namespace.as_ref().map(|namespace| namespace.as_str().to_owned()),
        after_expires_at_ms,
        after_partition_key: after_key.partition_key,
        after_execution_id: after_key.execution_id,
        page_size: i64::from(limit),
    };
    let rows = read!(engine, lease_expired_list, params)?;
    let page_full = rows.len() >= limit as usize;
    let entries = rows.into_iter().map(expired_entry).collect::<Result<Vec<_>, _>>()?;
    let cursor = entries
        .last()
        .filter(|_| page_full)
        .map(|last| ExpiredLeasesCursor::new(last.expires_at_ms, last.execution_id.clone()));
    Ok(ListExpiredLeasesResult::new(entries, cursor))
}

fn expired_entry(row: lease::LeaseExpiredListRow) -> Result<ExpiredLeaseInfo, EngineError> {
    let id = execution_id(row.partition_key, row.execution_id).map_err(|error| {
        let text = format!("{{fp:{}}}:{}", row.partition_key, row.execution_id);
        corruption(format!("list_expired_leases: bad execution_id \"{text}\": {error}"))
    })?;
    Ok(ExpiredLeaseInfo::new(
        id,
        LeaseId::from_uuid(synthetic_lease_id(row.execution_id, row.attempt_index, row.lease_epoch)),
        LeaseEpoch::new(row.lease_epoch.max(0).unsigned_abs()),
        WorkerInstanceId::new(row.worker_instance_id),
        TimestampMs::from_millis(row.lease_expires_at_ms),
        AttemptIndex::new(row.attempt_index.max(0).unsigned_abs()),
    ))
}

/// A lease id made from what identifies the lease, because rows do not keep the handle's own: the
/// execution's bytes, the first eight xored with the epoch, the next four with the attempt's index.
fn synthetic_lease_id(execution_id: Uuid, attempt_index: i32, lease_epoch: i64) -> Uuid {
    let mut bytes = *execution_id.as_bytes();
    let mask = lease_epoch.to_be_bytes().into_iter().chain(attempt_index.to_be_bytes());
    for (byte, mask) in bytes.iter_mut().zip(mask) {
        *byte ^= mask;
    }
    Uuid::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synthetic_lease_id_tells_epochs_and_attempts_apart() {
        let execution = Uuid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
        assert_eq!(synthetic_lease_id(execution, 0, 0), execution);
        assert_eq!(synthetic_lease_id(execution, 1, 2), Uuid::from_u128(0x0102_0304_0506_070a_090a_0b0d_0d0e_0f10));
    }
}
