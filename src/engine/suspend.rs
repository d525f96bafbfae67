//! Suspending an execution until signals, an operator or a timeout resume it.
//!
//! ```text
//!   active, leased --suspend--> suspended --deliver_signal--> resumable --claim_resumed_execution--> active, leased
//!                                   |                                                              (next epoch)
//!                                   |--resume_execution--> runnable, unowned
//!                                   '--expire_suspension--> terminal, or resumable
//! ```
//!
//! Suspending is one statement, which checks that the handle holds the lease, that the secret which signed the
//! token still signs, and that the idempotency key is new. More waitpoints, and the outcome that is kept under
//! a key, are further statements of its transaction. When it changed nothing, reads say why.

use std::sync::Arc;

use ff_core::backend::{Handle, HandleKind, HandleOpaque, WaitpointHmac};
use ff_core::contracts::{
    AdditionalWaitpointBinding, ListSuspendedPage, SuspendArgs, SuspendOutcome, SuspendOutcomeDetails,
    SuspendedExecutionEntry, WaitpointBinding,
};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::handle_codec::HandlePayload;
use ff_core::partition::PartitionKey;
use ff_core::types::{AttemptIndex, ExecutionId, LaneId, LeaseFence, SuspensionId, WaitpointId, WorkerInstanceId};
use serde_json::{Value, json};

use crate::column::{ExecutionUuid, PartitionNumber, StoredEpoch, StoredIndex};
use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::attempt::{lost, named_by, seen};
use crate::engine::policy::resume::required_names;
use crate::engine::secret;
use crate::engine::signing::Secret;
use crate::metric::End;
use crate::model::given::one_more;
use crate::model::handle::{self, Held};
use crate::model::hex;
use crate::model::id::{
    ExecKey, attempt_index, corruption, exec_key, execution_id, invalid_input, reject_nul, reject_nul_in_json,
};
use crate::model::limits;
use crate::statements::{Statements, attempt, execution, suspension, waitpoint};

/// How often a suspension is tried while the secret that signs keeps changing.
const TRIES: u32 = 3;

/// Suspends the attempt of a handle.
///
/// Precondition: the handle holds the lease; a secret signs. Effect: the attempt gives its lease up and gets
/// its next epoch, the execution is suspended, the waitpoints are active, a `revoked` lease event is written.
/// The handle that comes back observes signals but holds no lease. Repeating it with the same idempotency key
/// answers the same and writes nothing; without one it is `Contention(LeaseConflict)`.
pub(crate) async fn suspend<D: Dialect>(
    engine: &Engine<D>,
    handle: &Handle,
    args: &SuspendArgs,
) -> Result<SuspendOutcome, EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    let request = Request::new(args)?;
    enter(engine, &held, &request).await
}

/// Suspends the running attempt of an execution for a caller who knows its lease but has no handle.
///
/// As [`suspend`]; the triple's attempt must be the one that runs, and its epoch that of the lease. An attempt id that
/// is not known here, because another program gave the lease, is not compared. The handle that comes back names no
/// lane and no worker.
pub(crate) async fn suspend_by_triple<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
    triple: &LeaseFence,
    args: &SuspendArgs,
) -> Result<SuspendOutcome, EngineError> {
    let key = exec_key(id)?;
    let request = Request::new(args)?;
    let running = attempt::AttemptRunningReadParams { execution: key };
    let running = match engine.db().read(running).await? {
        Some(attempt) => attempt.attempt_index,
        None => {
            let params = execution::ExecutionReadParams { execution: key };
            let core = engine.db().read(params).await?;
            core.ok_or(EngineError::NotFound { entity: "execution" })?.attempt_index.max(StoredIndex::FIRST)
        }
    };
    let attempt_index = match attempt_index(key.execution_id, &triple.attempt_id) {
        Some(named) => named,
        None => engine.db().read(named_by(key, &triple.attempt_id)).await?.map_or(running, |named| named.attempt_index),
    };
    let payload = HandlePayload::new(
        id.clone(),
        AttemptIndex::new(attempt_index.number()?),
        triple.attempt_id.clone(),
        triple.lease_id.clone(),
        triple.lease_epoch,
        0,
        LaneId::new(""),
        WorkerInstanceId::new(""),
    );
    let lease_epoch = StoredEpoch::in_handle(triple.lease_epoch)?;
    enter(engine, &Held { key, attempt_index, lease_epoch, payload }, &request).await
}

