//! Forgetting executions that ended long ago, with everything that is kept with them.

use std::collections::BTreeMap;
use std::time::Duration;

use ff_core::backend::ScannerFilter;
use ff_core::engine_error::EngineError;
use ff_core::partition::Partition;
use ff_core::types::{LaneId, TimestampMs};

use crate::column::{ExecutionUuid, LaneName, PartitionNumber};
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::policy::filter::{Asked, passes};
use crate::engine::round::{PAGE_SIZE, Pages, Place, Report, Round};
use crate::engine::seize::{self, Seized};
use crate::model::given::stored_ms;
use crate::model::id::{ExecKey, GroupKey, execution_id, reject_nul};
use crate::statements::{Statements, server, spread, trim};

/// How many executions are forgotten in one transaction.
const PAGE: i64 = 100;

/// Forgets executions of a lane that ended at least that long ago, the oldest first, at most `batch_size`, and
/// answers how many.
///
/// Precondition: none; what is open or does not pass the filter stays, and so does what somebody else changes at
/// this moment. Effect: the execution is gone with its attempts, streams, grants, suspension, events, the edges that
/// lead to it, and what it used of its budgets. Completions that a flow has not followed yet stay, so that nobody
/// waits for ever. Repeating it forgets the next ones.
pub(crate) async fn forget<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    lane: &LaneId,
    retention_ms: u64,
    now: TimestampMs,
    batch_size: u32,
    filter: &ScannerFilter,
) -> Result<u32, EngineError> {
    reject_nul("lane_id", lane.as_str())?;
    if let Some(namespace) = &filter.namespace {
        reject_nul("filter.namespace", namespace.as_str())?;
    }
    if let Some((key, value)) = &filter.instance_tag {
        reject_nul("filter.instance_tag", key)?;
        reject_nul("filter.instance_tag", value)?;
    }
    let ended = Ended {
        partition_key: PartitionNumber::given(partition.index)?,
        lane_id: lane.into(),
        before_ms: now.0.saturating_sub(stored_ms(retention_ms)),
    };
    forget_ended(engine, &ended, batch_size, filter).await
}

/// One run of the sweep: forgets what ended longer ago than the retention, the oldest first, whatever its lane. A process
/// whose clock is ahead of the database's forgets nothing early.
pub(crate) async fn sweep<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let now_ms = engine.db().read(server::ServerTimeParams).await?.now_ms.min(engine.now_ms());
    let before = |kept: Duration| now_ms.saturating_sub(stored_ms(kept.as_millis()));
    let own = &round.lane_retention;
    let others = Kept {
        lane_id: None,
        other_lanes: own.keys().cloned().collect(),
        failed_before_ms: before(round.failed_retention),
        others_before_ms: before(round.retention),
    };
    let of_lanes = own.iter().map(|(lane, kept)| Kept {
        lane_id: Some(lane.clone().into()),
        other_lanes: Vec::new(),
        failed_before_ms: before(*kept),
        others_before_ms: before(*kept),
    });
    let mut report = Report::default();
    for kept in std::iter::once(others).chain(of_lanes) {
        report.add(forget_due(engine, round, &kept, now_ms).await?);
    }
    Ok(report)
}

/// Whose time is over: the executions of a lane, or of all but some, that ended before these times.
#[derive(Debug)]
struct Kept {
    lane_id: Option<LaneName>,
    other_lanes: Vec<String>,
    failed_before_ms: i64,
    others_before_ms: i64,
}

impl Kept {
    /// All that ended before a time.
    fn before(ended_before_ms: i64) -> Self {
        let (failed_before_ms, others_before_ms) = (ended_before_ms, ended_before_ms);
        Self { lane_id: None, other_lanes: Vec::new(), failed_before_ms, others_before_ms }
    }

