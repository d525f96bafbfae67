//! Scheduling: what may run, and who is granted it.
//!
//! ```text
//!   eligible_now --issue_claim_grant--> eligible_now, with a grant --claim_execution--> active
//!   eligible_now --claim_for_worker---> pending_claim, with a grant --claim_execution--> active
//!                                            |
//!                                            '--its grant expires--> eligible_now
//! ```
//!
//! A grant names the worker that may use it and until when. An execution has at most one live claim grant.

use std::collections::{HashMap, HashSet};

use ff_core::contracts::{
    ClaimForWorkerArgs, ClaimForWorkerOutcome, ClaimGrant, EvaluateFlowEligibilityArgs, EvaluateFlowEligibilityResult,
    IssueClaimGrantArgs, IssueClaimGrantOutcome, ScanEligibleArgs,
};
use ff_core::crypto::hmac::hmac_sign;
use ff_core::engine_error::{ContentionKind, EngineError, StateKind, ValidationKind};
use ff_core::partition::PartitionConfig;
use ff_core::types::{BudgetId, ExecutionId, QuotaPolicyId};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::column::{ExecutionUuid, PartitionNumber};
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::claim::give_back::{Answered, Took};
use crate::engine::claim::reclaim::partition_of;
use crate::engine::execution;
use crate::engine::manage;
use crate::engine::policy::allowance::{budget_ids, has_room, limits, quota_policy_id};
use crate::engine::policy::capability;
use crate::engine::policy::eligibility::{Upstream, is_required};
use crate::engine::quota;
use crate::engine::round::{Report, Round};
use crate::engine::secret::active_on;
use crate::engine::seize::{self, Seized};
use crate::engine::spread;
use crate::model::document;
use crate::model::given::stored_ms;
use crate::model::id::{ExecKey, exec_key, execution_id, reject_nul};
use crate::model::limits;
use crate::model::word::{EligibilityWord, OwnershipWord, PhaseWord, PublicWord, StatusWord};
use crate::statements::spread::SpreadClaimableListParams;
use crate::statements::{Statements, schedule, typed};

/// How many executions that may not run yet one call looks past.
const MAX_CANDIDATES: usize = 100;
/// How many expired grants one call takes back.
const RELEASE_BATCH: i64 = 100;
/// How often a call that schedules takes expired grants back first.
const RELEASE_INTERVAL_MS: i64 = 1_000;

/// Says whether an execution could run as its flow goes: `not_found`, `not_runnable`, `owned`, `terminal`,
/// `impossible`, `blocked_by_dependencies` or `eligible`.
pub(crate) async fn evaluate<D: Dialect>(
    engine: &Engine<D>,
    args: &EvaluateFlowEligibilityArgs,
) -> Result<EvaluateFlowEligibilityResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    let status = status(engine, key).await?.into();
    Ok(EvaluateFlowEligibilityResult::Status { status })
}

async fn status<D: Dialect>(engine: &Engine<D>, key: ExecKey) -> Result<StatusWord, EngineError> {
    let params = schedule::ScheduleStateReadParams { execution: key };
    let Some(core) = engine.db().read(params).await? else {
        return Ok(StatusWord::NotFound);
    };
    if core.lifecycle_phase != PhaseWord::Runnable {
        return Ok(StatusWord::NotRunnable);
    }
    if core.ownership_state != OwnershipWord::Unowned {
        return Ok(StatusWord::Owned);
    }
    if document::outcome(&core.raw_fields).is_some() {
        return Ok(StatusWord::Terminal);
    }
    let Some(flow_id) = core.flow_id else {
        return Ok(StatusWord::Eligible);
    };
    let params = schedule::ScheduleUpstreamListParams { execution: key, flow_id };
    let edges = engine.db().read(params).await?;
    let upstreams: Vec<_> = edges.iter().filter(|edge| is_required(&edge.policy)).map(Upstream::of).collect();
    if upstreams.contains(&Upstream::Failed) {
        return Ok(StatusWord::Impossible);
    }
    if upstreams.contains(&Upstream::Undecided) {
        return Ok(StatusWord::BlockedByDependencies);
    }
    Ok(StatusWord::Eligible)
}

