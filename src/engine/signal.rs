//! Signals: delivering them to a suspended execution, and observing what came.
//!
//! A delivery reads what it depends on, decides, and writes in one statement that takes effect only if the
//! suspension still has received what was read. When another delivery came between, it is done again with the
//! execution locked. So two deliveries to one execution see one another, and exactly one of them makes the
//! condition hold.

use ff_core::backend::{Handle, ResumeSignal};
use ff_core::contracts::{DeliverApprovalSignalArgs, DeliverSignalArgs, DeliverSignalResult, ResumeCondition};
use ff_core::crypto::hmac::hmac_verify;
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::types::{SignalId, TimestampMs, WaitpointToken};

use crate::db::error::Abort;
use crate::db::{Dialect, Wakes};
use crate::engine::Engine;
use crate::engine::policy::resume::holds;
use crate::engine::signing::token_message;
use crate::model::handle;
use crate::model::id::{ExecKey, corruption, exec_key, invalid_input, reject_nul};
use crate::model::signal::{Members, stored};
use crate::model::word::PhaseWord;
use crate::statements::{Statements, execution, signal};

/// How large the payload of a signal may be.
const MAX_PAYLOAD_BYTES: usize = 64 * 1024;

/// Delivers a signal to a waitpoint.
///
/// Precondition: the token is the waitpoint's, and the execution is suspended. Effect: the suspension has
/// received the signal; when its condition holds now, the execution becomes resumable, its waitpoints go away
/// and a `resumable` completion is written. A signal event is written in any case. Repeating it delivers
/// again, except that with an idempotency key which this suspension has seen the answer is the first signal.
pub(crate) async fn deliver<D: Dialect>(
    engine: &Engine<D>,
    args: &DeliverSignalArgs,
) -> Result<DeliverSignalResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    check(args)?;
    let target = signal::SignalTargetReadParams { partition_key: key.partition_key, waitpoint_id: args.waitpoint_id.0 };
    let row = engine.db().read(target).await?;
    let done = match decide(args, key, row)? {
        Decision::Duplicate(existing_signal_id) => return Ok(DeliverSignalResult::Duplicate { existing_signal_id }),
        Decision::Append(params) => {
            let tell = move |row: &signal::SignalAppendRow, wakes: &mut Wakes| row.tell(key, wakes);
            engine.db().unit_telling::<signal::SignalAppendParams, _, _>(params, tell).await?.map(|_| Effect::Appended)
        }
        Decision::Resume(params) => {
            let tell = move |row: &signal::SignalResumeRow, wakes: &mut Wakes| row.tell(key, wakes);
            engine
                .db()
                .combined_telling::<signal::SignalResumeParams, _, _>(params, tell)
                .await?
                .map(|_| Effect::Satisfied)
        }
    };
    match done {
        Some(effect) => Ok(accepted(args, effect)),
        None => deliver_locked(engine, args, key).await,
    }
}

/// The same in one transaction that holds the execution.
async fn deliver_locked<D: Dialect>(
    engine: &Engine<D>,
    args: &DeliverSignalArgs,
    key: ExecKey,
) -> Result<DeliverSignalResult, EngineError> {
    let lock = execution::ExecutionLockParams { execution: key };
    let target = signal::SignalTargetReadParams { partition_key: key.partition_key, waitpoint_id: args.waitpoint_id.0 };
    let args = args.clone();
    let delivered = transaction!(
        engine,
        "signal_deliver",
        [lock, target, args],
        |conn| {
            conn.execution_lock(lock).await?;
            let row = conn.signal_target_read(target).await?;
            let delivered = match decide(args, key, row)? {
                Decision::Duplicate(existing_signal_id) => {
                    return Ok(Delivered::Nothing(DeliverSignalResult::Duplicate { existing_signal_id }));
                }
                Decision::Append(params) => in_steps!(D: conn.signal_append(&params))
                    .await?
                    .map(|row| Delivered::Appended(accepted(args, Effect::Appended), row)),
                Decision::Resume(params) => in_steps!(D: conn.signal_resume(&params))
                    .await?
                    .map(|row| Delivered::Satisfied(accepted(args, Effect::Satisfied), row)),
            };
            delivered.ok_or_else(|| Abort::from(EngineError::Contention(ContentionKind::RetryExhausted)))
        },
        |delivered, wakes| match delivered {
            Delivered::Nothing(_) => {}
            Delivered::Appended(_, row) => row.tell(key, wakes),
            Delivered::Satisfied(_, row) => row.tell(key, wakes),
        }
    )?;
    let (Delivered::Nothing(result) | Delivered::Appended(result, _) | Delivered::Satisfied(result, _)) = delivered;
    Ok(result)
}