/// What is to be suspended, checked.
struct Request<'a> {
    args: &'a SuspendArgs,
    condition: Value,
    idempotency_key: Option<String>,
}

impl<'a> Request<'a> {
    fn new(args: &'a SuspendArgs) -> Result<Self, EngineError> {
        if args.waitpoints.is_empty() {
            return Err(invalid_input("suspend requires at least one waitpoint binding"));
        }
        let condition = serde_json::to_value(&args.resume_condition)
            .map_err(|error| corruption(format!("resume_condition serialize: {error}")))?;
        reject_nul_in_json("resume_condition", &condition)?;
        let idempotency_key = args.idempotency_key.as_ref().map(|key| key.as_str()).filter(|key| !key.is_empty());
        idempotency_key.map_or(Ok(()), |key| limits::SUSPENSION_KEY.check("idempotency_key", key))?;
        Ok(Self { args, condition, idempotency_key: idempotency_key.map(str::to_owned) })
    }
}

async fn enter<D: Dialect>(
    engine: &Engine<D>,
    held: &Held,
    request: &Request<'_>,
) -> Result<SuspendOutcome, EngineError> {
    let bound = bind(engine, held, &request.args.waitpoints).await?;
    let mut idempotency = request.idempotency_key.as_deref().map(|bare| Idempotency::new(held, bare));
    let mut secret = secret::signing(engine).await?;
    for _ in 0..TRIES {
        if let Some(secret) = &secret {
            let tokens = Tokens::sign(secret, held, &bound);
            let outcome = outcome::<D>(held, request.args, &bound, &tokens);
            if write(engine, held, request, idempotency.as_ref(), &bound, &tokens, &outcome).await? {
                return Ok(outcome);
            }
        }
        if let Some(key) = &mut idempotency {
            match key.remembered(engine, held).await? {
                Remembered::Outcome(outcome) => return Ok(outcome),
                Remembered::OfAnother => {
                    key.bare = None;
                    continue;
                }
                Remembered::Nothing => {}
            }
        }
        let seen = seen(engine, held).await?;
        if seen.lease_epoch != held.lease_epoch {
            return Err(lost());
        }
        let now_signs = secret::renewed(engine).await?;
        let Some(now_signs) = now_signs else {
            return Err(invalid_input("ff_waitpoint_hmac empty — seed a kid before suspend"));
        };
        if secret.is_some_and(|used| used.kid == now_signs.kid) {
            return Err(lost());
        }
        secret = Some(now_signs);
    }
    Err(EngineError::Contention(ContentionKind::RetryExhausted))
}

/// A waitpoint and its key.
struct Bound {
    waitpoint_id: WaitpointId,
    waitpoint_key: String,
}

async fn bind<D: Dialect>(
    engine: &Engine<D>,
    held: &Held,
    bindings: &[WaitpointBinding],
) -> Result<Vec<Bound>, EngineError> {
    let mut bound = Vec::with_capacity(bindings.len());
    for binding in bindings {
        bound.push(match binding {
            WaitpointBinding::Fresh { waitpoint_id, waitpoint_key } => {
                reject_nul("waitpoint_key", waitpoint_key)?;
                Bound { waitpoint_id: waitpoint_id.clone(), waitpoint_key: waitpoint_key.clone() }
            }
            WaitpointBinding::UsePending { waitpoint_id } => {
                let params = waitpoint::WaitpointKeyReadParams {
                    partition_key: held.key.partition_key,
                    waitpoint_id: waitpoint_id.0,
                };
                let known = engine.db().read(params).await?;
                let waitpoint_key = known.map(|row| row.waitpoint_key).unwrap_or_default(); // tidy: a waitpoint that is not stored is made with an empty key
                Bound { waitpoint_id: waitpoint_id.clone(), waitpoint_key }
            }
            _ => return Err(invalid_input("unsupported WaitpointBinding variant")),
        });
    }
    Ok(bound)
}

