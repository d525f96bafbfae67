//! The registry of worker instances: who is alive, what they take, and the history of both.
//!
//! ```text
//!   (absent) --register--> registered --heartbeat--> registered (later end)
//!                              |--mark_dead--> (absent)
//!                              |--time to live over, sweep--> (absent)
//! ```
//!
//! An instance id names one start of a process; a worker id names a pool of them. Leases are not touched here.

use std::collections::BTreeSet;

use ff_core::contracts::{
    HeartbeatWorkerArgs, HeartbeatWorkerOutcome, ListWorkersArgs, ListWorkersResult, MARK_WORKER_DEAD_REASON_MAX_BYTES,
    MarkWorkerDeadArgs, MarkWorkerDeadOutcome, RegisterWorkerArgs, RegisterWorkerOutcome, WorkerInfo,
};
use ff_core::engine_error::EngineError;
use ff_core::types::{LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

use crate::column::PartitionNumber;
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::round::{Report, Round};
use crate::model::given::stored_ms;
use crate::model::id::{invalid_input, reject_nul};
use crate::model::limits;
use crate::model::word::RegistryWord;
use crate::statements::{Statements, worker};

const LIST_DEFAULT_LIMIT: u32 = 1_000;
const LIST_MAX_LIMIT: u32 = 10_000;
const SWEEP_BATCH: i64 = 500;

/// Registers an instance, or refreshes its registration.
///
/// Precondition: the instance id is free or belongs to the same worker. Effect: lanes, capabilities, time to
/// live and heartbeat are the ones given; a `registered` event. Repeating it refreshes.
///
/// # Errors
/// `Validation(InvalidInput)` when a lane or a capability holds a comma, a text holds U+0000 or is too long, or the
/// instance id belongs to another worker.
pub(crate) async fn register<D: Dialect>(
    engine: &Engine<D>,
    args: &RegisterWorkerArgs,
) -> Result<RegisterWorkerOutcome, EngineError> {
    limits::WORKER_ID.check("worker_id", args.worker_id.as_str())?;
    limits::check_registered(args.namespace.as_str(), args.worker_instance_id.as_str())?;
    let lanes_csv = joined("lane", args.lanes.iter().map(LaneId::as_str))?;
    let capabilities_csv = joined("capability", args.capabilities.iter().map(String::as_str))?;
    let partition_key = D::worker_partition(args.worker_instance_id.as_str());
    let find = worker::WorkerReadParams {
        namespace: args.namespace.as_str().to_owned(),
        worker_instance_id: args.worker_instance_id.as_str().to_owned(),
        partition_key,
    };
    let register = worker::WorkerRegisterParams {
        namespace: args.namespace.as_str().to_owned(),
        worker_instance_id: args.worker_instance_id.as_str().to_owned(),
        worker_id: args.worker_id.as_str().to_owned(),
        lanes_csv,
        capabilities_csv,
        now_ms: engine.given(args.now).0,
        liveness_ttl_ms: stored_ms(args.liveness_ttl_ms),
        partition_key,
    };
    let event = event(
        partition_key,
        &args.namespace,
        &args.worker_instance_id,
        RegistryWord::Registered,
        engine.given(args.now),
        None,
    );
    transaction!(engine, "worker_register", [find, register, event], |conn| {
        let known = conn.worker_read(find).await?;
        if conn.worker_register(register).await? == 0 {
            return Err(Abort::from(invalid_input("instance_id reassigned")));
        }
        conn.worker_event_insert(event).await?;
        Ok(match known {
            Some(_) => RegisterWorkerOutcome::Refreshed,
            None => RegisterWorkerOutcome::Registered,
        })
    })
}

/// Extends a live registration.
///
/// Precondition: the instance is registered and its time to live is not over. Effect: the later of both
/// heartbeats counts; a `heartbeat` event. Otherwise nothing is written. Safe to repeat.
pub(crate) async fn heartbeat<D: Dialect>(
    engine: &Engine<D>,
    args: &HeartbeatWorkerArgs,
) -> Result<HeartbeatWorkerOutcome, EngineError> {
    limits::check_registered(args.namespace.as_str(), args.worker_instance_id.as_str())?;
    let partition_key = D::worker_partition(args.worker_instance_id.as_str());
    let beat = worker::WorkerHeartbeatParams {
        now_ms: engine.given(args.now).0,
        namespace: args.namespace.as_str().to_owned(),
        worker_instance_id: args.worker_instance_id.as_str().to_owned(),
        partition_key,
    };
    let event = event(
        partition_key,
        &args.namespace,
        &args.worker_instance_id,
        RegistryWord::Heartbeat,
        engine.given(args.now),
        None,
    );
    transaction!(engine, "worker_heartbeat", [beat, event], |conn| {
        let Some(row) = conn.worker_heartbeat(beat).await? else {
            return Ok(HeartbeatWorkerOutcome::NotRegistered);
        };
        conn.worker_event_insert(event).await?;
        let next_expiry_ms = TimestampMs::from_millis(beat.now_ms.saturating_add(row.liveness_ttl_ms));
        Ok(HeartbeatWorkerOutcome::Refreshed { next_expiry_ms })
    })
}

/// Takes an instance out of the registry.
///
/// Precondition: none. Effect: the registration is gone; a `marked_dead` event with the reason. An instance
/// that is not registered is left alone, so it is safe to repeat.
///
/// # Errors
/// `Validation(InvalidInput)` when the reason is longer than 256 bytes or holds a control character.
pub(crate) async fn mark_dead<D: Dialect>(
    engine: &Engine<D>,
    args: &MarkWorkerDeadArgs,
) -> Result<MarkWorkerDeadOutcome, EngineError> {
    check_reason(&args.reason)?;
    limits::check_registered(args.namespace.as_str(), args.worker_instance_id.as_str())?;
    let partition_key = D::worker_partition(args.worker_instance_id.as_str());
    let delete = worker::WorkerDeleteParams {
        namespace: args.namespace.as_str().to_owned(),
        worker_instance_id: args.worker_instance_id.as_str().to_owned(),
        partition_key,
    };
    let reason = Some(args.reason.clone());
    let event = event(
        partition_key,
        &args.namespace,
        &args.worker_instance_id,
        RegistryWord::MarkedDead,
        engine.given(args.now),
        reason,
    );
    transaction!(engine, "worker_mark_dead", [delete, event], |conn| {
        if conn.worker_delete(delete).await? == 0 {
            return Ok(MarkWorkerDeadOutcome::NotRegistered);
        }
        conn.worker_event_insert(event).await?;
        Ok(MarkWorkerDeadOutcome::Marked)
    })
}

/// Lists a namespace's instances in the byte order of their ids, lapsed ones included. Changes nothing.
///
/// # Errors
/// `Unavailable` without a namespace; `Validation(InvalidInput)` when a text holds U+0000.
pub(crate) async fn list<D: Dialect>(
    engine: &Engine<D>,
    args: &ListWorkersArgs,
) -> Result<ListWorkersResult, EngineError> {
    let Some(namespace) = &args.namespace else {
        return Err(EngineError::Unavailable { op: D::LIST_WORKERS_ACROSS_NAMESPACES });
    };
    reject_nul("namespace", namespace.as_str())?;
    args.after.iter().try_for_each(|after| reject_nul("after", after.as_str()))?;
    let limit = args.limit.unwrap_or(LIST_DEFAULT_LIMIT).clamp(1, LIST_MAX_LIMIT); // tidy: a caller's option
    let params = worker::WorkerListParams {
        namespace: namespace.as_str().to_owned(),
        after: args.after.as_ref().map_or_else(String::new, |after| after.as_str().to_owned()),
        page_size: i64::from(limit),
    };
    let rows = engine.db().read(params).await?;
    let page_full = rows.len() >= limit as usize;
    let entries: Vec<WorkerInfo> = rows.into_iter().map(|row| info(namespace, row)).collect();
    let cursor = entries.last().filter(|_| page_full).map(|last| last.worker_instance_id.clone());
    Ok(ListWorkersResult::new(entries, cursor))
}

/// What the workers of a namespace offer all together, as far as they are alive.
pub(crate) async fn offered<D: Dialect>(
    engine: &Engine<D>,
    namespace: &str,
    now_ms: i64,
) -> Result<BTreeSet<String>, EngineError> {
    let mut offered = BTreeSet::new();
    let mut after = String::new();
    loop {
        let params = worker::WorkerListParams { namespace: namespace.to_owned(), after, page_size: SWEEP_BATCH };
        let rows = engine.db().read(params).await?;
        let is_last = (rows.len() as i64) < SWEEP_BATCH;
        after = rows.last().map(|row| row.worker_instance_id.clone()).unwrap_or_default(); // tidy: nothing follows
        for row in rows {
            if row.last_heartbeat_ms > now_ms.saturating_sub(row.liveness_ttl_ms) {
                offered.extend(words(&row.capabilities_csv));
            }
        }
        if is_last {
            return Ok(offered);
        }
    }
}

/// Takes every instance whose time to live is over out of the registry, with a `ttl_swept` event each, and
/// says how many. An instance that is refreshed meanwhile stays.
pub(crate) async fn sweep<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let now_ms = engine.now_ms();
    let mut report = Report::default();
    loop {
        let params = worker::WorkerLapsedListParams { now_ms, page_size: SWEEP_BATCH };
        let lapsed = engine.db().read(params).await?;
        let page_full = lapsed.len() as i64 == SWEEP_BATCH;
        let before = report.processed;
        for instance in lapsed {
            let partition_key = D::worker_partition(&instance.worker_instance_id);
            if !round.includes(partition_key) {
                continue;
            }
            let (namespace, worker_instance_id) = (instance.namespace, instance.worker_instance_id);
            report.count(forget_lapsed(engine, partition_key, namespace, worker_instance_id, now_ms).await);
        }
        // A full page of which nothing could be swept would come again for ever.
        if !page_full || report.processed == before {
            return Ok(report);
        }
    }
}

