//! What a database whose tables are spread over several nodes does in steps.
//!
//! A node locks only rows of its own partitions, so what is looked for in all of them is found without a lock first,
//! and each candidate is then taken on its own node, in a transaction that judges it by what it is there. Whoever
//! comes second passes it over, as on one node.

use ff_core::EngineError;

use crate::column::{ExecutionUuid, LaneName};
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::model::id::ExecKey;
use crate::model::word::{EligibilityWord, LeaseWord, OwnershipWord, PhaseWord};
use crate::statements::lease::{LeaseClaimParams, LeaseClaimRow};
use crate::statements::{Statements, grant, spread, stream};

/// How many candidates are read at a time.
const PAGE: i64 = 32;

/// How often a claim looks through the queue of its lane.
const LOOKS: u32 = 3;

/// The first page of a lane's queue.
fn first(lane_id: LaneName, capabilities: Vec<String>) -> spread::SpreadClaimableListParams {
    spread::SpreadClaimableListParams {
        lane_id,
        capabilities,
        after_priority: i32::MAX,
        after_created_at_ms: i64::MIN,
        after_execution_id: ExecutionUuid::LEAST,
        page_size: PAGE,
    }
}

/// Leases the best execution of a lane that nobody has locked.
///
/// Of those who look at the same time, one may find all taken that it saw, by others for whom there was more. Whoever
/// was passed over like that looks again from the beginning.
pub(crate) async fn claim<D: Dialect>(
    engine: &Engine<D>,
    claim: LeaseClaimParams,
    capabilities: &[String],
) -> Result<Option<LeaseClaimRow>, EngineError> {
    for _ in 0..LOOKS {
        match look(engine, &claim, capabilities).await? {
            Look::Took(row) => return Ok(Some(row)),
            Look::Lost => {}
            Look::Empty => break,
        }
    }
    Ok(None)
}

/// What came of a look through a lane's queue.
enum Look {
    Took(LeaseClaimRow),
    /// Others have all that there was.
    Lost,
    Empty,
}

async fn look<D: Dialect>(
    engine: &Engine<D>,
    claim: &LeaseClaimParams,
    capabilities: &[String],
) -> Result<Look, EngineError> {
    let mut next = first(claim.lane_id.clone(), capabilities.to_vec());
    let mut seen = Look::Empty;
    loop {
        let page = engine.db().survey(next.clone()).await?;
        let Some(last) = page.last() else { return Ok(seen) };
        seen = Look::Lost;
        next.after_priority = last.priority;
        next.after_created_at_ms = last.created_at_ms;
        next.after_execution_id = last.execution.execution_id;
        for row in &page {
            let key = row.execution;
            if let Some(taken) = claim_one(engine, key, claim.clone(), capabilities.to_vec()).await? {
                return Ok(Look::Took(taken));
            }
        }
    }
}

async fn claim_one<D: Dialect>(
    engine: &Engine<D>,
    key: ExecKey,
    claim: LeaseClaimParams,
    capabilities: Vec<String>,
) -> Result<Option<LeaseClaimRow>, EngineError> {
    transaction!(
        engine,
        "spread_claim",
        [key, claim, capabilities],
        |conn| { claim_on::<D>(conn, *key, claim, capabilities.clone()).await },
        |row, wakes| {
            if let Some(row) = row {
                wakes.lease(row.lease_event_id, row.execution.partition_key);
            }
        }
    )
}

/// Locks an execution that waits on a lane for a worker with these capabilities, unless somebody has it.
pub(crate) async fn lock_waiting<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    lane_id: &LaneName,
    capabilities: Vec<String>,
) -> Result<Option<spread::SpreadTryLockRow>, Abort> {
    let lock = spread::SpreadTryLockParams { execution: key, capabilities: Some(capabilities) };
    let row = conn.spread_try_lock(&lock).await?;
    Ok(row.filter(|row| {
        row.lifecycle_phase.waits()
            && row.eligibility_state == EligibilityWord::EligibleNow
            && row.ownership_state == OwnershipWord::Unowned
            && row.lane_id == *lane_id
    }))
}