impl Upstream {
    fn of(edge: &schedule::ScheduleUpstreamListRow) -> Self {
        let Some(phase) = &edge.lifecycle_phase else {
            return Self::Undecided;
        };
        let outcome = edge.raw_fields.as_ref().and_then(document::outcome);
        Self::from_states(outcome.as_ref(), phase, edge.public_state.as_ref())
    }
}

/// Lists what a partition offers on a lane, best first: highest priority, then oldest.
///
/// Interrupted attempts are not listed: they are resumed or taken over and cannot be granted. Delayed executions
/// that are due are.
pub(crate) async fn scan<D: Dialect>(
    engine: &Engine<D>,
    args: &ScanEligibleArgs,
) -> Result<Vec<ExecutionId>, EngineError> {
    let partition_key = PartitionNumber::given(args.partition.index)?;
    reject_nul("lane_id", args.lane_id.as_str())?;
    if args.limit == 0 {
        return Ok(Vec::new());
    }
    let lane_id = (&args.lane_id).into();
    execution::promote_due_sometimes(engine, &lane_id).await?;
    sweep_grants_sometimes(engine).await?;
    if manage::lane_pause(engine, (&args.lane_id).into()).await?.is_some() {
        return Ok(Vec::new());
    }
    let params = schedule::ScheduleEligibleListParams { partition_key, lane_id, page_size: i64::from(args.limit) };
    let rows = engine.db().read(params).await?;
    rows.into_iter().map(|row| execution_id(partition_key, row.execution_id)).collect()
}

/// Grants a worker an execution, which stays eligible until the grant is used.
///
/// Precondition: the execution is eligible on that lane, has no live claim grant, and the worker has what it
/// requires. Effect: a grant is stored, in the place of expired ones. A worker that lacks something is refused,
/// and the execution remembers when. Repeating it is refused while the grant is live.
pub(crate) async fn issue_grant<D: Dialect>(
    engine: &Engine<D>,
    args: &IssueClaimGrantArgs,
) -> Result<IssueClaimGrantOutcome, EngineError> {
    let key = exec_key(&args.execution_id)?;
    capability::check(&args.worker_capabilities)?;
    limits::WORKER_ID.check("worker_id", args.worker_id.as_str())?;
    reject_nul("worker_instance_id", args.worker_instance_id.as_str())?;
    reject_nul("lane_id", args.lane_id.as_str())?;
    for (field, text) in [
        ("capability_hash", &args.capability_hash),
        ("route_snapshot_json", &args.route_snapshot_json),
        ("admission_summary", &args.admission_summary),
    ] {
        text.iter().try_for_each(|text| reject_nul(field, text))?;
    }
    let mut args = args.clone();
    args.now = engine.given(args.now);
    let missing =
        transaction!(engine, "schedule_grant_issue", [key, args], |conn| { issue_on::<D>(conn, *key, args).await })?;
    match missing {
        None => Ok(IssueClaimGrantOutcome::Granted { execution_id: exec_id_of(key)? }),
        Some(detail) => Err(EngineError::Validation { kind: ValidationKind::CapabilityMismatch, detail }),
    }
}

fn exec_id_of(key: ExecKey) -> Result<ExecutionId, EngineError> {
    execution_id(key.partition_key, key.execution_id)
}

