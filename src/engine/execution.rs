//! Executions: creation, reads, listing, and the promotion of delayed ones.

use std::collections::HashMap;

use ff_core::contracts::{
    CreateExecutionArgs, CreateExecutionResult, ExecutionContext, ListExecutionsPage, ListLanesPage,
};
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionKey};
use ff_core::state::PublicState;
use ff_core::types::{AttemptIndex, ExecutionId, FlowId, LaneId};
use serde_json::{Map, Value};

use crate::column::{ExecutionUuid, FlowUuid, LaneName, PartitionNumber};
use crate::db::{Dialect, Wakes};
use crate::engine::Engine;
use crate::engine::policy::retry;
use crate::engine::round::{Report, Round};
use crate::engine::spread;
use crate::model::document;
use crate::model::given::one_more;
use crate::model::id::{ExecKey, corruption, exec_key, execution_id, invalid_input, reject_nul, reject_nul_in_json};
use crate::model::limits;
use crate::model::state::public_state;
use crate::model::word::{EligibilityWord, PublicWord};
use crate::statements::{execution, lane};

/// For how long a creation is recognised by its idempotency key.
pub(crate) const IDEMPOTENCY_KEY_TTL_MS: i64 = 24 * 60 * 60 * 1000;
/// The most executions one page lists.
const LIST_MAX_PAGE: usize = 1000;
/// How many delayed executions one promotion takes.
const PROMOTION_BATCH: i64 = 100;
/// How often a claim that would find something anyway promotes first.
const PROMOTION_INTERVAL_MS: i64 = 50;

/// Creates an execution, not eligible before `args.delay_until` when that is in the future.
///
/// Precondition: none. Effect: the execution, its lane, and its idempotency key are stored. Repeating it, by
/// id or within 24 hours by namespace and key, answers `Duplicate` with the first id and changes nothing.
pub(crate) async fn create<D: Dialect>(
    engine: &Engine<D>,
    args: &CreateExecutionArgs,
) -> Result<CreateExecutionResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    reject_unstorable(args)?;
    let now_ms = engine.given(args.now).0;
    let wake_at_ms = args.delay_until.map(|until| until.0).filter(|until_ms| *until_ms > now_ms);
    let deadline_at_ms = args.execution_deadline_at.map(|deadline| deadline.0);
    let state = if wake_at_ms.is_some() { PublicState::Delayed } else { PublicState::Waiting };
    let (namespace, idempotency_key) = stored_key(args);
    let params = execution::ExecutionCreateParams {
        namespace,
        idempotency_key,
        execution: key,
        now_ms,
        expired_before_ms: now_ms.saturating_sub(IDEMPOTENCY_KEY_TTL_MS),
        required_capabilities: required_capabilities(args),
        lane_id: (&args.lane_id).into(),
        eligibility_state: match wake_at_ms {
            Some(_) => EligibilityWord::NotEligibleUntilTime,
            None => EligibilityWord::EligibleNow,
        },
        public_state: PublicWord::from(state.as_str().to_owned()),
        priority: args.priority,
        deadline_at_ms: wake_at_ms.or(deadline_at_ms),
        payload: args.input_payload.clone(),
        policy: stored_policy(args)?,
        raw_fields: open_document(args, now_ms, wake_at_ms.and(deadline_at_ms)),
    };
    let queued_on = wake_at_ms.is_none().then(|| LaneName::from(&args.lane_id));
    let tell = move |_: &execution::ExecutionCreateRow, wakes: &mut Wakes| {
        queued_on.iter().for_each(|lane| wakes.queued_on(lane.clone()));
    };
    if engine.db().combined_telling(params, tell).await?.is_some() {
        return Ok(CreateExecutionResult::Created { execution_id: args.execution_id.clone(), public_state: state });
    }
    duplicate(engine, args, key).await
}

/// Whom a creation that wrote nothing repeats.
async fn duplicate<D: Dialect>(
    engine: &Engine<D>,
    args: &CreateExecutionArgs,
    key: ExecKey,
) -> Result<CreateExecutionResult, EngineError> {
    let (namespace, idempotency_key) = stored_key(args);
    let params = execution::ExecutionDuplicateParams { execution: key, namespace, idempotency_key };
    let execution_id = match engine.db().read(params).await? {
        Some(row) => execution_id(row.execution.partition_key, row.execution.execution_id)?,
        None => args.execution_id.clone(),
    };
    Ok(CreateExecutionResult::Duplicate { execution_id })
}

/// What the creation is recognised by, as it is stored.
fn stored_key(args: &CreateExecutionArgs) -> (String, Option<String>) {
    let namespace = args.namespace.as_str();
    match &args.idempotency_key {
        None => (namespace.to_owned(), None),
        Some(key) => {
            let (namespace, key) = limits::key_of_length(namespace, key);
            (namespace, Some(key))
        }
    }
}