/// The tokens of the waitpoints, in their order.
struct Tokens {
    kid: String,
    tokens: Vec<String>,
}

impl Tokens {
    fn sign(secret: &Arc<Secret>, held: &Held, bound: &[Bound]) -> Self {
        let tokens = bound.iter().map(|bound| secret.token(&held.payload.execution_id, &bound.waitpoint_id)).collect();
        Self { kid: secret.kid.clone(), tokens }
    }
}

fn outcome<D: Dialect>(held: &Held, args: &SuspendArgs, bound: &[Bound], tokens: &Tokens) -> SuspendOutcome {
    let mut all = bound.iter().zip(&tokens.tokens).map(|(bound, token)| {
        (bound.waitpoint_id.clone(), bound.waitpoint_key.clone(), WaitpointHmac::new(token.as_str()))
    });
    let (waitpoint_id, waitpoint_key, token) = all.next().expect("there is a waitpoint");
    let additional = all.map(|(id, key, token)| AdditionalWaitpointBinding::new(id, key, token)).collect();
    let details = SuspendOutcomeDetails::new(args.suspension_id.clone(), waitpoint_id, waitpoint_key, token)
        .with_additional_waitpoints(additional);
    SuspendOutcome::Suspended { details, handle: handle::encode(D::TAG, HandleKind::Suspended, &held.payload) }
}

/// Writes the suspension; says whether it did.
async fn write<D: Dialect>(
    engine: &Engine<D>,
    held: &Held,
    request: &Request<'_>,
    idempotency: Option<&Idempotency>,
    bound: &[Bound],
    tokens: &Tokens,
    outcome: &SuspendOutcome,
) -> Result<bool, EngineError> {
    let args = request.args;
    let now_ms = engine.given(args.now).0;
    let names = |bound: &Bound| required_names(&args.resume_condition, &bound.waitpoint_key);
    let (first, partition_key) = (&bound[0], held.key.partition_key);
    let timeout_at_ms = args.timeout_at.map(|at| at.0);
    let params = fenced!(
        suspension::SuspensionEnterParams, held, now_ms,
        token_kid: tokens.kid.clone(),
        idempotency_key: idempotency.map(|key| key.scoped.clone()),
        bare_key: idempotency.and_then(|key| key.bare.clone()),
        suspension_id: args.suspension_id.0,
        timeout_at_ms: timeout_at_ms,
        reason_code: args.reason_code.as_wire_str().to_owned(),
        condition: request.condition.clone(),
        timeout_behavior: args.timeout_behavior.as_wire_str().to_owned(),
        waitpoint_id: first.waitpoint_id.0,
        token: tokens.tokens[0].clone(),
        waitpoint_key: first.waitpoint_key.clone(),
        required_signal_names: names(first),
    );
    if bound.len() == 1 && idempotency.is_none() {
        let entered = engine
            .db()
            .combined_telling(params, move |row, wakes| wakes.lease(row.lease_event_id, partition_key))
            .await?;
        if entered.is_some() {
            engine.ended(held.key.execution_id, End::Other);
        }
        return Ok(entered.is_some());
    }
    let more: Vec<_> = bound
        .iter()
        .zip(&tokens.tokens)
        .skip(1)
        .map(|(bound, token)| waitpoint::WaitpointActivateParams {
            execution: held.key,
            waitpoint_id: bound.waitpoint_id.0,
            token_kid: tokens.kid.clone(),
            token: token.clone(),
            now_ms,
            timeout_at_ms,
            waitpoint_key: bound.waitpoint_key.clone(),
            required_signal_names: names(bound),
        })
        .collect();
    let kept = idempotency.map(|key| suspension::SuspensionDedupInsertParams {
        partition_key,
        idempotency_key: key.scoped.clone(),
        outcome_json: remember(outcome),
        now_ms,
    });
    let entered = transaction!(
        engine,
        "suspension_enter_more",
        [params, more, kept],
        |conn| {
            let entered = in_steps!(D: conn.suspension_enter(params)).await?;
            if entered.is_some() {
                for waitpoint in more {
                    conn.waitpoint_activate(waitpoint).await?;
                }
                if let Some(kept) = kept {
                    conn.suspension_dedup_insert(kept).await?;
                }
            }
            Ok(entered)
        },
        |entered, wakes| {
            if let Some(row) = entered {
                wakes.lease(row.lease_event_id, partition_key);
            }
        }
    )?;
    if entered.is_some() {
        engine.ended(held.key.execution_id, End::Other);
    }
    Ok(entered.is_some())
}

