//! Forgetting what has served its time and belongs to no execution that [`super::trim`] would take with it.
//!
//! Each step deletes page by page, each page by itself, and leaves what somebody holds for the next run, and what is left
//! when its time is over; every step has the whole time of the round. What is kept for as long as the
//! configuration says, rather than for a fixed time, is only forgotten by a process that looks after everything: one
//! with a filter may not know for how long others want theirs.

use std::collections::{BTreeMap, HashSet};

use ff_core::engine_error::EngineError;

use crate::column::{ExecutionUuid, FlowUuid, PartitionNumber};
use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::execution::IDEMPOTENCY_KEY_TTL_MS;
use crate::engine::policy::retention::FlowAge;
use crate::engine::round::{Report, Round, Time};
use crate::engine::seize::{self, Seized};
use crate::model::given::stored_ms;
use crate::model::id::{ExecKey, corruption};
use crate::statements::{Statement, Statements, flow_summary, quota, retention, server, spread, trim};

/// How many rows are read, or deleted, in one call.
const PAGE: i64 = 500;
/// For how long a suspension is remembered by its key.
const SUSPEND_KEY_LIFE_MS: i64 = 7 * 86_400_000;
/// For how long it is noted what an execution spent that is not there.
const SPENT_LIFE_MS: i64 = 30 * 86_400_000;
/// For how long the mark of a lane is kept that nobody makes anew.
const MARK_LIFE_MS: i64 = 86_400_000;
/// In how many partitions worker instances are, where they are in partitions.
const WORKER_PARTITIONS: u16 = 256;

/// One run of the sweep. A process whose clock is ahead of the database's forgets nothing early.
pub(crate) async fn sweep<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let now_ms = engine.db().read(server::ServerTimeParams).await?.now_ms.min(engine.now_ms());
    let mut report = Report::default();
    let is_spread = engine.db().is_spread().await?;
    forget_keys(engine, round, is_spread, now_ms, &mut report).await;
    forget_marks(engine, round, now_ms.saturating_sub(MARK_LIFE_MS), &mut report).await;
    forget_grants(engine, round, now_ms, &mut report).await?;
    forget_spenders(engine, round, is_spread, now_ms.saturating_sub(SPENT_LIFE_MS), &mut report).await?;
    if round.filter.is_noop() {
        let before_ms = now_ms.saturating_sub(stored_ms(round.retention.as_millis()));
        forget_events(engine, round, is_spread, before_ms, &mut report).await;
        forget_completions(engine, round, before_ms, &mut report).await?;
        forget_admissions(engine, round, before_ms, now_ms, &mut report).await;
        forget_flows(engine, round, before_ms, &mut report).await?;
    }
    Ok(report)
}