fn reject_unstorable(args: &CreateExecutionArgs) -> Result<(), EngineError> {
    reject_nul("namespace", args.namespace.as_str())?;
    limits::check_lane(&args.lane_id)?;
    reject_nul("execution_kind", &args.execution_kind)?;
    reject_nul("creator_identity", &args.creator_identity)?;
    reject_nul("payload_encoding", args.payload_encoding.as_deref().unwrap_or_default())?; // tidy: nothing to reject
    reject_nul("idempotency_key", args.idempotency_key.as_deref().unwrap_or_default())?; // tidy: nothing to reject
    for token in required_capabilities(args) {
        limits::REQUIRED_CAPABILITY.check("required_capabilities", &token)?;
    }
    for (name, value) in &args.tags {
        reject_nul("tags", name)?;
        reject_nul("tags", value)?;
    }
    Ok(())
}

/// The tokens a worker must have; empty tokens ask for nothing.
fn required_capabilities(args: &CreateExecutionArgs) -> Vec<String> {
    let requirements = args.policy.as_ref().and_then(|policy| policy.routing_requirements.as_ref());
    requirements
        .into_iter()
        .flat_map(|requirements| &requirements.required_capabilities)
        .filter(|token| !token.is_empty())
        .cloned()
        .collect()
}

fn stored_policy(args: &CreateExecutionArgs) -> Result<Option<Value>, EngineError> {
    let Some(policy) = &args.policy else {
        return Ok(None);
    };
    policy.retry_policy.as_ref().map_or(Ok(()), retry::check)?;
    let stored = serde_json::to_value(policy)
        .map_err(|error| invalid_input(format!("create_execution: policy: serialize failed: {error}")))?;
    reject_nul_in_json("policy", &stored)?;
    Ok(Some(stored))
}

fn open_document(args: &CreateExecutionArgs, now_ms: i64, saved_deadline_ms: Option<i64>) -> Value {
    let mut document = Map::new();
    let mut set = |name: &str, value: Value| document.insert(name.to_owned(), value);
    set("namespace", args.namespace.as_str().into());
    set("execution_kind", args.execution_kind.as_str().into());
    set("creator_identity", args.creator_identity.as_str().into());
    set("last_mutation_at", now_ms.to_string().into());
    set("total_attempt_count", "0".into());
    set("tags", args.tags.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect());
    if let Some(key) = &args.idempotency_key {
        set("idempotency_key", key.as_str().into());
    }
    if let Some(encoding) = &args.payload_encoding {
        set("payload_encoding", encoding.as_str().into());
    }
    if let Some(deadline_ms) = saved_deadline_ms {
        set("execution_deadline_at", deadline_ms.into());
    }
    Value::Object(document)
}

/// Makes delayed executions of a lane eligible whose time has come, at most one batch of them, and says how many.
///
/// Repeating it takes the next batch.
pub(crate) async fn promote_due<D: Dialect>(engine: &Engine<D>, lane_id: &LaneName) -> Result<u64, EngineError> {
    let now_ms = engine.now_ms();
    engine.promotions().done_at(lane_id, now_ms);
    if engine.db().is_spread().await? {
        return spread::promote_due(engine, Some(lane_id), now_ms, PROMOTION_BATCH).await;
    }
    let params = execution::ExecutionPromoteDueParams { lane_id: lane_id.clone(), now_ms, batch_size: PROMOTION_BATCH };
    let lane = lane_id.clone();
    let tell = move |promoted: &u64, wakes: &mut Wakes| {
        if *promoted > 0 {
            wakes.queued_on(lane.clone());
        }
    };
    engine.db().combined_counting(params, tell).await
}

/// The same as a sweep, for programs that wait for a state instead of claiming: a batch of every lane, and again.
pub(crate) async fn sweep_delayed<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let (mut report, time) = (Report::default(), round.time());
    loop {
        let (page, is_full) = promote_all(engine).await?;
        report.add(page);
        if !time.allows_next(is_full, page) {
            return Ok(report);
        }
    }
}

/// A batch of every lane; says whether one had more.
async fn promote_all<D: Dialect>(engine: &Engine<D>) -> Result<(Report, bool), EngineError> {
    let now_ms = engine.now_ms();
    let (mut report, mut is_full) = (Report::default(), false);
    let mut count = |promoted: Result<u64, EngineError>| match promoted {
        Ok(promoted) => {
            is_full |= promoted == PROMOTION_BATCH.unsigned_abs();
            report.add(Report::of(u32::try_from(promoted).unwrap_or(u32::MAX))); // tidy: a count of at most one batch
        }
        Err(error) => report.count(Err(error)),
    };
    if engine.db().is_spread().await? {
        count(spread::promote_due(engine, None, now_ms, PROMOTION_BATCH).await);
    } else {
        for row in engine.db().read(execution::ExecutionDueLaneListParams { now_ms }).await? {
            count(promote_due(engine, &row.lane_id).await);
        }
    }
    Ok((report, is_full))
}

