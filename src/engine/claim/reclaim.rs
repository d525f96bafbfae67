//! Giving the execution of a worker that is gone to another one: a grant first, then its use.
//!
//! A grant names the worker that may use it and ends after its time to live. Using it starts a new attempt
//! with a higher epoch, which fences the old holder's handle, and uses up every reclaim grant of the execution.

use ff_core::backend::HandleKind;
use ff_core::contracts::{
    IssueReclaimGrantArgs, IssueReclaimGrantOutcome, ReclaimExecutionArgs, ReclaimExecutionOutcome, ReclaimGrant,
};
use ff_core::crypto::hmac::hmac_sign;
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionFamily, PartitionKey};
use ff_core::state::AttemptType;
use ff_core::types::{ExecutionId, LaneId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::column::{LaneName, StoredEpoch, StoredIndex};
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::claim::give_back::{Answered, Took};
use crate::engine::claim::granted::Granted;
use crate::engine::policy::give_back::Before;
use crate::engine::policy::reclaim::{LeaseSeen, MAX_RECLAIMS, Reclaimable};
use crate::engine::secret;
use crate::model::given::{attempt_policy, stored_ms};
use crate::model::id::{ExecKey, exec_key, invalid_input, reject_nul};
use crate::model::limits;
use crate::model::word::{CompletionWord, LeaseWord};
use crate::statements::{Statements, attempt, execution, grant};

/// Grants a worker the right to reclaim an execution whose lease was lost.
///
/// Precondition: the execution is active and its lease was declared lost, has run out, or belongs to nobody.
/// Effect: a signed grant is stored; the first one ever also makes the key it is signed with. Repeating it
/// stores another grant.
pub(crate) async fn issue_grant<D: Dialect>(
    engine: &Engine<D>,
    args: &IssueReclaimGrantArgs,
) -> Result<IssueReclaimGrantOutcome, EngineError> {
    let key = exec_key(&args.execution_id)?;
    for token in &args.worker_capabilities {
        reject_nul("worker_capabilities", token)?;
    }
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
    let now_ms = engine.now_ms();
    let ttl_ms = stored_ms(args.grant_ttl_ms);
    let request =
        GrantRequest { key, now_ms, ttl_ms, expires_at_ms: now_ms.saturating_add(ttl_ms), args: args.clone() };
    transaction!(engine, "grant_reclaim_issue", [request], |conn| { issue_on::<D>(conn, request).await })
}

struct GrantRequest {
    key: ExecKey,
    now_ms: i64,
    ttl_ms: i64,
    expires_at_ms: i64,
    args: IssueReclaimGrantArgs,
}

async fn issue_on<D: Dialect>(
    conn: &mut D::Connection,
    request: &GrantRequest,
) -> Result<IssueReclaimGrantOutcome, Abort> {
    let args = &request.args;
    let Some(seen) = Seen::read::<D>(conn, request.key).await? else {
        return Err(Abort::from(EngineError::NotFound { entity: "execution" }));
    };
    let execution_id = args.execution_id.clone();
    if seen.reclaim_count() >= MAX_RECLAIMS {
        return Ok(IssueReclaimGrantOutcome::ReclaimCapExceeded { execution_id, reclaim_count: seen.reclaim_count() });
    }
    if let Some(detail) = seen.refusal(request.now_ms) {
        return Ok(IssueReclaimGrantOutcome::NotReclaimable { execution_id, detail });
    }
    let grant_key = signed_key::<D>(conn, request).await?;
    let capabilities: Vec<_> = args.worker_capabilities.iter().cloned().map(Value::from).collect();
    conn.grant_reclaim_insert(&grant::GrantReclaimInsertParams {
        execution: request.key,
        grant_id: Uuid::new_v4().as_bytes().to_vec(),
        worker_id: args.worker_id.as_str().to_owned(),
        worker_instance_id: args.worker_instance_id.as_str().to_owned(),
        lane_id: (&args.lane_id).into(),
        capability_hash: args.capability_hash.clone(),
        worker_capabilities: Value::Array(capabilities),
        route_snapshot_json: args.route_snapshot_json.clone(),
        admission_summary: args.admission_summary.clone(),
        grant_ttl_ms: request.ttl_ms,
        issued_at_ms: request.now_ms,
        expires_at_ms: request.expires_at_ms,
    })
    .await?;
    Ok(IssueReclaimGrantOutcome::Granted(ReclaimGrant::new(
        execution_id,
        partition_of(&args.execution_id),
        grant_key,
        request.expires_at_ms.max(0).unsigned_abs(),
        args.lane_id.clone(),
    )))
}

/// The partition of an execution, as grants name it.
pub(crate) fn partition_of(id: &ExecutionId) -> PartitionKey {
    PartitionKey::from(Partition { family: PartitionFamily::Execution, index: id.partition() })
}

/// The text the worker presents: what is granted, until when, and a signature over it and the worker.
async fn signed_key<D: Dialect>(conn: &mut D::Connection, request: &GrantRequest) -> Result<String, Abort> {
    let (kid, secret) = secret::active_on::<D>(conn, request.now_ms).await?;
    let (args, expires_at_ms) = (&request.args, request.expires_at_ms);
    let uuid = request.key.execution_id;
    let partition = format!("{{fp:{}}}", request.key.partition_key);
    let (worker_id, instance_id) = (&args.worker_id, &args.worker_instance_id);
    let signed = format!("{partition}|{uuid}|{worker_id}|{instance_id}|{expires_at_ms}|reclaim");
    let signature = hmac_sign(&secret, &kid, signed.as_bytes());
    Ok(format!("{}:reclaim:{partition}:{uuid}:{expires_at_ms}:{signature}", D::REVOKED_LEASE_PREFIX))
}

/// Uses the newest reclaim grant of an execution.
///
/// Precondition: a live grant for this worker, and what made it grantable still holds. Effect: the old attempt
/// ends as `interrupted_reclaimed`, a new one starts with the next epoch, a `reclaimed` event is written; an
/// execution that was reclaimed too often fails instead. Repeating it finds no grant.
pub(crate) async fn reclaim<D: Dialect>(
    engine: &Engine<D>,
    args: &ReclaimExecutionArgs,
) -> Answered<ReclaimExecutionOutcome> {
    let key = exec_key(&args.execution_id)?;
    limits::WORKER_ID.check("worker_id", args.worker_id.as_str())?;
    reject_nul("worker_instance_id", args.worker_instance_id.as_str())?;
    let policy = attempt_policy(&args.attempt_policy_json)?;
    let now_ms = engine.now_ms();
    let request = ReclaimRequest { key, now_ms, policy, args: args.clone() };
    let partition_key = key.partition_key;
    let done = transaction!(
        engine,
        "grant_reclaim_use",
        [request],
        |conn| { reclaim_on::<D>(conn, request).await },
        |done, wakes| {
            if let Some(event_id) = done.completion_event_id {
                wakes.completion(event_id, partition_key);
            }
            if let Some(event_id) = done.lease_event_id {
                wakes.lease(event_id, partition_key);
            }
        }
    )?;
    Ok((done.outcome, done.took))
}

struct ReclaimRequest {
    key: ExecKey,
    now_ms: i64,
    policy: Option<Value>,
    args: ReclaimExecutionArgs,
}

struct Reclaimed {
    outcome: ReclaimExecutionOutcome,
    took: Option<Took>,
    completion_event_id: Option<i64>,
    lease_event_id: Option<i64>,
}

impl From<ReclaimExecutionOutcome> for Reclaimed {
    fn from(outcome: ReclaimExecutionOutcome) -> Self {
        Self { outcome, took: None, completion_event_id: None, lease_event_id: None }
    }
}

async fn reclaim_on<D: Dialect>(conn: &mut D::Connection, request: &ReclaimRequest) -> Result<Reclaimed, Abort> {
    let (key, args) = (request.key, &request.args);
    let execution_id = args.execution_id.clone();
    // The execution is locked before its grants, in the order of every other operation.
    let seen = Seen::read::<D>(conn, key).await?;
    let newest = grant::GrantReclaimNewestParams { execution: key };
    let Some(granted) = conn.grant_reclaim_newest(&newest).await? else {
        return Ok(ReclaimExecutionOutcome::GrantNotFound { execution_id }.into());
    };
    if granted.worker_id != args.worker_id.as_str() {
        let (theirs, ours) = (&granted.worker_id, &args.worker_id);
        let detail = format!("reclaim_execution: grant worker_id={theirs} mismatches caller {ours}");
        return Err(Abort::from(invalid_input(detail)));
    }
    if granted.expires_at_ms <= request.now_ms {
        conn.grant_delete(&grant::GrantDeleteParams { partition_key: key.partition_key, grant_id: granted.grant_id })
            .await?;
        return Ok(ReclaimExecutionOutcome::GrantNotFound { execution_id }.into());
    }
    let Some(seen) = seen else {
        return Err(Abort::from(EngineError::NotFound { entity: "execution" }));
    };
    if let Some(reason) = seen.refusal(request.now_ms) {
        let detail = format!("{reason}; exec transitioned after grant issuance");
        return Ok(ReclaimExecutionOutcome::NotReclaimable { execution_id, detail }.into());
    }
    let cap = args.max_reclaim_count.unwrap_or(MAX_RECLAIMS); // tidy: a caller's option
    let done = if seen.reclaim_count() >= cap {
        exhaust::<D>(conn, request, &seen).await?
    } else {
        let lane_id = granted.lane_id.map_or_else(|| args.lane_id.clone(), LaneName::shown);
        take_over::<D>(conn, request, &seen, lane_id).await?
    };
    let all = grant::GrantReclaimDeleteAllParams { execution: key };
    conn.grant_reclaim_delete_all(&all).await?;
    Ok(done)
}

/// Starts the attempt that takes the execution over.
async fn take_over<D: Dialect>(
    conn: &mut D::Connection,
    request: &ReclaimRequest,
    seen: &Seen,
    lane_id: LaneId,
) -> Result<Reclaimed, Abort> {
    let (key, args, now_ms) = (request.key, &request.args, request.now_ms);
    let attempt_index = seen.core.attempt_index.max(seen.running_index()).next_or_last();
    let lease_epoch = seen.lease_epoch().next();
    let ttl_ms = stored_ms(args.lease_ttl_ms);
    if let Some(attempt) = &seen.attempt {
        let params =
            grant::GrantAttemptSupersedeParams { now_ms, execution: key, attempt_index: attempt.attempt_index };
        conn.grant_attempt_supersede(&params).await?;
    }
    conn.grant_attempt_insert(&grant::GrantAttemptInsertParams {
        execution: key,
        attempt_index,
        worker_id: args.worker_id.as_str().to_owned(),
        worker_instance_id: args.worker_instance_id.as_str().to_owned(),
        lease_epoch,
        lease_expires_at_ms: now_ms.saturating_add(ttl_ms),
        now_ms,
        policy: request.policy.clone(),
        attempt_fields: json!({
            "attempt_type": AttemptType::Reclaim,
            "attempt_id": args.attempt_id.to_string(),
            "lease_id": args.lease_id.to_string(),
        }),
    })
    .await?;
    conn.grant_execution_take(&grant::GrantExecutionTakeParams {
        attempt_index,
        reclaim_count: seen.core.lease_reclaim_count.max(0).saturating_add(1),
        now_ms,
        total_attempt_count: i64::from(attempt_index).saturating_add(1).to_string(),
        execution: key,
    })
    .await?;
    let event = lease_event(request, LeaseWord::Reclaimed, Some(args.lease_id.to_string()));
    let event = in_steps!(D: conn.grant_lease_event_insert(&event)).await?;
    let granted = Granted {
        kind: HandleKind::Reclaimed,
        attempt_index,
        attempt_id: args.attempt_id.clone(),
        lease_id: args.lease_id.clone(),
        lease_epoch,
        lease_ttl_ms: args.lease_ttl_ms,
        lane_id,
        worker_instance_id: args.worker_instance_id.clone(),
    };
    let took = granted.took(key, Before::Reclaimed);
    Ok(Reclaimed {
        outcome: ReclaimExecutionOutcome::Claimed(granted.handle::<D>(key)?),
        took: Some(took),
        completion_event_id: None,
        lease_event_id: Some(event.event_id),
    })
}

/// Fails an execution that was reclaimed too often.
async fn exhaust<D: Dialect>(
    conn: &mut D::Connection,
    request: &ReclaimRequest,
    seen: &Seen,
) -> Result<Reclaimed, Abort> {
    let (key, now_ms) = (request.key, request.now_ms);
    if let Some(attempt) = &seen.attempt {
        let params = grant::GrantAttemptExhaustParams { now_ms, execution: key, attempt_index: attempt.attempt_index };
        conn.grant_attempt_exhaust(&params).await?;
    }
    let params = grant::GrantExecutionExhaustParams { now_ms, execution: key };
    conn.grant_execution_exhaust(&params).await?;
    let completion =
        grant::GrantCompletionEventInsertParams { outcome: CompletionWord::Failed, now_ms, execution: key };
    let completion = in_steps!(D: conn.grant_completion_event_insert(&completion)).await?;
    let event = in_steps!(D: conn.grant_lease_event_insert(&lease_event(request, LeaseWord::Revoked, None))).await?;
    Ok(Reclaimed {
        outcome: ReclaimExecutionOutcome::ReclaimCapExceeded {
            execution_id: request.args.execution_id.clone(),
            reclaim_count: seen.reclaim_count().saturating_add(D::REFUSED_RECLAIM_COUNTS),
        },
        took: None,
        completion_event_id: Some(completion.event_id),
        lease_event_id: Some(event.event_id),
    })
}

fn lease_event(
    request: &ReclaimRequest,
    event_type: LeaseWord,
    lease_id: Option<String>,
) -> grant::GrantLeaseEventInsertParams {
    grant::GrantLeaseEventInsertParams {
        execution_text: request.key.text(),
        lease_id,
        event_type,
        now_ms: request.now_ms,
        execution: request.key,
    }
}

/// An execution, locked, and its running attempt.
struct Seen {
    core: execution::ExecutionLockRow,
    attempt: Option<attempt::AttemptRunningReadRow>,
}

impl Seen {
    async fn read<D: Dialect>(conn: &mut D::Connection, key: ExecKey) -> Result<Option<Self>, Abort> {
        let lock = execution::ExecutionLockParams { execution: key };
        let Some(core) = conn.execution_lock(&lock).await? else {
            return Ok(None);
        };
        let running = attempt::AttemptRunningReadParams { execution: key };
        let attempt = conn.attempt_running_read(&running).await?;
        Ok(Some(Self { core, attempt }))
    }

    fn refusal(&self, now_ms: i64) -> Option<String> {
        let lease = self.attempt.as_ref().map(|attempt| LeaseSeen {
            expires_at_ms: attempt.lease_expires_at_ms,
            has_worker: attempt.worker_instance_id.as_deref().is_some_and(|worker| !worker.is_empty()),
        });
        let core = &self.core;
        Reclaimable {
            lifecycle_phase: &core.lifecycle_phase,
            ownership_state: &core.ownership_state,
            eligibility_state: &core.eligibility_state,
            public_state: &core.public_state,
            attempt_state: &core.attempt_state,
            lease,
            now_ms,
        }
        .refusal()
    }

    /// How often it was reclaimed; a negative count reads as 0.
    fn reclaim_count(&self) -> u32 {
        self.core.lease_reclaim_count.max(0).unsigned_abs()
    }

    fn running_index(&self) -> StoredIndex {
        self.attempt.as_ref().map_or(self.core.attempt_index, |attempt| attempt.attempt_index)
    }

    /// The running attempt's epoch; 0 when there is none or it is negative.
    fn lease_epoch(&self) -> StoredEpoch {
        self.attempt.as_ref().map_or(StoredEpoch::NONE, |attempt| attempt.lease_epoch.max(StoredEpoch::NONE))
    }
}
