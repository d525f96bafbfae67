//! What whoever looks after a database does: counts and lists executions by any property, forgets what has ended, holds lanes
//! and flows back.

use std::collections::BTreeMap;

use ff_core::engine_error::EngineError;
use ff_core::types::ExecutionId;

use crate::column::{ExecutionUuid, FlowUuid, LaneName, PartitionNumber};
use crate::db::{Dialect, Wakes};
use crate::engine::{Engine, trim};
use crate::model::document;
use crate::model::id::{ExecKey, exec_key, execution_id, reject_nul};
use crate::model::manage::{ExecutionFilter, ListedExecution, ListedPage, ListedState, Pause, PauseTarget, StateCount};
use crate::model::word::PublicWord;
use crate::statements::manage;

/// How many rows one page of a list has.
const PAGE: i64 = 500;

/// How many executions each lane has in each state.
pub(crate) async fn count<D: Dialect>(engine: &Engine<D>) -> Result<Vec<StateCount>, EngineError> {
    let mut counts: BTreeMap<(LaneName, ListedState), (i64, i64)> = BTreeMap::new();
    for row in engine.db().survey(manage::ManageCountListParams).await? {
        let state = ListedState::stored(&row.public_state, &row.eligibility_state);
        let (depth, oldest_at_ms) = counts.entry((row.lane_id, state)).or_insert((0, i64::MAX));
        *depth = depth.saturating_add(row.depth);
        *oldest_at_ms = row.oldest_at_ms.min(*oldest_at_ms);
    }
    let shown = |((lane, state), (depth, oldest_at_ms)): ((LaneName, _), _)| StateCount {
        lane: lane.shown(),
        state,
        depth,
        oldest_at_ms,
    };
    Ok(counts.into_iter().map(shown).collect())
}

/// A page of at most `limit` executions that pass a filter, in the order of their partitions and ids, strictly after one.
pub(crate) async fn list<D: Dialect>(
    engine: &Engine<D>,
    filter: &ExecutionFilter,
    after: Option<&ExecutionId>,
    limit: usize,
) -> Result<ListedPage, EngineError> {
    filter.lane.as_ref().map_or(Ok(()), |lane| reject_nul("lane", lane.as_str()))?;
    let mut place = after.map(exec_key).transpose()?.unwrap_or(FIRST); // tidy: no cursor
    let mut executions = Vec::new();
    loop {
        let words = filter
            .states
            .iter()
            .flat_map(|state| state.words().iter())
            .map(|word| PublicWord::from((*word).to_owned()));
        let params = manage::ManageExecutionListParams {
            after_partition_key: place.partition_key,
            after_execution_id: place.execution_id,
            lane_id: filter.lane.as_ref().map(LaneName::from),
            flow_id: filter.flow.as_ref().map(FlowUuid::from),
            any_state: i32::from(filter.states.is_empty()),
            states: words.collect(),
            before_ms: filter.before_ms.unwrap_or(i64::MAX), // tidy: no condition
            page_size: PAGE,
        };
        let rows = engine.db().survey(params).await?;
        let is_last = (rows.len() as i64) < PAGE;
        for row in rows {
            place = row.execution;
            let execution = listed(row)?;
            if filter.passes(&execution) {
                executions.push(execution);
            }
            if executions.len() >= limit {
                let next = Some(execution_id(place.partition_key, place.execution_id)?);
                return Ok(ListedPage { executions, next });
            }
        }
        if is_last {
            return Ok(ListedPage { executions, next: None });
        }
    }
}

/// Before every execution.
const FIRST: ExecKey = ExecKey { partition_key: PartitionNumber::LEAST, execution_id: ExecutionUuid::LEAST };

fn listed(row: manage::ManageExecutionListRow) -> Result<ListedExecution, EngineError> {
    let fields = &row.raw_fields;
    let mut capabilities: Vec<String> =
        row.required_capabilities.split(',').filter(|token| !token.is_empty()).map(str::to_owned).collect();
    capabilities.sort_unstable();
    Ok(ListedExecution {
        id: execution_id(row.execution.partition_key, row.execution.execution_id)?,
        state: ListedState::stored(&row.public_state, &row.eligibility_state),
        lane: row.lane_id.shown(),
        flow: row.flow_id.map(FlowUuid::shown),
        waits_for: row.blocking_reason.map(|reason| reason.as_str().to_owned()),
        kind: document::member_string(fields, "execution_kind"),
        namespace: document::member_string(fields, "namespace"),
        capabilities,
        priority: row.priority,
        created_at_ms: row.created_at_ms,
        ended_at_ms: row.terminal_at_ms,
        due_at_ms: row.deadline_at_ms,
        attempts: document::counter(fields, "total_attempt_count"),
        crashes: document::counter(fields, document::CRASH_COUNT),
        retries: document::counter(fields, "retry_count"),
        last_failure: document::member_text(fields, "last_failure_message"),
    })
}