enum Delivered {
    Nothing(DeliverSignalResult),
    Appended(DeliverSignalResult, signal::SignalAppendRow),
    Satisfied(DeliverSignalResult, signal::SignalResumeRow),
}

impl signal::SignalAppendRow {
    fn tell(&self, key: ExecKey, wakes: &mut Wakes) {
        wakes.signal(self.signal_event_id, key.partition_key);
    }
}

impl signal::SignalResumeRow {
    fn tell(&self, key: ExecKey, wakes: &mut Wakes) {
        wakes.signal(self.signal_event_id, key.partition_key);
        wakes.completion(self.completion_event_id, key.partition_key);
    }
}

/// What a delivery did.
#[derive(Debug, Clone, Copy)]
enum Effect {
    Appended,
    Satisfied,
}

fn accepted(args: &DeliverSignalArgs, effect: Effect) -> DeliverSignalResult {
    let effect = match effect {
        Effect::Appended => "appended_to_waitpoint",
        Effect::Satisfied => "resume_condition_satisfied",
    };
    DeliverSignalResult::Accepted { signal_id: args.signal_id.clone(), effect: effect.to_owned() }
}

fn check(args: &DeliverSignalArgs) -> Result<(), EngineError> {
    for (field, text) in [
        ("signal_name", Some(&args.signal_name)),
        ("signal_category", Some(&args.signal_category)),
        ("source_type", Some(&args.source_type)),
        ("source_identity", Some(&args.source_identity)),
        ("correlation_id", args.correlation_id.as_ref()),
        ("idempotency_key", args.idempotency_key.as_ref()),
    ] {
        text.map_or(Ok(()), |text| reject_nul(field, text))?;
    }
    match args.payload.as_ref().map(Vec::len) {
        Some(length) if length > MAX_PAYLOAD_BYTES => {
            Err(invalid_input(format!("payload of {length} bytes exceeds {MAX_PAYLOAD_BYTES}")))
        }
        _ => Ok(()),
    }
}

/// What a delivery is to do.
enum Decision {
    Duplicate(SignalId),
    Append(signal::SignalAppendParams),
    Resume(signal::SignalResumeParams),
}

