//! Forgetting executions that ended long ago, with everything that is kept with them.

use std::collections::BTreeSet;

use ff_core::backend::ScannerFilter;
use ff_core::engine_error::EngineError;
use ff_core::partition::Partition;
use ff_core::types::{LaneId, TimestampMs};
use uuid::Uuid;

use crate::backend::Backend;
use crate::db::Dialect;
use crate::engine::policy::expiry::passes;
use crate::error::Abort;
use crate::model::given::stored_ms;
use crate::model::id::{ExecKey, execution_id, partition_key, reject_nul};
use crate::statements::{Statements, trim};
use crate::sweep::{FullScannerConfig, Report};

/// How many executions one page of the search has.
const PAGE: i64 = 100;
/// How many executions of a lane one run of the sweep forgets.
const SWEEP_BATCH: u32 = 100;
/// How many ended executions one run of the sweep looks at to find their lanes.
const SWEEP_PAGE: i64 = 1_000;

/// Forgets executions of a lane that ended at least that long ago, the oldest first, at most `batch_size`, and
/// answers how many.
///
/// Precondition: none; what is open or does not pass the filter stays. Effect: the execution is gone with its
/// attempts, streams, grants, suspension, events and what it used of its budgets. Completions that a flow has
/// not followed yet stay, so that nobody waits for ever. Repeating it forgets the next ones.
pub(crate) async fn forget<D: Dialect>(
    backend: &Backend<D>,
    partition: &Partition,
    lane: &LaneId,
    retention_ms: u64,
    now: TimestampMs,
    batch_size: u32,
    filter: &ScannerFilter,
) -> Result<u32, EngineError> {
    reject_nul("lane_id", lane.as_str())?;
    let request = Request {
        partition_key: partition_key(partition.index)?,
        lane_id: lane.as_str().to_owned(),
        ended_before_ms: now.0.saturating_sub(stored_ms(retention_ms)),
        batch_size,
        filter: filter.clone(),
    };
    transaction!(backend, "trim", [request], |conn| { trim_on::<D>(conn, request).await })
}

/// One run of the sweep: a batch of every lane that has executions to forget.
pub(crate) async fn sweep<D: Dialect>(backend: &Backend<D>, config: &FullScannerConfig) -> Result<Report, EngineError> {
    let now_ms = backend.now_ms();
    let ended_before_ms = now_ms.saturating_sub(stored_ms(config.retention.as_millis()));
    let params = trim::TrimDueListParams { ended_before_ms, page_size: SWEEP_PAGE };
    let due = read!(backend, trim_due_list, params)?;
    let lanes: BTreeSet<(i16, String)> = due.into_iter().map(|row| (row.partition_key, row.lane_id)).collect();
    let mut report = Report::default();
    for (partition_key, lane_id) in lanes {
        let filter = config.scanner_filter.clone();
        let request = Request { partition_key, lane_id, ended_before_ms, batch_size: SWEEP_BATCH, filter };
        match transaction!(backend, "trim", [request], |conn| { trim_on::<D>(conn, request).await }) {
            Ok(trimmed) => report.processed = report.processed.saturating_add(trimmed),
            Err(error) => report.count(Err(error)),
        }
    }
    Ok(report)
}

struct Request {
    partition_key: i16,
    lane_id: String,
    ended_before_ms: i64,
    batch_size: u32,
    filter: ScannerFilter,
}

async fn trim_on<D: Dialect>(conn: &mut D::Connection, request: &Request) -> Result<u32, Abort> {
    let partition_key = request.partition_key;
    let ended = find::<D>(conn, request).await?;
    if ended.is_empty() {
        return Ok(0);
    }
    for uuid in &ended {
        conn.trim_delete(&trim::TrimDeleteParams { partition_key, execution_id: *uuid }).await?;
    }
    let executions: Vec<String> =
        ended.iter().map(|uuid| ExecKey { partition_key, execution_id: *uuid }.text()).collect();
    let leases =
        trim::TrimLeaseEventDeleteParams { partition_key: partition_key.into(), executions: executions.clone() };
    conn.trim_lease_event_delete(&leases).await?;
    let signals =
        trim::TrimSignalEventDeleteParams { partition_key: partition_key.into(), executions: executions.clone() };
    conn.trim_signal_event_delete(&signals).await?;
    let operators =
        trim::TrimOperatorEventDeleteParams { partition_key: partition_key.into(), executions: executions.clone() };
    conn.trim_operator_event_delete(&operators).await?;
    conn.trim_usage_delete(&trim::TrimUsageDeleteParams { executions }).await?;
    let mut ids = Vec::with_capacity(ended.len());
    for uuid in &ended {
        ids.push(execution_id(partition_key, *uuid)?.to_string());
    }
    conn.trim_backlog_delete(&trim::TrimBacklogDeleteParams { executions: ids }).await?;
    Ok(u32::try_from(ended.len()).unwrap_or(u32::MAX)) // tidy: at most one batch
}

/// The first executions that pass the filter, one batch at most.
async fn find<D: Dialect>(conn: &mut D::Connection, request: &Request) -> Result<Vec<Uuid>, Abort> {
    let limit = request.batch_size as usize;
    let mut found = Vec::new();
    let mut after = (i64::MIN, Uuid::nil());
    while found.len() < limit {
        let params = trim::TrimListParams {
            partition_key: request.partition_key,
            lane_id: request.lane_id.clone(),
            ended_before_ms: request.ended_before_ms,
            after_terminal_at_ms: after.0,
            after_execution_id: after.1,
            page_size: PAGE.min(i64::from(request.batch_size)),
        };
        let rows = conn.trim_list(&params).await?;
        let is_last = (rows.len() as i64) < params.page_size;
        for row in rows {
            after = (row.terminal_at_ms, row.execution_id);
            if found.len() < limit && passes(&request.filter, &row.raw_fields) {
                found.push(row.execution_id);
            }
        }
        if is_last {
            break;
        }
    }
    Ok(found)
}