/// Deletes page after page until one is not full or the time is over.
async fn delete_pages<D, S>(engine: &Engine<D>, time: Time<'_>, report: &mut Report, page: impl Fn() -> S)
where
    D: Dialect,
    S: Statement<Output = u64> + 'static,
{
    while forgot(report, engine.db().unit::<S>(page()).await) && !time.is_over() {}
}

/// The same in one partition after the other.
async fn delete_pages_in<D, S>(
    engine: &Engine<D>,
    time: Time<'_>,
    report: &mut Report,
    partitions: impl Iterator<Item = PartitionNumber>,
    page: impl Fn(PartitionNumber) -> S,
) where
    D: Dialect,
    S: Statement<Output = u64> + 'static,
{
    for partition_key in partitions {
        delete_pages(engine, time, report, || page(partition_key)).await;
    }
}

/// Keys of usage reports, of suspensions and of creations whose time is over.
async fn forget_keys<D: Dialect>(engine: &Engine<D>, round: &Round, is_spread: bool, now_ms: i64, report: &mut Report) {
    let partitions = D::counter_partitions(engine.partitions().num_budget_partitions);
    let params = |partition_key| retention::RetentionUsageKeyDeleteParams { partition_key, now_ms, page_size: PAGE };
    delete_pages_in(engine, round.time(), report, partitions, params).await;
    let created_before_ms = now_ms.saturating_sub(SUSPEND_KEY_LIFE_MS);
    if is_spread {
        let old = spread::SpreadSuspendKeyDeleteParams { created_before_ms };
        forgot(report, engine.db().unit(old).await);
    } else {
        let params = || retention::RetentionSuspendKeyDeleteParams { created_before_ms, page_size: PAGE };
        delete_pages(engine, round.time(), report, params).await;
    }
    let created_before_ms = now_ms.saturating_sub(IDEMPOTENCY_KEY_TTL_MS);
    let params = || retention::RetentionIdempotencyKeyDeleteParams { created_before_ms, page_size: PAGE };
    delete_pages(engine, round.time(), report, params).await;
}

/// Marks that nobody makes anew. They say again what other rows say, so those that are forgotten are not counted.
async fn forget_marks<D: Dialect>(engine: &Engine<D>, round: &Round, made_before_ms: i64, report: &mut Report) {
    let mut marks = Report::default();
    let params = || retention::RetentionClaimMarkDeleteParams { made_before_ms, page_size: PAGE };
    delete_pages(engine, round.time(), &mut marks, params).await;
    report.add(Report { processed: 0, ..marks });
}

/// Events of outboxes and of worker instances from before a time.
async fn forget_events<D: Dialect>(
    engine: &Engine<D>,
    round: &Round,
    is_spread: bool,
    before_ms: i64,
    report: &mut Report,
) {
    let page_size = PAGE;
    if is_spread {
        forgot(report, engine.db().unit(spread::SpreadLeaseEventDeleteParams { before_ms }).await);
        forgot(report, engine.db().unit(spread::SpreadSignalEventDeleteParams { before_ms }).await);
        forgot(report, engine.db().unit(spread::SpreadOperatorEventDeleteParams { before_ms }).await);
    } else {
        let params = || retention::RetentionLeaseEventDeleteParams { page_size, before_ms };
        delete_pages(engine, round.time(), report, params).await;
        let params = || retention::RetentionSignalEventDeleteParams { page_size, before_ms };
        delete_pages(engine, round.time(), report, params).await;
        let params = || retention::RetentionOperatorEventDeleteParams { page_size, before_ms };
        delete_pages(engine, round.time(), report, params).await;
    }
    let params = |partition_key| retention::RetentionWorkerEventDeleteParams { partition_key, before_ms, page_size };
    delete_pages_in(engine, round.time(), report, D::counter_partitions(WORKER_PARTITIONS), params).await;
}

/// Completions from before a time that no flow still has to follow. A completion is as old as the host says that ended the
/// execution, or as the database says that noted it, whichever is longer ago: the one clock may be ahead, and ids follow
/// the other closely enough that a page in which nothing is old is the last one.
async fn forget_completions<D: Dialect>(
    engine: &Engine<D>,
    round: &Round,
    before_ms: i64,
    report: &mut Report,
) -> Result<(), EngineError> {
    let time = round.time();
    let is_old = |row: &retention::RetentionCompletionListRow| row.occurred_at_ms.min(row.committed_at_ms) < before_ms;
    let mut after = 0;
    loop {
        let params = retention::RetentionCompletionListParams { after, page_size: PAGE };
        let page = engine.db().survey(params).await?;
        let Some(last) = page.last() else { break };
        after = last.event_id;
        let is_last = (page.len() as i64) < PAGE || !page.iter().any(is_old);
        let mut old: BTreeMap<PartitionNumber, Vec<i64>> = BTreeMap::new();
        for row in page {
            let is_followed = row.dispatched_at_ms.is_some() || row.flow_id.is_none();
            if is_followed && is_old(&row) {
                old.entry(row.partition_key).or_default().push(row.event_id);
            }
        }
        for (partition_key, event_ids) in old {
            let params = retention::RetentionCompletionEventDeleteParams { partition_key, event_ids };
            forgot(report, engine.db().unit(params).await);
        }
        if is_last || time.is_over() {
            break;
        }
    }
    Ok(())
}

/// What was admitted under limits that only callers know: there is no policy whose upkeep would look at it, or one
/// without a window.
async fn forget_admissions<D: Dialect>(
    engine: &Engine<D>,
    round: &Round,
    before_ms: i64,
    now_ms: i64,
    report: &mut Report,
) {
    let partitions = || D::counter_partitions(engine.partitions().num_quota_partitions);
    let params = |partition_key| quota::QuotaStrayAdmittedDeleteParams { partition_key, now_ms, page_size: PAGE };
    delete_pages_in(engine, round.time(), report, partitions(), params).await;
    let params = |partition_key| quota::QuotaStrayWindowDeleteParams { partition_key, before_ms, page_size: PAGE };
    delete_pages_in(engine, round.time(), report, partitions(), params).await;
}

/// Grants that nobody used. An execution that was kept for the holder of one can be claimed again.
async fn forget_grants<D: Dialect>(
    engine: &Engine<D>,
    round: &Round,
    now_ms: i64,
    report: &mut Report,
) -> Result<(), EngineError> {
    let time = round.time();
    let mut after = (i64::MIN, Vec::new());
    loop {
        let params = retention::RetentionGrantListParams {
            now_ms,
            after_expires_at_ms: after.0,
            after_grant_id: after.1.clone(),
            page_size: PAGE,
        };
        let page = engine.db().read(params).await?;
        let is_last = (page.len() as i64) < PAGE;
        for row in page {
            after = (row.expires_at_ms, row.grant_id.clone());
            report.count(
                withdraw(engine, row.execution.partition_key, row.execution.execution_id, row.grant_id, now_ms).await,
            );
        }
        if is_last || time.is_over() {
            return Ok(());
        }
    }
}

/// Withdraws a grant whose time is over; says whether it was still there and nobody held its execution.
async fn withdraw<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    execution_id: ExecutionUuid,
    grant_id: Vec<u8>,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let key = ExecKey { partition_key, execution_id };
    let delete = retention::RetentionGrantDeleteParams { partition_key, grant_id, now_ms };
    let reopen = retention::RetentionClaimReopenParams { execution: key };
    transaction!(engine, "retention_grant_withdraw", [key, delete, reopen], |conn| {
        // A grant outlives its execution.
        if seize::whole::<D>(conn, *key).await? == Seized::Held {
            return Ok(false);
        }
        if conn.retention_grant_delete(delete).await? == 0 {
            return Ok(false);
        }
        conn.retention_claim_reopen(reopen).await?;
        Ok(true)
    })
}