fn decide(
    args: &DeliverSignalArgs,
    key: ExecKey,
    target: Option<signal::SignalTargetReadRow>,
) -> Result<Decision, EngineError> {
    let target = target.ok_or(EngineError::NotFound { entity: "waitpoint" })?;
    if target.execution_id != key.execution_id {
        return Err(invalid_input("waitpoint belongs to a different execution"));
    }
    let kid = &target.token_kid;
    let secret = target.secret.ok_or_else(|| invalid_input(format!("kid {kid} missing from keystore")))?;
    let message = token_message(&args.execution_id, &args.waitpoint_id);
    hmac_verify(&secret, kid, message.as_bytes(), args.waitpoint_token.as_str())
        .map_err(|error| invalid_input(format!("waitpoint_token verify: {error}")))?;
    if args.waitpoint_token.as_str() != target.token {
        return Err(invalid_input("waitpoint_token does not match minted token"));
    }
    let suspended = target.lifecycle_phase == Some(PhaseWord::Suspended);
    let (Some(suspension_id), Some(condition), Some(seen_members), true) =
        (target.suspension_id, target.condition_text, target.members_text, suspended)
    else {
        return Err(EngineError::NotFound { entity: "suspension" });
    };
    let mut members = Members::parse(&seen_members)?;
    if let Some(idempotency_key) = args.idempotency_key.as_deref().filter(|key| !key.is_empty())
        && let Some(first) = members.delivered_with(idempotency_key)
    {
        return Ok(Decision::Duplicate(first));
    }
    members.append(&target.waitpoint_key, stored(args))?;
    let condition: ResumeCondition =
        serde_json::from_str(&condition).map_err(|error| corruption(format!("condition: {error}")))?;
    let satisfied = holds(&condition, &members.heard());
    let members = members.into_value();
    let (execution_text, waitpoint_text) = (key.text(), args.waitpoint_id.to_string());
    let (signal_id, source_identity) = (args.signal_id.to_string(), args.source_identity.clone());
    let now_ms = args.now.0;
    Ok(if satisfied {
        Decision::Resume(signal::SignalResumeParams {
            execution: key,
            suspension_id,
            seen_members,
            execution_text,
            signal_id,
            waitpoint_text,
            source_identity,
            now_ms,
            members,
        })
    } else {
        Decision::Append(signal::SignalAppendParams {
            execution: key,
            suspension_id,
            seen_members,
            execution_text,
            signal_id,
            waitpoint_text,
            source_identity,
            now_ms,
            members,
        })
    })
}

/// Delivers an operator's signal: the token is read here instead of being shown by the caller.
///
/// As [`deliver`]. The same decision with the same suffix is delivered once per suspension.
pub(crate) async fn deliver_approval<D: Dialect>(
    engine: &Engine<D>,
    args: &DeliverApprovalSignalArgs,
) -> Result<DeliverSignalResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    let params = signal::SignalOperatorReadParams { execution: key, waitpoint_id: args.waitpoint_id.0 };
    let found = engine.db().read(params).await?.ok_or(EngineError::NotFound { entity: "execution" })?;
    if found.lane_id != args.lane_id {
        let (given, stored) = (&args.lane_id, &found.lane_id);
        return Err(invalid_input(format!("lane_mismatch: args.lane_id={given} exec_core.lane_id={stored}")));
    }
    let token = found.token.filter(|token| !token.is_empty()).ok_or(EngineError::NotFound { entity: "waitpoint" })?;
    let now = TimestampMs::from_millis(engine.now_ms());
    let args = DeliverSignalArgs {
        execution_id: args.execution_id.clone(),
        waitpoint_id: args.waitpoint_id.clone(),
        signal_id: SignalId::new(),
        signal_name: args.signal_name.clone(),
        signal_category: "approval".to_owned(),
        source_type: "operator".to_owned(),
        source_identity: String::new(),
        payload: None,
        payload_encoding: None,
        correlation_id: None,
        idempotency_key: Some(format!("approval:{}:{}", args.signal_name, args.idempotency_suffix)),
        target_scope: "execution".to_owned(),
        created_at: Some(now),
        dedup_ttl_ms: Some(args.signal_dedup_ttl_ms),
        resume_delay_ms: None,
        max_signals_per_execution: args.max_signals_per_execution,
        signal_maxlen: args.maxlen,
        waitpoint_token: WaitpointToken::new(token),
        now,
    };
    deliver(engine, &args).await
}

/// The signals that the execution of a handle received in its suspension, or in the last one when it is over.
/// The handle need not hold the lease.
pub(crate) async fn observe<D: Dialect>(engine: &Engine<D>, handle: &Handle) -> Result<Vec<ResumeSignal>, EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    let params = signal::SignalMembersReadParams { execution: held.key };
    match engine.db().read(params).await? {
        Some(row) => Ok(Members::parse(&row.members_text)?.observed()),
        None => Ok(Vec::new()),
    }
}
