//! Putting executions back into the queue when what they wait for has come: a budget with something left, a
//! quota with room, a worker that can run them.
//!
//! The judgement is made on reads; the change itself asks again whether the execution is still blocked for that
//! reason. Whoever claims it then asks budgets and quotas again, so nothing depends on the instant. What an
//! operator or a policy paused stays.

use std::collections::{BTreeSet, HashMap};

use ff_core::engine_error::EngineError;
use ff_core::types::QuotaPolicyId;
use serde_json::Value;

use crate::column::{ExecutionUuid, PartitionNumber};
use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::policy::allowance::{budget_ids, quota_policy_id};
use crate::engine::policy::capability;
use crate::engine::policy::filter::{Asked, passes};
use crate::engine::round::{Report, Round};
use crate::engine::seize::{self, Seized};
use crate::engine::{quota, schedule, worker};
use crate::model::document;
use crate::model::id::execution_id;
use crate::model::word::BlockingWord;
use crate::statements::{Statements, admission};

/// How many executions one page of the list has.
const PAGE: i64 = 250;

/// What one run has found out: which budgets have something left, which quotas have room, and what the workers of a
/// namespace offer.
#[derive(Default)]
struct Known {
    budgets: HashMap<String, bool>,
    quotas: HashMap<QuotaPolicyId, bool>,
    offered: HashMap<String, BTreeSet<String>>,
}

/// One run of the sweep: judges every blocked execution again and puts those back that nothing blocks any more.
pub(crate) async fn sweep<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let now_ms = engine.now_ms();
    let (mut report, mut known) = (Report::default(), Known::default());
    let mut after = (PartitionNumber::LEAST, ExecutionUuid::LEAST);
    loop {
        let Asked { namespace, tag_key, tag_value } = Asked::of(&round.filter);
        let params = admission::AdmissionBlockedListParams {
            after_partition_key: after.0,
            after_execution_id: after.1,
            namespace,
            tag_key,
            tag_value,
            page_size: PAGE,
        };
        let rows = engine.db().survey(params).await?;
        let is_last = (rows.len() as i64) < PAGE;
        for row in rows {
            after = (row.execution.partition_key, row.execution.execution_id);
            if passes(&round.filter, &row.raw_fields) {
                report.count(let_go(engine, &row, &mut known, now_ms).await);
            }
        }
        if is_last {
            return Ok(report);
        }
    }
}

/// Puts one execution back, if it may go; says whether it was put back.
async fn let_go<D: Dialect>(
    engine: &Engine<D>,
    row: &admission::AdmissionBlockedListRow,
    known: &mut Known,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let Some(reason) = &row.blocking_reason else { return Ok(false) };
    let may_go = match reason {
        BlockingWord::WaitingForBudget => have_budgets_room(engine, &row.raw_fields, known).await?,
        BlockingWord::WaitingForQuota => has_quota_room(engine, row, known, now_ms).await?,
        BlockingWord::WaitingForCapableWorker => can_somebody(engine, row, known, now_ms).await?,
        _ => false,
    };
    if !may_go {
        return Ok(false);
    }
    let params = admission::AdmissionUnblockParams {
        now_text: now_ms.to_string(),
        execution: row.execution,
        blocking_reason: reason.clone(),
    };
    let key = row.execution;
    transaction!(
        engine,
        "admission_unblock",
        [key, params],
        |conn| {
            if seize::whole::<D>(conn, *key).await? != Seized::Taken {
                return Ok(false);
            }
            Ok(conn.admission_unblock(params).await? > 0)
        },
        |is_unblocked, wakes| wakes.queued_if(*is_unblocked)
    )
}

async fn have_budgets_room<D: Dialect>(
    engine: &Engine<D>,
    raw_fields: &Value,
    known: &mut Known,
) -> Result<bool, EngineError> {
    for budget_id in budget_ids(raw_fields) {
        let has_room = match known.budgets.get(&budget_id) {
            Some(has_room) => *has_room,
            None => {
                let has_room = has_budget_room(engine, &budget_id).await?;
                known.budgets.insert(budget_id, has_room);
                has_room
            }
        };
        if !has_room {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn has_budget_room<D: Dialect>(engine: &Engine<D>, budget_id: &str) -> Result<bool, EngineError> {
    let params = (*engine.partitions(), budget_id.to_owned());
    let left = engine.db().reads("unblock_budget", params, |conn, (partitions, budget_id)| {
        Box::pin(schedule::has_budget_left::<D>(conn, partitions, budget_id))
    });
    left.await
}

/// An execution that names no policy waits for none. Putting one back takes no place, so the answer of a policy is
/// the same for all of one run.
async fn has_quota_room<D: Dialect>(
    engine: &Engine<D>,
    row: &admission::AdmissionBlockedListRow,
    known: &mut Known,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let Some(id) = quota_policy_id(&row.raw_fields) else { return Ok(true) };
    let execution_id = execution_id(row.execution.partition_key, row.execution.execution_id)?;
    if let Some(has_room) = known.quotas.get(&id) {
        return Ok(*has_room);
    }
    let has_room = quota::has_room(engine, &id, execution_id, now_ms).await?;
    known.quotas.insert(id, has_room);
    Ok(has_room)
}

/// Whether the workers of the execution's namespace offer what it requires. One without a namespace has none.
async fn can_somebody<D: Dialect>(
    engine: &Engine<D>,
    row: &admission::AdmissionBlockedListRow,
    known: &mut Known,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let Some(namespace) = document::member_string(&row.raw_fields, "namespace") else { return Ok(false) };
    if !known.offered.contains_key(&namespace) {
        let offered = worker::offered(engine, &namespace, now_ms).await?;
        known.offered.insert(namespace.clone(), offered);
    }
    let offered = known.offered.get(&namespace);
    Ok(offered.is_some_and(|offered| capability::missing(&row.required_capabilities, offered).is_none()))
}