/// Forgets those of some executions that have ended, with all that belongs to them; how many. What somebody holds, and what
/// has not ended, stays.
pub(crate) async fn discard<D: Dialect>(engine: &Engine<D>, executions: &[ExecutionId]) -> Result<u32, EngineError> {
    let mut by_partition: BTreeMap<PartitionNumber, Vec<ExecutionUuid>> = BTreeMap::new();
    for id in executions {
        let key = exec_key(id)?;
        by_partition.entry(key.partition_key).or_default().push(key.execution_id);
    }
    let mut forgotten = 0;
    for (partition_key, executions) in by_partition {
        forgotten += trim::forget_named(engine, partition_key, &executions).await?;
    }
    Ok(forgotten)
}

/// Holds a lane or a flow back; answers whether it went on until now.
///
/// Precondition: the lane was used, or the flow is there. Effect: no claim of a queue finds any of its executions. Repeating
/// it changes nothing.
pub(crate) async fn pause<D: Dialect>(
    engine: &Engine<D>,
    target: &PauseTarget,
    reason: &str,
) -> Result<bool, EngineError> {
    reject_nul("reason", reason)?;
    let (now_ms, reason) = (engine.now_ms(), reason.to_owned());
    let (entity, written, pause) = match target {
        PauseTarget::Lane(lane) => {
            reject_nul("lane", lane.as_str())?;
            let lane_id: LaneName = lane.into();
            let params = manage::ManageLanePauseParams { now_ms, reason, lane_id: lane_id.clone() };
            let written = engine.db().unit(params).await?;
            ("lane", written, lane_pause(engine, lane_id).await?)
        }
        PauseTarget::Flow(flow) => {
            let (partition_key, flow_id) = (engine.flow_partition(flow), flow.into());
            let params = manage::ManageFlowPauseParams { now_ms, reason, partition_key, flow_id };
            let written = engine.db().unit(params).await?;
            let read = manage::ManageFlowPauseReadParams { partition_key, flow_id };
            ("flow", written, engine.db().read(read).await?.map(|row| row.paused_at_ms))
        }
    };
    if written == 0 && pause.is_none() {
        return Err(EngineError::NotFound { entity });
    }
    Ok(written > 0)
}

/// Lets a lane or a flow go on; answers whether it was held back. Repeating it changes nothing.
pub(crate) async fn resume<D: Dialect>(engine: &Engine<D>, target: &PauseTarget) -> Result<bool, EngineError> {
    let ended = match target {
        PauseTarget::Lane(lane) => {
            reject_nul("lane", lane.as_str())?;
            let lane_id: LaneName = lane.into();
            let params = manage::ManageLaneResumeParams { lane_id: lane_id.clone() };
            let tell = move |ended: &u64, wakes: &mut Wakes| {
                if *ended > 0 {
                    wakes.queued_on(lane_id.clone());
                }
            };
            engine.db().unit_counting(params, tell).await?
        }
        PauseTarget::Flow(flow) => {
            let params =
                manage::ManageFlowResumeParams { partition_key: engine.flow_partition(flow), flow_id: flow.into() };
            let tell = |ended: &u64, wakes: &mut Wakes| wakes.queued_if(*ended > 0);
            engine.db().unit_counting(params, tell).await?
        }
    };
    Ok(ended > 0)
}

/// Everything that is held back: lanes, then flows.
pub(crate) async fn list_pauses<D: Dialect>(engine: &Engine<D>) -> Result<Vec<Pause>, EngineError> {
    let lanes = engine.db().survey(manage::ManageLanePauseListParams).await?;
    let lanes = lanes.into_iter().map(|row| Pause {
        target: PauseTarget::Lane(row.lane_id.shown()),
        since_ms: row.paused_at_ms,
        reason: row.reason,
    });
    let flows = engine.db().survey(manage::ManageFlowPauseListParams).await?;
    let flows = flows.into_iter().map(|row| Pause {
        target: PauseTarget::Flow(row.flow_id.shown()),
        since_ms: row.paused_at_ms,
        reason: row.reason,
    });
    Ok(lanes.chain(flows).collect())
}

/// Since when a lane is held back; none where it goes on.
pub(crate) async fn lane_pause<D: Dialect>(engine: &Engine<D>, lane_id: LaneName) -> Result<Option<i64>, EngineError> {
    let row = engine.db().read(manage::ManageLanePauseReadParams { lane_id }).await?;
    Ok(row.map(|row| row.paused_at_ms))
}