/// Stores the grant, or says which capabilities the worker lacks.
async fn issue_on<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    args: &IssueClaimGrantArgs,
) -> Result<Option<String>, Abort> {
    let now_ms = args.now.0;
    let Some(core) = conn.schedule_lock(&schedule::ScheduleLockParams { execution: key }).await? else {
        return Err(Abort::from(EngineError::NotFound { entity: "execution" }));
    };
    if !core.is_eligible() {
        return Err(refused(ContentionKind::ExecutionNotEligible));
    }
    let live = schedule::ScheduleGrantLiveParams { execution: key, now_ms };
    if conn.schedule_grant_live(&live).await?.is_some() {
        return Err(Abort::from(EngineError::State(StateKind::GrantAlreadyExists)));
    }
    conn.schedule_grant_expire(&schedule::ScheduleGrantExpireParams { execution: key, now_ms }).await?;
    if core.lane_id != args.lane_id {
        return Err(refused(ContentionKind::ExecutionNotInEligibleSet));
    }
    if let Some(missing) = capability::missing(&core.required_capabilities, &args.worker_capabilities) {
        let note = schedule::ScheduleMismatchNoteParams { now_ms, execution: key };
        conn.schedule_mismatch_note(&note).await?;
        return Ok(Some(missing));
    }
    let grant_ttl_ms = stored_ms(args.grant_ttl_ms);
    let capabilities: Vec<_> = args.worker_capabilities.iter().cloned().map(Value::from).collect();
    conn.schedule_grant_insert(&schedule::ScheduleGrantInsertParams {
        execution: key,
        grant_id: Uuid::new_v4().as_bytes().to_vec(),
        worker_id: args.worker_id.as_str().to_owned(),
        worker_instance_id: args.worker_instance_id.as_str().to_owned(),
        lane_id: Some((&args.lane_id).into()),
        capability_hash: args.capability_hash.clone(),
        worker_capabilities: Value::Array(capabilities),
        route_snapshot_json: args.route_snapshot_json.clone(),
        admission_summary: args.admission_summary.clone(),
        grant_ttl_ms,
        issued_at_ms: now_ms,
        expires_at_ms: now_ms.saturating_add(grant_ttl_ms),
    })
    .await?;
    Ok(None)
}

fn refused(kind: ContentionKind) -> Abort {
    Abort::from(EngineError::Contention(kind))
}

impl schedule::ScheduleLockRow {
    /// Whether it waits to be claimed.
    fn is_eligible(&self) -> bool {
        self.lifecycle_phase.waits() && self.eligibility_state == EligibilityWord::EligibleNow
    }

    /// Whether a grant of it could be used.
    fn is_grantable(&self) -> bool {
        self.is_eligible()
            && self.ownership_state == OwnershipWord::Unowned
            && !self.attempt_state.is_under_way()
            && self.public_state != PublicWord::Resumable
    }
}

/// Grants a worker the best execution of a lane that it may run: highest priority first, then oldest, in all
/// partitions alike.
///
/// Precondition: none. Effect: the execution is kept from other claims until the grant is used or expires, and
/// grants that [`issue_grant`] gave are gone; the first grant ever also makes the key that grants are signed with.
/// An execution whose budget is used up, or whose quota admits no more, is passed over and stays eligible; a call
/// looks past a hundred of them. Repeating it grants another execution.
pub(crate) async fn claim_for_worker<D: Dialect>(
    engine: &Engine<D>,
    args: &ClaimForWorkerArgs,
) -> Answered<ClaimForWorkerOutcome> {
    capability::check(&args.worker_capabilities)?;
    reject_nul("lane_id", args.lane_id.as_str())?;
    limits::WORKER_ID.check("worker_id", args.worker_id.as_str())?;
    reject_nul("worker_instance_id", args.worker_instance_id.as_str())?;
    sweep_grants_sometimes(engine).await?;
    let lane_id = (&args.lane_id).into();
    let nothing_is_due = execution::promote_due_sometimes(engine, &lane_id).await?;
    if let Some(grant) = grant_best(engine, args).await? {
        return granted(grant);
    }
    if nothing_is_due || execution::promote_due(engine, &lane_id).await? == 0 {
        return Ok((ClaimForWorkerOutcome::NoWork, None));
    }
    match grant_best(engine, args).await? {
        Some(grant) => granted(grant),
        None => Ok((ClaimForWorkerOutcome::NoWork, None)),
    }
}