/// Forgets one instance if its time is over and nobody holds it; says whether it did.
async fn forget_lapsed<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    namespace: String,
    worker_instance_id: String,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let lock = worker::WorkerTryLockParams {
        partition_key,
        namespace: namespace.clone(),
        worker_instance_id: worker_instance_id.clone(),
    };
    let sweep = worker::WorkerSweepParams { partition_key, namespace, worker_instance_id, now_ms };
    transaction!(engine, "worker_sweep", [lock, sweep], |conn| {
        if conn.worker_try_lock(lock).await?.is_none() {
            return Ok(false);
        }
        Ok(in_steps!(D: conn.worker_sweep(sweep)).await?.is_some())
    })
}

fn event(
    partition_key: PartitionNumber,
    namespace: &Namespace,
    instance: &WorkerInstanceId,
    kind: RegistryWord,
    now: TimestampMs,
    reason: Option<String>,
) -> worker::WorkerEventInsertParams {
    worker::WorkerEventInsertParams {
        namespace: namespace.as_str().to_owned(),
        worker_instance_id: instance.as_str().to_owned(),
        event_kind: kind,
        now_ms: now.0,
        reason,
        partition_key,
    }
}

/// A set as it is stored: sorted, joined by commas.
fn joined<'a>(what: &str, words: impl Iterator<Item = &'a str>) -> Result<String, EngineError> {
    let sorted: BTreeSet<&str> = words.collect();
    for word in &sorted {
        if word.contains(',') {
            return Err(invalid_input(format!("register_worker: {what} must not contain ','")));
        }
        reject_nul(what, word)?;
    }
    Ok(sorted.into_iter().collect::<Vec<_>>().join(","))
}