/// What executions spent that are not there: whoever reported it named one that never was, or reported too late.
/// The budgets' counters stay.
async fn forget_spenders<D: Dialect>(
    engine: &Engine<D>,
    round: &Round,
    is_spread: bool,
    before_ms: i64,
    report: &mut Report,
) -> Result<(), EngineError> {
    let time = round.time();
    for partition_key in D::counter_partitions(engine.partitions().num_budget_partitions) {
        let mut after = String::new();
        loop {
            let params = retention::RetentionSpenderListParams { partition_key, before_ms, after, page_size: PAGE };
            let spenders: Vec<String> =
                engine.db().read(params).await?.into_iter().map(|row| row.execution_text).collect();
            let Some(last) = spenders.last() else { break };
            after = last.clone();
            let executions = spenders.iter().map(|text| uuid(text)).collect::<Result<Vec<_>, _>>()?;
            let params = retention::RetentionExecutionsFindParams { executions };
            let living = engine.db().survey(params).await?;
            let living: HashSet<ExecutionUuid> = living.into_iter().map(|row| row.execution_id).collect();
            let mut gone = Vec::new();
            for text in spenders {
                if !living.contains(&uuid(&text)?) {
                    gone.push(text);
                }
            }
            let count = gone.len();
            if count > 0 {
                if is_spread {
                    engine.db().unit(spread::SpreadUsageDeleteParams { executions: gone }).await?;
                } else {
                    engine.db().unit(trim::TrimUsageDeleteParams { executions: gone }).await?;
                }
                report.processed = report.processed.saturating_add(u32::try_from(count).unwrap_or(u32::MAX)); // tidy: at most one page
            }
            if time.is_over() {
                break;
            }
        }
    }
    Ok(())
}

fn uuid(text: &str) -> Result<ExecutionUuid, EngineError> {
    ExecutionUuid::parse(text)
        .map_err(|error| corruption(format!("ff_budget_usage_by_exec.execution_id: '{text}': {error}")))
}

/// Flows that are over and whose members were all forgotten, with their edges, groups, summaries and what was noted
/// about cancelling them.
async fn forget_flows<D: Dialect>(
    engine: &Engine<D>,
    round: &Round,
    before_ms: i64,
    report: &mut Report,
) -> Result<(), EngineError> {
    let time = round.time();
    let mut after = (i64::MIN, FlowUuid::LEAST);
    loop {
        let params = retention::RetentionFlowListParams {
            before_ms,
            after_created_at_ms: after.0,
            after_flow_id: after.1,
            page_size: PAGE,
        };
        let page = engine.db().survey(params).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = (last.created_at_ms, last.flow_id);
        for row in page {
            report.count(forget_flow(engine, row.partition_key, row.flow_id, before_ms).await);
        }
        if time.is_over() {
            return Ok(());
        }
    }
}

/// Forgets one flow if it is over and has no member left; says whether it did.
async fn forget_flow<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    flow_id: FlowUuid,
    before_ms: i64,
) -> Result<bool, EngineError> {
    let lock = retention::RetentionFlowTryLockParams { partition_key, flow_id };
    transaction!(engine, "retention_flow", [lock], |conn| {
        let Some(flow) = conn.retention_flow_try_lock(lock).await? else { return Ok(false) };
        let age = FlowAge {
            public_flow_state: &flow.public_flow_state,
            created_at_ms: flow.created_at_ms,
            terminal_at_ms: flow.terminal_at_ms,
            document: &flow.raw_fields,
        };
        if !age.is_over_since(before_ms) {
            return Ok(false);
        }
        let &retention::RetentionFlowTryLockParams { partition_key, flow_id } = lock;
        // Whoever joins locks the flow first, so a member that this read does not see will not come.
        let members = flow_summary::FlowSummaryCountParams { partition_key, flow_id };
        if !conn.flow_summary_count(&members).await?.is_empty() {
            return Ok(false);
        }
        conn.retention_flow_edges_delete(&retention::RetentionFlowEdgesDeleteParams { partition_key, flow_id }).await?;
        conn.retention_flow_groups_delete(&retention::RetentionFlowGroupsDeleteParams { partition_key, flow_id })
            .await?;
        conn.retention_flow_delete(&retention::RetentionFlowDeleteParams { partition_key, flow_id }).await?;
        Ok(true)
    })
}

/// Counts a page of deleted rows; says whether there may be another.
fn forgot(report: &mut Report, deleted: Result<u64, EngineError>) -> bool {
    match deleted {
        Ok(deleted) => {
            let deleted = u32::try_from(deleted).unwrap_or(u32::MAX); // tidy: a count of at most one page
            report.processed = report.processed.saturating_add(deleted);
            i64::from(deleted) == PAGE
        }
        Err(error) => {
            report.count(Err(error));
            false
        }
    }
}