fn granted(grant: ClaimGrant) -> Answered<ClaimForWorkerOutcome> {
    let took = Took::Grant { key: exec_key(&grant.execution_id)?, grant_key: grant.grant_key.clone() };
    Ok((ClaimForWorkerOutcome::Granted(grant), Some(took)))
}

async fn grant_best<D: Dialect>(
    engine: &Engine<D>,
    args: &ClaimForWorkerArgs,
) -> Result<Option<ClaimGrant>, EngineError> {
    let request = GrantRequest {
        partitions: *engine.partitions(),
        now_ms: engine.now_ms(),
        args: args.clone(),
        is_spread: engine.db().is_spread().await?,
    };
    if request.is_spread && manage::lane_pause(engine, (&args.lane_id).into()).await?.is_some() {
        return Ok(None);
    }
    let mut search = Search::new(args);
    loop {
        let (request, from) = (request.clone(), search);
        let found = transaction!(engine, "schedule_claim_for_worker", [request, from], |conn| {
            grant_best_on::<D>(conn, request, from.clone()).await
        })?;
        match found {
            Found::Grant(grant) => return Ok(Some(*grant)),
            Found::Nothing => return Ok(None),
            Found::Refused(rest) => search = rest,
        }
    }
}

#[derive(Clone)]
struct GrantRequest {
    partitions: PartitionConfig,
    now_ms: i64,
    args: ClaimForWorkerArgs,
    is_spread: bool,
}

/// How far a call has looked, and what it learned of the budgets and quotas that it met.
#[derive(Clone)]
struct Search {
    left: usize,
    next: schedule::ScheduleCandidateNextParams,
    budgets: HashMap<String, bool>,
    refused: HashSet<QuotaPolicyId>,
}

impl Search {
    fn new(args: &ClaimForWorkerArgs) -> Self {
        let next = schedule::ScheduleCandidateNextParams {
            lane_id: (&args.lane_id).into(),
            capabilities: args.worker_capabilities.iter().cloned().collect(),
            after_priority: i32::MAX,
            after_created_at_ms: i64::MIN,
            after_execution_id: ExecutionUuid::LEAST,
        };
        Self { left: MAX_CANDIDATES, next, budgets: HashMap::new(), refused: HashSet::new() }
    }

    fn pass(&mut self, candidate: &schedule::ScheduleCandidateNextRow) -> ExecKey {
        self.left -= 1;
        self.next.after_priority = candidate.priority;
        self.next.after_created_at_ms = candidate.created_at_ms;
        self.next.after_execution_id = candidate.execution.execution_id;
        candidate.execution
    }
}

/// What one transaction of a search came to.
enum Found {
    Grant(Box<ClaimGrant>),
    Nothing,
    /// A quota admitted no more; the rest is looked through in a transaction of its own. The policy's row is locked
    /// until this one ends, and two calls that went on would each wait for the policy that the other has.
    Refused(Search),
}