fn check_reason(reason: &str) -> Result<(), EngineError> {
    let length = reason.len();
    if length > MARK_WORKER_DEAD_REASON_MAX_BYTES {
        return Err(invalid_input(format!("reason: exceeds {MARK_WORKER_DEAD_REASON_MAX_BYTES} bytes (got {length})")));
    }
    if reason.chars().any(char::is_control) {
        return Err(invalid_input("reason: must not contain control characters"));
    }
    Ok(())
}

/// The words of a set as it is stored.
fn words(stored: &str) -> impl Iterator<Item = String> + '_ {
    stored.split(',').filter(|word| !word.is_empty()).map(str::to_owned)
}

fn info(namespace: &Namespace, row: worker::WorkerListRow) -> WorkerInfo {
    WorkerInfo::new(
        WorkerId::new(row.worker_id),
        WorkerInstanceId::new(row.worker_instance_id),
        namespace.clone(),
        words(&row.lanes_csv).map(LaneId::new).collect(),
        words(&row.capabilities_csv).collect(),
        TimestampMs::from_millis(row.last_heartbeat_ms),
        row.liveness_ttl_ms.max(0).unsigned_abs(),
        TimestampMs::from_millis(row.registered_at_ms),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_stored_sorted_without_its_duplicates() {
        assert_eq!(joined("lane", ["b", "a", "b"].into_iter()).unwrap(), "a,b");
        assert_eq!(joined("lane", [].into_iter()).unwrap(), "");
    }

    #[test]
    fn a_comma_is_refused_by_name() {
        let error = joined("capability", ["a,b"].into_iter()).unwrap_err().to_string();
        assert!(error.contains("register_worker: capability must not contain ','"), "{error}");
    }

    #[test]
    fn a_reason_has_a_length_and_no_control_characters() {
        assert!(check_reason("").is_ok());
        assert!(check_reason(&"x".repeat(256)).is_ok());
        assert!(check_reason(&"x".repeat(257)).unwrap_err().to_string().contains("exceeds 256 bytes (got 257)"));
        assert!(check_reason("a\u{85}b").unwrap_err().to_string().contains("control characters"));
    }
}