/// The same for a lane, unless this process did it a moment ago. Says whether nothing that is due is left.
pub(crate) async fn promote_due_sometimes<D: Dialect>(
    engine: &Engine<D>,
    lane_id: &LaneName,
) -> Result<bool, EngineError> {
    if !engine.promotions().is_older_than(lane_id, engine.now_ms(), PROMOTION_INTERVAL_MS) {
        return Ok(false);
    }
    let promoted = promote_due(engine, lane_id).await?;
    Ok(promoted < PROMOTION_BATCH.unsigned_abs())
}

/// The public state, `None` for an unknown execution.
pub(crate) async fn read_state<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<Option<PublicState>, EngineError> {
    let key = exec_key(id)?;
    let params = execution::ExecutionStateReadParams { execution: key };
    let row = engine.db().read(params).await?;
    row.map(|row| public_state(&row.public_state)).transpose()
}

/// The result of the last completion, `None` when there is none or no such execution.
pub(crate) async fn read_result<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<Option<Vec<u8>>, EngineError> {
    let key = exec_key(id)?;
    let params = execution::ExecutionResultReadParams { execution: key };
    Ok(engine.db().read(params).await?.and_then(|row| row.result))
}

/// What a worker needs to run an execution: its input, kind and tags.
///
/// # Errors
/// `Validation(InvalidInput)` for an unknown execution.
pub(crate) async fn read_context<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<ExecutionContext, EngineError> {
    let key = exec_key(id)?;
    let params = execution::ExecutionContextReadParams { execution: key };
    let row = engine.db().read(params).await?.ok_or_else(|| unknown("read_execution_context", id))?;
    Ok(ExecutionContext::new(
        row.payload.unwrap_or_default(), // tidy: no payload reads as an empty one
        document::member_string(&row.raw_fields, "execution_kind").unwrap_or_default(), // tidy: an absent member reads as empty
        document::tags(&row.raw_fields),
    ))
}

/// The index of the attempt the execution points to; a negative one reads as 0.
///
/// # Errors
/// `Validation(InvalidInput)` for an unknown execution.
pub(crate) async fn read_current_attempt_index<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<AttemptIndex, EngineError> {
    let key = exec_key(id)?;
    let params = execution::ExecutionAttemptIndexReadParams { execution: key };
    let row = engine.db().read(params).await?;
    let row = row.ok_or_else(|| unknown("read_current_attempt_index", id))?;
    Ok(row.attempt_index.shown())
}

/// How many attempts were started; 0 when the stored counter cannot be read.
///
/// # Errors
/// `Validation(InvalidInput)` for an unknown execution.
pub(crate) async fn read_total_attempt_count<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<AttemptIndex, EngineError> {
    let stored = open_document_of(engine, id).await?;
    let stored = stored.ok_or_else(|| unknown("read_total_attempt_count", id))?;
    Ok(AttemptIndex::new(document::counter(&stored, "total_attempt_count")))
}

/// The namespace, `None` when it is not stored or the execution is unknown.
pub(crate) async fn read_namespace<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<Option<String>, EngineError> {
    let stored = open_document_of(engine, id).await?;
    Ok(stored.and_then(|stored| document::member_text(&stored, "namespace")))
}

/// The open document of an execution, `None` for an unknown one.
pub(crate) async fn open_document_of<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<Option<Value>, EngineError> {
    let key = exec_key(id)?;
    let params = execution::ExecutionFieldsReadParams { execution: key };
    Ok(engine.db().read(params).await?.map(|row| row.raw_fields))
}

/// The flow that owns an execution, `None` when it stands alone or is unknown.
pub(crate) async fn resolve_flow<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
) -> Result<Option<FlowId>, EngineError> {
    let key = exec_key(id)?;
    let params = execution::ExecutionFlowReadParams { execution: key };
    let row = engine.db().read(params).await?;
    Ok(row.and_then(|row| row.flow_id).map(FlowUuid::shown))
}

/// Lists a partition's executions in the order of their uuids, strictly after the cursor.
pub(crate) async fn list<D: Dialect>(
    engine: &Engine<D>,
    partition: &PartitionKey,
    cursor: Option<&ExecutionId>,
    limit: usize,
) -> Result<ListExecutionsPage, EngineError> {
    let index = partition
        .parse()
        .map_err(|error| invalid_input(format!("list_executions: partition: '{partition}': {error}")))?
        .index;
    let after = cursor.map(exec_key).transpose()?.map_or(ExecutionUuid::LEAST, |key| key.execution_id);
    let limit = limit.min(LIST_MAX_PAGE);
    if limit == 0 {
        return Ok(ListExecutionsPage::new(Vec::new(), None));
    }
    let partition_key = PartitionNumber::given(index)?;
    let params = execution::ExecutionListParams { partition_key, after, page_size: one_more(limit) };
    let rows = engine.db().read(params).await?;
    let more = rows.len() > limit;
    let ids = rows.into_iter().take(limit).map(|row| listed_id(partition_key, row.execution_id));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let next = ids.last().filter(|_| more).cloned();
    Ok(ListExecutionsPage::new(ids, next))
}

