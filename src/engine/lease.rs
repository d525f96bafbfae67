//! Leases: keeping one, and listing those that ran out. How one is taken is in [`crate::engine::claim`].
//!
//! A lease is an epoch: whoever holds the newest epoch of the running attempt of an active execution holds
//! the lease, also when its time has passed, until a sweep, a revocation or another claim ends it.

use ff_core::backend::{Handle, LeaseRenewal};
use ff_core::contracts::{
    ExpiredLeaseInfo, ExpiredLeasesCursor, LIST_EXPIRED_LEASES_DEFAULT_LIMIT, LIST_EXPIRED_LEASES_MAX_LIMIT,
    ListExpiredLeasesArgs, ListExpiredLeasesResult,
};
use ff_core::engine_error::EngineError;
use ff_core::types::{LeaseId, TimestampMs, WorkerInstanceId};
use uuid::Uuid;

use crate::column::{ExecutionUuid, PartitionNumber, StoredEpoch, StoredIndex};
use crate::db::Dialect;
use crate::engine::{Engine, attempt};
use crate::model::given::stored_ms;
use crate::model::handle;
use crate::model::id::{ExecKey, corruption, exec_key, execution_id, reject_nul};
use crate::statements::lease;

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
    let renewed =
        engine.db().combined_telling(params, move |row, wakes| wakes.lease(row.lease_event_id, partition_key)).await?;
    if renewed.is_none() {
        return Err(attempt::refusal(engine, &held).await);
    }
    engine.running().goes_on(held.key.execution_id, held.payload.lease_ttl_ms);
    Ok(LeaseRenewal::new(lease_expires_at_ms.max(0).unsigned_abs(), held.payload.lease_epoch.0))
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
        None => (i64::MIN, ExecKey { partition_key: PartitionNumber::LEAST, execution_id: ExecutionUuid::LEAST }),
    };
    let params = lease::LeaseExpiredListParams {
        as_of_ms: args.as_of.0,
        namespace: args.namespace.as_ref().map(|namespace| namespace.as_str().to_owned()),
        after_expires_at_ms,
        after_partition_key: after_key.partition_key,
        after_execution_id: after_key.execution_id,
        page_size: i64::from(limit),
    };
    let rows = engine.db().read(params).await?;
    let page_full = rows.len() >= limit as usize;
    let entries = rows.into_iter().map(expired_entry).collect::<Result<Vec<_>, _>>()?;
    let cursor = entries
        .last()
        .filter(|_| page_full)
        .map(|last| ExpiredLeasesCursor::new(last.expires_at_ms, last.execution_id.clone()));
    Ok(ListExpiredLeasesResult::new(entries, cursor))
}

fn expired_entry(row: lease::LeaseExpiredListRow) -> Result<ExpiredLeaseInfo, EngineError> {
    let id = execution_id(row.execution.partition_key, row.execution.execution_id).map_err(|error| {
        let text = format!("{{fp:{}}}:{}", row.execution.partition_key, row.execution.execution_id);
        corruption(format!("list_expired_leases: bad execution_id \"{text}\": {error}"))
    })?;
    Ok(ExpiredLeaseInfo::new(
        id,
        LeaseId::from_uuid(synthetic_lease_id(row.execution.execution_id, row.attempt_index, row.lease_epoch)),
        row.lease_epoch.shown(),
        WorkerInstanceId::new(row.worker_instance_id),
        TimestampMs::from_millis(row.lease_expires_at_ms),
        row.attempt_index.shown(),
    ))
}

/// A lease id made from what identifies the lease, because rows do not keep the handle's own: the
/// execution's bytes, the first eight xored with the epoch, the next four with the attempt's index.
fn synthetic_lease_id(execution_id: ExecutionUuid, attempt_index: StoredIndex, lease_epoch: StoredEpoch) -> Uuid {
    let mut bytes = *execution_id.as_bytes();
    let mask = i64::from(lease_epoch).to_be_bytes().into_iter().chain(i32::from(attempt_index).to_be_bytes());
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
        assert_eq!(synthetic_lease_id(execution.into(), 0.into(), 0.into()), execution);
        assert_eq!(
            synthetic_lease_id(execution.into(), 1.into(), 2.into()),
            Uuid::from_u128(0x0102_0304_0506_070a_090a_0b0d_0d0e_0f10)
        );
    }
}