    /// Those of them that are asked for.
    fn lock(&self, partition_key: PartitionNumber, executions: Vec<ExecutionUuid>) -> trim::TrimLockParams {
        let Self { failed_before_ms, others_before_ms, .. } = *self;
        let ended_before_ms = failed_before_ms.max(others_before_ms);
        trim::TrimLockParams { partition_key, executions, ended_before_ms, failed_before_ms, others_before_ms }
    }
}

async fn forget_due<D: Dialect>(
    engine: &Engine<D>,
    round: &Round,
    kept: &Kept,
    now_ms: i64,
) -> Result<Report, EngineError> {
    let is_spread = engine.db().is_spread().await?;
    let mut pages = Pages::new(round, now_ms);
    while let Some(after) = pages.after() {
        let Asked { namespace, tag_key, tag_value } = Asked::of(&round.filter);
        let params = trim::TrimDueListParams {
            ended_before_ms: kept.failed_before_ms.max(kept.others_before_ms),
            failed_before_ms: kept.failed_before_ms,
            others_before_ms: kept.others_before_ms,
            lane_id: kept.lane_id.clone(),
            other_lanes: kept.other_lanes.clone(),
            after_terminal_at_ms: after.at_ms,
            after_partition_key: after.partition_key,
            after_execution_id: after.id.into(),
            namespace,
            tag_key,
            tag_value,
            page_size: PAGE_SIZE,
        };
        let rows = engine.db().read(params).await?;
        let place = |row: &trim::TrimDueListRow| {
            Place::new(row.terminal_at_ms, row.execution.partition_key, row.execution.execution_id)
        };
        let mut ended: BTreeMap<PartitionNumber, Vec<ExecutionUuid>> = BTreeMap::new();
        for row in pages.of(rows, place) {
            ended.entry(row.execution.partition_key).or_default().push(row.execution.execution_id);
        }
        for (partition_key, executions) in ended {
            for page in executions.chunks(PAGE as usize) {
                let lock = kept.lock(partition_key, page.to_vec());
                match forget_page(engine, lock, &round.filter, is_spread).await {
                    Ok(forgotten) => pages.report.add(Report::of(forgotten)),
                    Err(error) => pages.count(Err(error)),
                }
            }
        }
    }
    Ok(pages.report)
}

/// The executions of a lane that ended before a time.
struct Ended {
    partition_key: PartitionNumber,
    lane_id: LaneName,
    before_ms: i64,
}

/// Forgets page by page. Pages are read without locks; each is forgotten in a transaction of its own.
async fn forget_ended<D: Dialect>(
    engine: &Engine<D>,
    ended: &Ended,
    batch_size: u32,
    filter: &ScannerFilter,
) -> Result<u32, EngineError> {
    let Ended { partition_key, before_ms, .. } = *ended;
    let is_spread = engine.db().is_spread().await?;
    let mut forgotten = 0;
    let mut after = (i64::MIN, ExecutionUuid::LEAST);
    while forgotten < batch_size {
        let Asked { namespace, tag_key, tag_value } = Asked::of(filter);
        let page_size = PAGE.min(i64::from(batch_size - forgotten));
        let params = trim::TrimListParams {
            partition_key,
            lane_id: ended.lane_id.clone(),
            ended_before_ms: before_ms,
            after_terminal_at_ms: after.0,
            after_execution_id: after.1,
            namespace,
            tag_key,
            tag_value,
            page_size,
        };
        let page = engine.db().read(params).await?;
        let Some(last) = page.last() else { break };
        after = (last.terminal_at_ms, last.execution_id);
        let is_last = (page.len() as i64) < page_size;
        let executions = page.into_iter().map(|row| row.execution_id).collect();
        let lock = Kept::before(before_ms).lock(partition_key, executions);
        let page = forget_page(engine, lock, filter, is_spread).await?;
        forgotten = forgotten.saturating_add(page);
        if is_last {
            break;
        }
    }
    Ok(forgotten)
}