fn listed_id(partition_key: PartitionNumber, uuid: ExecutionUuid) -> Result<ExecutionId, EngineError> {
    execution_id(partition_key, uuid).map_err(|error| {
        let text = format!("{{fp:{partition_key}}}:{uuid}");
        corruption(format!("exec_core: execution_id: could not reassemble '{text}': {error}"))
    })
}

/// Lists known lanes in the order of their bytes, strictly after the cursor.
pub(crate) async fn list_lanes<D: Dialect>(
    engine: &Engine<D>,
    cursor: Option<&LaneId>,
    limit: usize,
) -> Result<ListLanesPage, EngineError> {
    cursor.map_or(Ok(()), |lane| reject_nul("cursor", lane.as_str()))?;
    let limit = limit.min(LIST_MAX_PAGE);
    if limit == 0 {
        return Ok(ListLanesPage::new(Vec::new(), None));
    }
    let after = cursor.map_or_else(|| LaneName::from(String::new()), LaneName::from);
    let params = lane::LaneListParams { after, page_size: one_more(limit) };
    let rows = engine.db().read(params).await?;
    let more = rows.len() > limit;
    let lanes: Vec<_> = rows.into_iter().take(limit).map(|row| row.lane_id.shown()).collect();
    let next = lanes.last().filter(|_| more).cloned();
    Ok(ListLanesPage::new(lanes, next))
}

/// The stored text of named fields of an execution; a name that is not known, or a null, is `None`.
///
/// # Errors
/// `Validation(InvalidInput)` when the partition is not the execution's.
pub(crate) async fn read_core_fields<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    id: &ExecutionId,
    names: &[&str],
) -> Result<HashMap<String, Option<String>>, EngineError> {
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let key = exec_key(id)?;
    if partition.index != id.partition() {
        let (arg, eid) = (partition.index, id.partition());
        return Err(invalid_input(format!("read_exec_core_fields: partition mismatch (arg={arg}, eid={eid})")));
    }
    let params = execution::ExecutionReadParams { execution: key };
    let row = engine.db().read(params).await?;
    let value = |name: &str| row.as_ref().and_then(|row| row.field(name));
    Ok(names.iter().map(|name| ((*name).to_owned(), value(name))).collect())
}

impl execution::ExecutionReadRow {
    /// A field by the name that `read_exec_core_fields` knows it by.
    fn field(&self, name: &str) -> Option<String> {
        match name {
            "lane_id" => Some(self.lane_id.to_string()),
            "lifecycle_phase" => Some(self.lifecycle_phase.to_string()),
            "ownership_state" => Some(self.ownership_state.to_string()),
            "eligibility_state" => Some(self.eligibility_state.to_string()),
            "public_state" => Some(self.public_state.to_string()),
            "attempt_state" => Some(self.attempt_state.to_string()),
            "blocking_reason" => self.blocking_reason.as_ref().map(ToString::to_string),
            "cancellation_reason" | "cancel_reason" => self.cancellation_reason.clone(),
            "cancelled_by" => self.cancelled_by.clone(),
            "attempt_index" | "current_attempt_index" => Some(self.attempt_index.to_string()),
            "priority" => Some(self.priority.to_string()),
            "created_at_ms" => Some(self.created_at_ms.to_string()),
            "terminal_at_ms" | "completed_at" => self.terminal_at_ms.map(|at_ms| at_ms.to_string()),
            "deadline_at_ms" => self.deadline_at_ms.map(|at_ms| at_ms.to_string()),
            "flow_id" => self.flow_id.map(|flow_id| flow_id.to_string()),
            "required_capabilities" => Some(sorted_tokens(&self.required_capabilities)),
            "current_waitpoint_id"
            | "current_worker_instance_id"
            | "budget_ids"
            | "quota_policy_id"
            | "crash_count"
            | "retry_count"
            | "last_failure_message" => document::member_text(&self.raw_fields, name),
            _ => None,
        }
    }
}

fn sorted_tokens(tokens: &str) -> String {
    let mut tokens: Vec<_> = tokens.split(',').collect();
    tokens.sort_unstable();
    tokens.join(",")
}

fn unknown(op: &str, id: &ExecutionId) -> EngineError {
    invalid_input(format!("{op}: execution not found: {id}"))
}
