//! The two long views of an execution: `describe_execution` and `read_execution_info`.

use std::collections::HashMap;

use ff_core::contracts::decode::build_execution_snapshot;
use ff_core::contracts::{ExecutionInfo, ExecutionSnapshot};
use ff_core::engine_error::EngineError;
use ff_core::types::ExecutionId;
use serde_json::Value;

use crate::column::StoredEpoch;
use crate::db::Dialect;
use crate::engine::Engine;
use crate::model::document;
use crate::model::id::{ExecKey, exec_key};
use crate::model::state::{StoredStates, public_state_word};
use crate::statements::{attempt, execution};

type Core = execution::ExecutionReadRow;
type Attempt = attempt::AttemptRunningReadRow;

/// A snapshot of an execution, `None` for an unknown one.
///
/// # Errors
/// `Validation(Corruption)` naming the field when a stored value is unknown.
pub(crate) async fn describe<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<Option<ExecutionSnapshot>, EngineError> {
    let key = exec_key(id)?;
    let Some(core) = read_core(engine, key).await? else {
        return Ok(None);
    };
    let attempt = read_attempt(engine, key).await?;
    build_execution_snapshot(id.clone(), &snapshot_fields(&core, attempt.as_ref()), document::tags(&core.raw_fields))
}

/// Everything the server shows of an execution, `None` for an unknown one.
///
/// # Errors
/// `Validation(Corruption)` naming the column when a stored value is unknown.
pub(crate) async fn info<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<Option<ExecutionInfo>, EngineError> {
    let key = exec_key(id)?;
    let Some(core) = read_core(engine, key).await? else {
        return Ok(None);
    };
    let attempt = read_attempt(engine, key).await?;
    let vector = StoredStates {
        lifecycle_phase: &core.lifecycle_phase,
        ownership_state: &core.ownership_state,
        eligibility_state: &core.eligibility_state,
        public_state: &core.public_state,
        attempt_state: &core.attempt_state,
        blocking_reason: core.blocking_reason.as_ref(),
        attempt_outcome: attempt.as_ref().and_then(|attempt| attempt.outcome.as_ref()),
    }
    .vector()?;
    let member = |name| document::member_string(&core.raw_fields, name).unwrap_or_default(); // tidy: an absent member reads as empty
    Ok(Some(ExecutionInfo {
        execution_id: id.clone(),
        namespace: member("namespace"),
        lane_id: core.lane_id.to_string(),
        priority: core.priority,
        execution_kind: member("execution_kind"),
        public_state: vector.public_state,
        state_vector: vector,
        created_at: core.created_at_ms.to_string(),
        started_at: core.started_at_ms.map(|at_ms| at_ms.to_string()),
        completed_at: core.terminal_at_ms.map(|at_ms| at_ms.to_string()),
        current_attempt_index: core.attempt_index.number()?,
        flow_id: core.flow_id.map(|flow_id| flow_id.to_string()),
        blocking_detail: detail(&core.raw_fields).unwrap_or_default(), // tidy: an absent member reads as empty
    }))
}

/// What an operator is told beside the reason: what was noted when the execution was blocked, and how many of its workers
/// crashed.
fn detail(raw_fields: &Value) -> Option<String> {
    let noted = document::member_string(raw_fields, "blocking_detail");
    let crashed = match document::counter(raw_fields, document::CRASH_COUNT) {
        0 => return noted,
        1 => "1 worker that ran it crashed".to_owned(),
        crashes => format!("{crashes} workers that ran it crashed"),
    };
    Some(match noted.filter(|noted| !noted.is_empty()) {
        Some(noted) => format!("{noted}; {crashed}"),
        None => crashed,
    })
}

async fn read_core<D: Dialect>(engine: &Engine<D>, key: ExecKey) -> Result<Option<Core>, EngineError> {
    let params = execution::ExecutionReadParams { execution: key };
    engine.db().read(params).await
}

async fn read_attempt<D: Dialect>(engine: &Engine<D>, key: ExecKey) -> Result<Option<Attempt>, EngineError> {
    let params = attempt::AttemptRunningReadParams { execution: key };
    engine.db().read(params).await
}

/// The flat map that ff-core's decoder reads.
fn snapshot_fields(core: &Core, attempt: Option<&Attempt>) -> HashMap<String, String> {
    let mut fields = HashMap::new();
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    };
    let member = |name| document::member_string(&core.raw_fields, name);
    set("public_state", Some(public_state_word(&core.public_state).to_owned()));
    set("lane_id", Some(core.lane_id.to_string()));
    set("flow_id", core.flow_id.map(|flow_id| flow_id.to_string()));
    set("blocking_reason", core.blocking_reason.as_ref().map(ToString::to_string));
    set("created_at", Some(core.created_at_ms.to_string()));
    set("last_mutation_at", member("last_mutation_at").or_else(|| Some(core.created_at_ms.to_string())));
    let attempts = document::counter(&core.raw_fields, "total_attempt_count");
    set("total_attempt_count", Some(attempts.to_string()));
    for name in ["namespace", "current_waitpoint_id"] {
        set(name, member(name));
    }
    set("blocking_detail", detail(&core.raw_fields));
    let Some(attempt) = attempt else {
        return fields;
    };
    let own = |name| document::member_string(&attempt.raw_fields, name).filter(|text| !text.is_empty());
    if let Some(attempt_id) = own("attempt_id") {
        set("current_attempt_id", Some(attempt_id));
        set("current_attempt_index", Some(attempt.attempt_index.to_string()));
    }
    let lease = (own("lease_id"), attempt.lease_expires_at_ms, attempt.worker_instance_id.as_ref());
    if let (Some(lease_id), Some(expires_at_ms), Some(worker_instance_id)) = lease {
        set("current_lease_id", Some(lease_id));
        set("current_worker_instance_id", Some(worker_instance_id.clone()));
        set("current_lease_epoch", Some(attempt.lease_epoch.max(StoredEpoch::NONE).to_string()));
        set("lease_expires_at", Some(expires_at_ms.to_string()));
        set("lease_last_renewed_at", attempt.started_at_ms.map(|at_ms| at_ms.to_string()));
    }
    fields
}