/// Forgets those of some executions that are old enough, pass the filter and are free, in one transaction.
async fn forget_page<D: Dialect>(
    engine: &Engine<D>,
    lock: trim::TrimLockParams,
    filter: &ScannerFilter,
    is_spread: bool,
) -> Result<u32, EngineError> {
    let filter = filter.clone();
    transaction!(engine, "trim", [lock, filter, is_spread], |conn| {
        forget_on::<D>(conn, lock, filter, *is_spread).await
    })
}

async fn forget_on<D: Dialect>(
    conn: &mut D::Connection,
    lock: &trim::TrimLockParams,
    filter: &ScannerFilter,
    is_spread: bool,
) -> Result<u32, Abort> {
    let trim::TrimLockParams { partition_key, ended_before_ms, .. } = *lock;
    let mut ended = Vec::new();
    for row in conn.trim_lock(lock).await? {
        let key = ExecKey { partition_key, execution_id: row.execution_id };
        if !passes(filter, &row.raw_fields) {
            continue;
        }
        if is_free::<D>(conn, key).await? {
            ended.push(row);
        }
    }
    if ended.is_empty() {
        return Ok(0);
    }
    for row in &ended {
        let execution = ExecKey { partition_key, execution_id: row.execution_id };
        conn.trim_delete(&trim::TrimDeleteParams { execution }).await?;
        if let Some(flow_id) = row.flow_id {
            let group = GroupKey { partition_key, flow_id, downstream_eid: row.execution_id };
            conn.trim_edge_delete(&trim::TrimEdgeDeleteParams { group }).await?;
            conn.trim_group_delete(&trim::TrimGroupDeleteParams { group }).await?;
        }
    }
    let executions: Vec<String> =
        ended.iter().map(|row| ExecKey { partition_key, execution_id: row.execution_id }.text()).collect();
    let (partition, named) = (partition_key.into(), || executions.clone());
    let leases = trim::TrimLeaseEventDeleteParams { partition_key: partition, ended_before_ms, executions: named() };
    conn.trim_lease_event_delete(&leases).await?;
    let signals = trim::TrimSignalEventDeleteParams { partition_key: partition, ended_before_ms, executions: named() };
    conn.trim_signal_event_delete(&signals).await?;
    let operators =
        trim::TrimOperatorEventDeleteParams { partition_key: partition, ended_before_ms, executions: named() };
    conn.trim_operator_event_delete(&operators).await?;
    if is_spread {
        conn.spread_usage_delete(&spread::SpreadUsageDeleteParams { executions }).await?;
    } else {
        conn.trim_usage_delete(&trim::TrimUsageDeleteParams { executions }).await?;
    }
    let mut ids = Vec::with_capacity(ended.len());
    for row in &ended {
        ids.push(execution_id(partition_key, row.execution_id)?.to_string());
    }
    conn.trim_backlog_delete(&trim::TrimBacklogDeleteParams { executions: ids }).await?;
    Ok(u32::try_from(ended.len()).unwrap_or(u32::MAX)) // tidy: at most one page
}

/// Forgets those of some executions of a partition that have ended and that nobody holds, page by page; how many.
pub(crate) async fn forget_named<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    executions: &[ExecutionUuid],
) -> Result<u32, EngineError> {
    let is_spread = engine.db().is_spread().await?;
    let mut forgotten = 0;
    for page in executions.chunks(PAGE as usize) {
        let lock = Kept::before(i64::MAX).lock(partition_key, page.to_vec());
        forgotten += forget_page(engine, lock, &ScannerFilter::NOOP, is_spread).await?;
    }
    Ok(forgotten)
}

/// Takes all that is kept with an execution, if nobody else holds any of it.
async fn is_free<D: Dialect>(conn: &mut D::Connection, key: ExecKey) -> Result<bool, Abort> {
    if seize::whole::<D>(conn, key).await? != Seized::Taken {
        return Ok(false);
    }
    let parts = trim::TrimPartsTryLockParams { execution: key };
    let parts = conn.trim_parts_try_lock(&parts).await?;
    Ok(parts.kept_count == parts.there_count)
}