/// The next execution that a worker could be granted, locked; where the tables are spread it is locked after it was found.
async fn next_candidate<D: Dialect>(
    conn: &mut D::Connection,
    request: &GrantRequest,
    search: &mut Search,
) -> Result<Option<ExecKey>, Abort> {
    if !request.is_spread {
        let found = conn.schedule_candidate_next(&search.next).await?;
        return Ok(found.map(|found| search.pass(&found)));
    }
    while search.left > 0 {
        let next = &search.next;
        let listed = SpreadClaimableListParams {
            lane_id: next.lane_id.clone(),
            capabilities: next.capabilities.clone(),
            after_priority: next.after_priority,
            after_created_at_ms: next.after_created_at_ms,
            after_execution_id: next.after_execution_id,
            page_size: 1,
        };
        let Some(found) = conn.spread_claimable_list(&listed).await?.pop() else {
            return Ok(None);
        };
        let key = search.pass(&schedule::ScheduleCandidateNextRow {
            execution: found.execution,
            priority: found.priority,
            created_at_ms: found.created_at_ms,
        });
        let offered = request.args.worker_capabilities.iter().cloned().collect();
        if spread::lock_waiting::<D>(conn, key, &listed.lane_id, offered).await?.is_some() {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

async fn grant_best_on<D: Dialect>(
    conn: &mut D::Connection,
    request: &GrantRequest,
    mut search: Search,
) -> Result<Found, Abort> {
    while search.left > 0 {
        let Some(key) = next_candidate::<D>(conn, request, &mut search).await? else {
            break;
        };
        let lock = schedule::ScheduleLockParams { execution: key };
        let Some(core) = conn.schedule_lock(&lock).await?.filter(schedule::ScheduleLockRow::is_grantable) else {
            continue;
        };
        if !has_budgets_left::<D>(conn, request, &core.raw_fields, &mut search.budgets).await? {
            continue;
        }
        let quota = quota_policy_id(&core.raw_fields);
        if quota.as_ref().is_some_and(|id| search.refused.contains(id)) {
            continue;
        }
        if let Some(id) = quota
            && !is_admitted::<D>(conn, request, key, &id).await?
        {
            search.refused.insert(id);
            return Ok(Found::Refused(search));
        }
        return grant_on::<D>(conn, request, key).await.map(|grant| Found::Grant(Box::new(grant)));
    }
    Ok(Found::Nothing)
}

/// Whether every budget of an execution has something left.
async fn has_budgets_left<D: Dialect>(
    conn: &mut D::Connection,
    request: &GrantRequest,
    raw_fields: &Value,
    known: &mut HashMap<String, bool>,
) -> Result<bool, Abort> {
    for budget_id in budget_ids(raw_fields) {
        let admitted = match known.get(&budget_id) {
            Some(admitted) => *admitted,
            None => {
                let admitted = has_budget_left::<D>(conn, &request.partitions, &budget_id).await?;
                known.insert(budget_id, admitted);
                admitted
            }
        };
        if !admitted {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a quota admits an execution, which then takes its place.
async fn is_admitted<D: Dialect>(
    conn: &mut D::Connection,
    request: &GrantRequest,
    key: ExecKey,
    id: &QuotaPolicyId,
) -> Result<bool, Abort> {
    let partition_key = D::quota_partition(id, &request.partitions);
    quota::admit_by_policy::<D>(conn, partition_key, id, exec_id_of(key)?, request.now_ms).await
}

/// Whether a budget has something left of every limit. One that is not there limits nothing.
pub(crate) async fn has_budget_left<D: Dialect>(
    conn: &mut D::Connection,
    partitions: &PartitionConfig,
    budget_id: &str,
) -> Result<bool, sqlx::Error> {
    let partition_key =
        BudgetId::parse(budget_id).map_or(PartitionNumber::ONLY, |id| D::budget_partition(&id, partitions));
    let params = schedule::ScheduleBudgetReadParams { partition_key, budget_id: budget_id.to_owned() };
    let Some(budget) = conn.schedule_budget_read(&params).await? else {
        return Ok(true);
    };
    let limits = limits(&budget.policy_json);
    if limits.is_empty() {
        return Ok(true);
    }
    let params = schedule::ScheduleUsageListParams { partition_key, budget_id: budget_id.to_owned() };
    let used = conn.schedule_usage_list(&params).await?;
    let used = used.into_iter().map(|row| (row.dimensions_key, row.current_value)).collect();
    Ok(has_room(&limits, &used))
}

async fn grant_on<D: Dialect>(
    conn: &mut D::Connection,
    request: &GrantRequest,
    key: ExecKey,
) -> Result<ClaimGrant, Abort> {
    let (args, issued_at_ms) = (&request.args, request.now_ms);
    let grant_ttl_ms = stored_ms(args.grant_ttl_ms);
    let expires_at_ms = issued_at_ms.saturating_add(grant_ttl_ms);
    let (kid, secret) = active_on::<D>(conn, issued_at_ms).await?;
    let partition = format!("{{fp:{}}}", key.partition_key);
    let uuid = key.execution_id;
    let (worker_id, worker_instance_id) = (args.worker_id.as_str(), args.worker_instance_id.as_str());
    let signed = format!("{partition}|{uuid}|{worker_id}|{worker_instance_id}|{expires_at_ms}");
    let signature = hmac_sign(&secret, &kid, signed.as_bytes());
    let grant_key = format!("{}:{partition}:{uuid}:{expires_at_ms}:{signature}", D::REVOKED_LEASE_PREFIX);
    // The newest grant counts, and two of one millisecond have no order: the one that a scheduler issued goes.
    conn.typed_grant_delete_all(&typed::TypedGrantDeleteAllParams { execution: key }).await?;
    conn.schedule_grant_insert(&schedule::ScheduleGrantInsertParams {
        execution: key,
        grant_id: Sha256::digest(grant_key.as_bytes()).to_vec(),
        worker_id: worker_id.to_owned(),
        worker_instance_id: worker_instance_id.to_owned(),
        lane_id: None,
        capability_hash: None,
        worker_capabilities: Value::Array(Vec::new()),
        route_snapshot_json: None,
        admission_summary: None,
        grant_ttl_ms,
        issued_at_ms,
        expires_at_ms,
    })
    .await?;
    conn.schedule_granted_mark(&schedule::ScheduleGrantedMarkParams {
        grant_key: grant_key.clone(),
        worker_id: worker_id.to_owned(),
        worker_instance_id: worker_instance_id.to_owned(),
        expires_at_ms,
        issued_at_ms,
        execution: key,
    })
    .await?;
    let id = exec_id_of(key)?;
    let partition = partition_of(&id);
    Ok(ClaimGrant::new(id, partition, grant_key, expires_at_ms.max(0).unsigned_abs()))
}

/// Offers executions to claims again whose grant expired unused. One that cannot be released keeps no other from its
/// turn.
pub(crate) async fn sweep_grants<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let time = round.time();
    release_due(engine, |_| time.is_over()).await
}

/// The same until enough was handled, page by page.
async fn release_due<D: Dialect>(
    engine: &Engine<D>,
    is_enough: impl Fn(&Report) -> bool + Send + Sync,
) -> Result<Report, EngineError> {
    let now_ms = engine.now_ms();
    engine.release().done_at(now_ms);
    let mut report = Report::default();
    let mut after = (i64::MIN, ExecutionUuid::LEAST);
    loop {
        let due = schedule::ScheduleGrantedDueListParams {
            now_ms,
            after_expires_at_ms: after.0,
            after_execution_id: after.1,
            batch_size: RELEASE_BATCH,
        };
        let page = engine.db().read(due).await?;
        let is_last = (page.len() as i64) < RELEASE_BATCH;
        for row in page {
            after = (row.expires_at_ms, row.execution.execution_id);
            let key = row.execution;
            report.count(release_granted(engine, key, now_ms).await);
        }
        if is_last || is_enough(&report) {
            return Ok(report);
        }
    }
}

/// Offers one execution to claims again, if its grants have expired; says whether it did. The execution is locked
/// first, because a grant is given to whoever holds it; one that somebody works on is left for the next run.
async fn release_granted<D: Dialect>(engine: &Engine<D>, key: ExecKey, now_ms: i64) -> Result<bool, EngineError> {
    let release = schedule::ScheduleGrantedReleaseParams { execution: key, now_ms };
    transaction!(
        engine,
        "schedule_granted_release",
        [key, release],
        |conn| {
            if seize::whole::<D>(conn, *key).await? != Seized::Taken {
                return Ok(false);
            }
            Ok(conn.schedule_granted_release(release).await?.is_some())
        },
        |is_released, wakes| wakes.queued_if(*is_released)
    )
}

/// The same for one batch, unless this process did it a moment ago.
async fn sweep_grants_sometimes<D: Dialect>(engine: &Engine<D>) -> Result<(), EngineError> {
    if engine.release().is_older_than(engine.now_ms(), RELEASE_INTERVAL_MS) {
        release_due(engine, |report| i64::from(report.total()) >= RELEASE_BATCH).await?;
    }
    Ok(())
}