/// What is kept under an idempotency key.
fn remember(outcome: &SuspendOutcome) -> Value {
    let details = outcome.details();
    let extras: Vec<_> = details
        .additional_waitpoints
        .iter()
        .map(|extra| {
            json!({
                "waitpoint_id": extra.waitpoint_id.to_string(),
                "waitpoint_key": extra.waitpoint_key,
                "token": extra.waitpoint_token.as_str(),
            })
        })
        .collect();
    let (variant, handle) = match outcome {
        SuspendOutcome::Suspended { handle, .. } => ("Suspended", Some(hex::encode(handle.opaque.as_bytes()))),
        _ => ("AlreadySatisfied", None),
    };
    json!({
        "variant": variant,
        "details": {
            "suspension_id": details.suspension_id.to_string(),
            "waitpoint_id": details.waitpoint_id.to_string(),
            "waitpoint_key": details.waitpoint_key,
            "token": details.waitpoint_token.as_str(),
            "extras": extras,
        },
        "handle_opaque_hex": handle,
    })
}

/// What was found under an idempotency key.
enum Remembered {
    Nothing,
    /// The bare key is taken by another execution of the partition, which is no answer for this one.
    OfAnother,
    Outcome(SuspendOutcome),
}

/// What a suspension's outcome is kept under.
struct Idempotency {
    /// The key of this execution: a table's key has room for the partition only, which a whole lane can share.
    scoped: String,
    /// The key alone, under which other programs keep outcomes, until it is known to be another execution's.
    bare: Option<String>,
}

impl Idempotency {
    fn new(held: &Held, bare: &str) -> Self {
        Self { scoped: format!("{}:{bare}", held.key.text()), bare: Some(bare.to_owned()) }
    }

    async fn remembered<D: Dialect>(&self, engine: &Engine<D>, held: &Held) -> Result<Remembered, EngineError> {
        for key in [Some(&self.scoped), self.bare.as_ref()].into_iter().flatten() {
            let params = suspension::SuspensionDedupReadParams {
                partition_key: held.key.partition_key,
                idempotency_key: key.clone(),
            };
            let Some(row) = engine.db().read(params).await? else {
                continue;
            };
            let outcome = recall::<D>(&row.outcome_text)?;
            return match &outcome {
                SuspendOutcome::Suspended { handle, .. } if handle::decode(D::TAG, handle)?.key != held.key => {
                    Ok(Remembered::OfAnother)
                }
                _ => Ok(Remembered::Outcome(outcome)),
            };
        }
        Ok(Remembered::Nothing)
    }
}