async fn claim_on<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    claim: &LeaseClaimParams,
    capabilities: Vec<String>,
) -> Result<Option<LeaseClaimRow>, Abort> {
    let Some(core) = lock_waiting::<D>(conn, key, &claim.lane_id, capabilities).await? else {
        return Ok(None);
    };
    let attempt_index = core.attempt_index;
    conn.grant_execution_take(&grant::GrantExecutionTakeParams {
        attempt_index,
        reclaim_count: core.lease_reclaim_count,
        now_ms: claim.now_ms,
        total_attempt_count: (i64::from(attempt_index) + 1).to_string(),
        execution: key,
    })
    .await?;
    let attempt = spread::SpreadAttemptTakeParams {
        execution: key,
        attempt_index,
        worker_id: claim.worker_id.clone(),
        worker_instance_id: claim.worker_instance_id.clone(),
        lease_expires_at_ms: claim.lease_expires_at_ms,
        now_ms: claim.now_ms,
    };
    let lease_epoch = conn.spread_attempt_take(&attempt).await?.lease_epoch;
    let event = grant::GrantLeaseEventInsertParams {
        execution_text: key.text(),
        lease_id: Some(claim.lease_id.clone()),
        event_type: LeaseWord::Acquired,
        now_ms: claim.now_ms,
        execution: key,
    };
    let lease_event_id = in_steps!(D: conn.grant_lease_event_insert(&event)).await?.event_id;
    Ok(Some(LeaseClaimRow { execution: key, attempt_index, lease_epoch, lease_event_id }))
}

/// Makes delayed executions of a lane, or of all, eligible whose time has come, at most one batch of them, and says how many.
pub(crate) async fn promote_due<D: Dialect>(
    engine: &Engine<D>,
    lane_id: Option<&LaneName>,
    now_ms: i64,
    batch_size: i64,
) -> Result<u64, EngineError> {
    let due =
        engine.db().survey(spread::SpreadDelayedListParams { now_ms, lane_id: lane_id.cloned(), batch_size }).await?;
    let mut promoted = 0;
    for row in due {
        let key = row.execution;
        promoted += transaction!(
            engine,
            "spread_promote",
            [key, now_ms],
            |conn| { promote_on::<D>(conn, *key, *now_ms).await },
            |promoted, wakes| wakes.queued_if(*promoted > 0)
        )?;
    }
    Ok(promoted)
}

async fn promote_on<D: Dialect>(conn: &mut D::Connection, key: ExecKey, now_ms: i64) -> Result<u64, Abort> {
    let lock = spread::SpreadTryLockParams { execution: key, capabilities: None };
    if conn.spread_try_lock(&lock).await?.is_none() {
        return Ok(0);
    }
    let release = spread::SpreadDelayedReleaseParams { execution: key, now_ms };
    Ok(conn.spread_delayed_release(&release).await?)
}

/// Appends a frame, as the statement for one node does: behind the newest one, whoever wrote that.
pub(crate) async fn append_on<D: Dialect>(
    conn: &mut D::Connection,
    append: &stream::StreamAppendParams,
) -> Result<Option<stream::StreamAppendRow>, Abort> {
    let (execution, attempt_index) = (append.execution, append.attempt_index);
    let fence = spread::SpreadStreamLockParams { execution, attempt_index };
    if let Some(held) = conn.spread_stream_lock(&fence).await?
        && (held.lease_epoch != append.lease_epoch
            || held.outcome.is_some()
            || held.lifecycle_phase != PhaseWord::Active)
    {
        return Ok(None);
    }
    let ensure = spread::SpreadCounterEnsureParams { execution, attempt_index };
    conn.spread_counter_ensure(&ensure).await?;
    let lock = spread::SpreadCounterLockParams { execution, attempt_index };
    let seen = conn.spread_counter_lock(&lock).await?;
    let newest = spread::SpreadFrameNewestParams { execution, attempt_index };
    let newest = conn.spread_frame_newest(&newest).await?.map(|frame| (frame.ts_ms, frame.seq));
    let (mut last, mut frame_count) = ((seen.last_ms, seen.last_seq), seen.frame_count);
    if let Some(newest) = newest.filter(|newest| *newest > last) {
        // A frame of a foreign writer is newer than the counter: all are counted once.
        let count = spread::SpreadFrameCountParams { execution, attempt_index };
        (last, frame_count) = (newest, conn.spread_frame_count(&count).await?.frame_count);
    }
    let (last_ms, last_seq) =
        if last.0 >= append.now_ms { (last.0, last.1.saturating_add(1)) } else { (append.now_ms, 0) };
    let frame_count = frame_count.saturating_add(1);
    conn.spread_counter_write(&spread::SpreadCounterWriteParams {
        last_ms,
        last_seq,
        frame_count,
        execution,
        attempt_index,
    })
    .await?;
    conn.spread_frame_insert(&spread::SpreadFrameInsertParams {
        execution,
        attempt_index,
        ts_ms: last_ms,
        seq: last_seq,
        fields: append.fields.clone(),
        mode: append.mode.clone(),
    })
    .await?;
    Ok(Some(stream::StreamAppendRow { last_ms, last_seq, frame_count }))
}
