//! What keeps budgets and quotas right while nobody asks: steps for the sweeps and for the engine's reconcilers.
//!
//! A time that is later than the backend's own makes nothing due. A row that fails is counted and the others go on; one
//! that somebody holds is left for the next time.

use std::collections::HashMap;

use ff_core::engine_backend::ReconcileCounts;
use ff_core::engine_error::EngineError;
use ff_core::partition::Partition;
use ff_core::types::TimestampMs;

use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::budget::{self, Reset, Turned, reset_on};
use crate::engine::policy::budget::BudgetPolicy;
use crate::engine::quota;
use crate::engine::round::Report;
use crate::engine::seize::{self, Seized};
use crate::model::id;
use crate::statements::{self, Statements};

/// How many budgets of a partition are reset in one run.
const RESET_BATCH: i64 = 20;
/// How many rows are read in one call.
const PAGE: i64 = 500;

/// Begins the next period of budgets whose period has ended: 20 of each partition, the longest overdue first. A
/// budget that is never reset by itself, or was reset meanwhile, is left alone.
pub(crate) async fn reset_budgets<D: Dialect>(engine: &Engine<D>) -> Result<Report, EngineError> {
    reset_budgets_at(engine, engine.now_ms()).await
}

/// The same as if it were that time.
pub(crate) async fn reset_budgets_at<D: Dialect>(engine: &Engine<D>, now_ms: i64) -> Result<Report, EngineError> {
    let mut all = Report::default();
    for partition_key in D::counter_partitions(engine.partitions().num_budget_partitions) {
        add(&mut all, reset_budgets_in(engine, partition_key, now_ms).await?);
    }
    Ok(all)
}

/// The same in one partition.
pub(crate) async fn reset_budgets_in<D: Dialect>(
    engine: &Engine<D>,
    partition_key: i16,
    now_ms: i64,
) -> Result<Report, EngineError> {
    let mut report = Report::default();
    let due = statements::budget::BudgetResetDueParams { partition_key, now_ms, page_size: RESET_BATCH };
    for row in read!(engine, budget_reset_due, due)? {
        let reset = Reset { partition_key, budget_id: row.budget_id, now_ms, due_by_ms: Some(now_ms) };
        let turned = transaction!(engine, "budget_reset_due", [reset], |conn| {
            match seize::budget::<D>(conn, reset.partition_key, &reset.budget_id).await? {
                Seized::Taken => reset_on::<D>(conn, reset).await,
                Seized::Gone | Seized::Held => Ok(Turned::NotDue),
            }
        });
        report.count(turned.map(|turned| matches!(turned, Turned::To(_))));
    }
    Ok(report)
}

/// Notes breaches of hard limits that no report noted: the limits were lowered, or somebody else counted. Budgets
/// that are reset by themselves are left to that, and a breach that was noted stays noted until a reset.
///
/// # Errors
/// `Validation(InvalidInput)` when the partition exceeds the column.
pub(crate) async fn reconcile_budgets<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    now: TimestampMs,
) -> Result<ReconcileCounts, EngineError> {
    let partition_key = D::counter_partition(id::partition_key(partition.index)?);
    let report = reconcile_budgets_in(engine, partition_key, now.0.min(engine.now_ms())).await?;
    Ok(ReconcileCounts { processed: report.processed, errors: report.errors })
}

/// The same in all partitions.
pub(crate) async fn reconcile_all_budgets<D: Dialect>(engine: &Engine<D>) -> Result<Report, EngineError> {
    let mut all = Report::default();
    for partition_key in D::counter_partitions(engine.partitions().num_budget_partitions) {
        add(&mut all, reconcile_budgets_in(engine, partition_key, engine.now_ms()).await?);
    }
    Ok(all)
}

async fn reconcile_budgets_in<D: Dialect>(
    engine: &Engine<D>,
    partition_key: i16,
    now_ms: i64,
) -> Result<Report, EngineError> {
    let mut report = Report::default();
    let mut after = String::new();
    loop {
        let page = statements::budget::BudgetPolicyListParams { partition_key, after, page_size: PAGE };
        let rows = read!(engine, budget_policy_list, page)?;
        let Some(last) = rows.last() else { return Ok(report) };
        after = last.budget_id.clone();
        for row in rows {
            report.count(note_breach(engine, partition_key, row, now_ms).await);
        }
    }
}

async fn note_breach<D: Dialect>(
    engine: &Engine<D>,
    partition_key: i16,
    row: statements::budget::BudgetPolicyListRow,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let policy = BudgetPolicy::parse("reconcile_budget_counters", &row.policy_json)?;
    if policy.reset_interval_ms > 0 || row.last_breach_at_ms.is_some() || policy.hard.is_empty() {
        return Ok(false);
    }
    let usage: HashMap<String, u64> = budget::usage(engine, partition_key, row.budget_id.clone()).await?;
    let Some(dimension) = policy.exceeded(&usage) else { return Ok(false) };
    let params = statements::budget::BudgetBreachNoteParams {
        now_ms,
        dimension: dimension.to_owned(),
        partition_key,
        budget_id: row.budget_id,
    };
    transaction!(engine, "budget_breach_note", [params], |conn| {
        if seize::budget::<D>(conn, params.partition_key, &params.budget_id).await? != Seized::Taken {
            return Ok(false);
        }
        Ok(conn.budget_breach_note(params).await? > 0)
    })
}

/// Sets the quota policies of a partition right, one after the other.
///
/// # Errors
/// `Validation(InvalidInput)` when the partition exceeds the column.
pub(crate) async fn reconcile_quotas<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    now: TimestampMs,
) -> Result<ReconcileCounts, EngineError> {
    let partition_key = D::counter_partition(id::partition_key(partition.index)?);
    let report = reconcile_quotas_in(engine, partition_key, now.0.min(engine.now_ms())).await?;
    Ok(ReconcileCounts { processed: report.processed, errors: report.errors })
}

/// The same in all partitions.
pub(crate) async fn reconcile_all_quotas<D: Dialect>(engine: &Engine<D>) -> Result<Report, EngineError> {
    let mut all = Report::default();
    for partition_key in D::counter_partitions(engine.partitions().num_quota_partitions) {
        add(&mut all, reconcile_quotas_in(engine, partition_key, engine.now_ms()).await?);
    }
    Ok(all)
}

async fn reconcile_quotas_in<D: Dialect>(
    engine: &Engine<D>,
    partition_key: i16,
    now_ms: i64,
) -> Result<Report, EngineError> {
    let mut report = Report::default();
    let mut after = String::new();
    loop {
        let page = statements::quota::QuotaPolicyListParams { partition_key, after, page_size: PAGE };
        let rows = read!(engine, quota_policy_list, page)?;
        let Some(last) = rows.last() else { return Ok(report) };
        after = last.quota_policy_id.clone();
        for row in rows {
            report.count(quota::reconcile(engine, partition_key, row.quota_policy_id, now_ms).await);
        }
    }
}

fn add(all: &mut Report, part: Report) {
    all.processed = all.processed.saturating_add(part.processed);
    all.errors = all.errors.saturating_add(part.errors);
}