/// The outcome that [`remember`] kept.
///
/// # Errors
/// `Validation(Corruption)` naming what cannot be read.
fn recall<D: Dialect>(text: &str) -> Result<SuspendOutcome, EngineError> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| corruption(format!("suspend_dedup outcome_json: {error}")))?;
    let details = &document["details"];
    let waitpoint = |of: &Value, what: &str| {
        let id = WaitpointId::parse(member(of, "waitpoint_id"))
            .map_err(|error| corruption(format!("dedup {what}: {error}")))?;
        Ok((id, member(of, "waitpoint_key").to_owned(), WaitpointHmac::new(member(of, "token"))))
    };
    let suspension_id = SuspensionId::parse(member(details, "suspension_id"))
        .map_err(|error| corruption(format!("dedup suspension_id: {error}")))?;
    let (waitpoint_id, waitpoint_key, token) = waitpoint(details, "waitpoint_id")?;
    let extras = details["extras"].as_array().map(Vec::as_slice).unwrap_or_default(); // tidy: optional in the document
    let extras = extras.iter().map(|extra| {
        waitpoint(extra, "extra wp_id").map(|(id, key, token)| AdditionalWaitpointBinding::new(id, key, token))
    });
    let extras = extras.collect::<Result<Vec<_>, EngineError>>()?;
    let details = SuspendOutcomeDetails::new(suspension_id, waitpoint_id, waitpoint_key, token)
        .with_additional_waitpoints(extras);
    if member(&document, "variant") == "AlreadySatisfied" {
        return Ok(SuspendOutcome::AlreadySatisfied { details });
    }
    let opaque = document["handle_opaque_hex"].as_str().and_then(hex::decode);
    let opaque = opaque.ok_or_else(|| corruption("dedup handle hex: not the bytes of a handle"))?;
    let handle = Handle::new(D::TAG, HandleKind::Suspended, HandleOpaque::new(opaque.into_boxed_slice()));
    Ok(SuspendOutcome::Suspended { details, handle })
}

/// A member that is text; anything else reads as empty.
fn member<'a>(document: &'a Value, name: &str) -> &'a str {
    document[name].as_str().unwrap_or_default() // tidy: what must be there fails to parse when it is empty
}

/// Lists the suspended executions of a partition, the first suspended first.
///
/// The place of the cursor is the time at which its execution was suspended; when nothing is kept of that
/// suspension any more, the list goes on with greater ids.
pub(crate) async fn list<D: Dialect>(
    engine: &Engine<D>,
    partition: &PartitionKey,
    cursor: Option<&ExecutionId>,
    limit: usize,
) -> Result<ListSuspendedPage, EngineError> {
    let index = partition.parse().map_err(|error| invalid_input(format!("list_suspended: partition: {error}")))?.index;
    let partition_key = PartitionNumber::given(index)?;
    let after = cursor.map(exec_key).transpose()?;
    if limit == 0 {
        return Ok(ListSuspendedPage::new(Vec::new(), None));
    }
    let page_size = one_more(limit);
    let rows = listed(engine, partition_key, after.map(|key| key.execution_id), page_size).await?;
    let more = rows.len() > limit;
    let entries = rows.into_iter().take(limit).map(|row| {
        let id = execution_id(partition_key, row.execution_id).map_err(|error| {
            let text = format!("{{fp:{partition_key}}}:{}", row.execution_id);
            corruption(format!(
                "list_suspended: ff_suspension_current row produced invalid ExecutionId '{text}': {error:?}"
            ))
        })?;
        let reason = row.reason_code.unwrap_or_default(); // tidy: the entry has no other word for none
        Ok(SuspendedExecutionEntry::new(id, row.suspended_at_ms, reason))
    });
    let entries = entries.collect::<Result<Vec<_>, EngineError>>()?;
    let next = entries.last().filter(|_| more).map(|last| last.execution_id.clone());
    Ok(ListSuspendedPage::new(entries, next))
}

async fn listed<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    after: Option<ExecutionUuid>,
    page_size: i64,
) -> Result<Vec<suspension::SuspensionListRow>, EngineError> {
    let Some(after) = after else {
        let first = suspension::SuspensionListParams {
            partition_key,
            after_ms: i64::MIN,
            after: ExecutionUuid::LEAST,
            page_size,
        };
        return engine.db().read(first).await;
    };
    let place = suspension::SuspensionPlaceReadParams { execution: ExecKey { partition_key, execution_id: after } };
    if let Some(place) = engine.db().read(place).await? {
        let next =
            suspension::SuspensionListParams { partition_key, after_ms: place.suspended_at_ms, after, page_size };
        return engine.db().read(next).await;
    }
    let next = suspension::SuspensionListAfterParams { partition_key, after, page_size };
    let rows = engine.db().read(next).await?;
    Ok(rows
        .into_iter()
        .map(|row| suspension::SuspensionListRow {
            execution_id: row.execution_id,
            suspended_at_ms: row.suspended_at_ms,
            reason_code: row.reason_code,
        })
        .collect())
}
