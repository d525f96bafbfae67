//! Waitpoints: where signals for an execution arrive.
//!
//! A waitpoint is `pending` until a suspension makes it `active`, and is deleted when its suspension is over.
//! Its token is what a sender shows; lists give its key id and a fingerprint instead.

use std::time::Duration;

use ff_core::backend::{Handle, PendingWaitpoint, WaitpointHmac};
use ff_core::contracts::{ListPendingWaitpointsArgs, ListPendingWaitpointsResult, PendingWaitpointInfo};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::partition::{Partition, PartitionKey};
use ff_core::types::{ExecutionId, TimestampMs, WaitpointId};
use uuid::Uuid;

use crate::column::PartitionNumber;
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::secret;
use crate::engine::seize::{self, Seized, Taking};
use crate::model::given::stored_ms;
use crate::model::handle;
use crate::model::id::{ExecKey, corruption, exec_key, invalid_input, reject_nul};
use crate::model::signal::Members;
use crate::statements::{Statements, execution, suspension, waitpoint};

/// How often making a waitpoint is tried while the secret that signs keeps changing.
const TRIES: u32 = 3;

/// How many waitpoints a page has when the caller does not say.
const LIST_DEFAULT_LIMIT: u32 = 100;

/// How many waitpoints a page has at most.
const LIST_MAX_LIMIT: u32 = 1_000;

/// How much of a token's digest a list shows.
const FINGERPRINT_CHARS: usize = 16;

/// Makes a waitpoint for a suspension to come.
///
/// Precondition: a secret signs; whether the handle holds the lease is not asked. Effect: a `pending`
/// waitpoint. Repeating it makes another one.
pub(crate) async fn create<D: Dialect>(
    engine: &Engine<D>,
    handle: &Handle,
    waitpoint_key: &str,
    expires_in: Duration,
) -> Result<PendingWaitpoint, EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    reject_nul("waitpoint_key", waitpoint_key)?;
    let expires_in_ms = stored_ms(expires_in.as_millis());
    let now_ms = engine.now_ms();
    let waitpoint_id = WaitpointId::new();
    let mut secret = secret::signing(engine).await?;
    for _ in 0..TRIES {
        let Some(signing) = secret else {
            return Err(invalid_input("ff_waitpoint_hmac empty — seed a kid before create_waitpoint"));
        };
        let token = signing.token(&held.payload.execution_id, &waitpoint_id);
        let params = waitpoint::WaitpointCreateParams {
            execution: held.key,
            waitpoint_id: waitpoint_id.0,
            token_kid: signing.kid.clone(),
            token: token.clone(),
            now_ms,
            expires_at_ms: now_ms.saturating_add(expires_in_ms),
            waitpoint_key: waitpoint_key.to_owned(),
            required_signal_names: Vec::new(),
        };
        if engine.db().unit_telling(params, |_, _| {}).await?.is_some() {
            return Ok(PendingWaitpoint::new(waitpoint_id, WaitpointHmac::new(token)));
        }
        secret = secret::renewed(engine).await?;
    }
    Err(EngineError::Contention(ContentionKind::RetryExhausted))
}

/// Reads the token of a waitpoint, whatever became of its execution. `None` when there is no such waitpoint.
pub(crate) async fn read_token<D: Dialect>(
    engine: &Engine<D>,
    partition: &PartitionKey,
    waitpoint_id: &WaitpointId,
) -> Result<Option<String>, EngineError> {
    let index = partition.parse().map_err(|error| invalid_input(format!("partition_key: {error}")))?.index;
    let params = waitpoint::WaitpointTokenReadParams {
        partition_key: PartitionNumber::given(index)?,
        waitpoint_id: waitpoint_id.0,
    };
    let row = engine.db().read(params).await?;
    Ok(row.map(|row| row.token).filter(|token| !token.is_empty()))
}

/// Lists the waitpoints of an execution that a signal may arrive at, in the order of their ids. Those whose
/// time has passed are listed until they are closed.
pub(crate) async fn list_pending<D: Dialect>(
    engine: &Engine<D>,
    args: &ListPendingWaitpointsArgs,
) -> Result<ListPendingWaitpointsResult, EngineError> {
    let key = exec_key(&args.execution_id)?;
    let limit = args.limit.unwrap_or(LIST_DEFAULT_LIMIT).clamp(1, LIST_MAX_LIMIT); // tidy: a caller's option
    let known = execution::ExecutionStateReadParams { execution: key };
    engine.db().read(known).await?.ok_or(EngineError::NotFound { entity: "execution" })?;
    let params = waitpoint::WaitpointListParams {
        execution: key,
        after: args.after.as_ref().map(|after| after.0),
        page_size: i64::from(limit) + 1,
    };
    let rows = engine.db().read(params).await?;
    let more = rows.len() > limit as usize;
    let entries = rows.into_iter().take(limit as usize).map(|row| listed(&args.execution_id, row));
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    let next = entries.last().filter(|_| more).map(|last| last.waitpoint_id.clone());
    let page = ListPendingWaitpointsResult::new(entries);
    Ok(match next {
        Some(cursor) => page.with_next_cursor(cursor),
        None => page,
    })
}

fn listed(id: &ExecutionId, row: waitpoint::WaitpointListRow) -> Result<PendingWaitpointInfo, EngineError> {
    let names: Vec<String> = serde_json::from_str(&row.names_text)
        .map_err(|error| corruption(format!("waitpoint_pending: required_signal_names not valid JSON: {error}")))?;
    let (kid, fingerprint) = redacted(&row.token);
    let mut info = PendingWaitpointInfo::new(
        WaitpointId::from_uuid(row.waitpoint_id),
        row.waitpoint_key,
        row.state.to_string(),
        TimestampMs::from_millis(row.created_at_ms),
        id.clone(),
        kid,
        fingerprint,
    )
    .with_required_signal_names(names);
    if let Some(at_ms) = row.activated_at_ms {
        info = info.with_activated_at(TimestampMs::from_millis(at_ms));
    }
    if let Some(at_ms) = row.expires_at_ms {
        info = info.with_expires_at(TimestampMs::from_millis(at_ms));
    }
    Ok(info)
}

/// The key id of a token and the start of its digest; both empty when it is malformed.
fn redacted(token: &str) -> (String, String) {
    match token.split_once(':') {
        Some((kid, digest)) if !kid.is_empty() && !digest.is_empty() => {
            (kid.to_owned(), digest.chars().take(FINGERPRINT_CHARS).collect())
        }
        _ => (String::new(), String::new()),
    }
}

/// Closes a waitpoint whose time has passed, by the caller's clock and by ours.
///
/// Precondition: none; what is not due is left alone. Effect: the waitpoint is gone; a suspension that no
/// signal reached through it says so. Repeating it does nothing.
pub(crate) async fn close<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    waitpoint_id: &str,
    now: TimestampMs,
) -> Result<(), EngineError> {
    let partition_key = PartitionNumber::given(partition.index)?;
    let now_ms = engine.given(now).0.min(engine.now_ms());
    let waitpoint_id =
        Uuid::parse_str(waitpoint_id).map_err(|error| invalid_input(format!("waitpoint_id not a UUID: {error}")))?;
    close_due(engine, partition_key, waitpoint_id, now_ms, Taking::Waits).await.map(drop)
}

/// The same for a waitpoint of which a sweep believes that it is due; says whether it was.
pub(crate) async fn close_due<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    waitpoint_id: Uuid,
    now_ms: i64,
    taking: Taking,
) -> Result<bool, EngineError> {
    let due = waitpoint::WaitpointDueReadParams { partition_key, waitpoint_id, now_ms };
    let closing = waitpoint::WaitpointDeleteDueParams { partition_key, waitpoint_id, now_ms };
    transaction!(engine, "waitpoint_close", [due, closing, taking], |conn| {
        let Some(owner) = conn.waitpoint_due_read(due).await? else {
            return Ok(false);
        };
        // The execution is locked before its waitpoint, in the order of every other operation.
        let execution_id = owner.execution_id;
        let key = ExecKey { partition_key, execution_id };
        if *taking == Taking::Seizes && seize::whole::<D>(conn, key).await? == Seized::Held {
            return Ok(false);
        }
        conn.execution_lock(&execution::ExecutionLockParams { execution: key }).await?;
        let Some(closed) = conn.waitpoint_delete_due(closing).await? else {
            return Ok(false);
        };
        let read = suspension::SuspensionReadParams { execution: key };
        let Some(row) = conn.suspension_read(&read).await? else {
            return Ok(true);
        };
        let id_text = waitpoint_id.to_string();
        let waitpoint_key = if closed.waitpoint_key.is_empty() { &id_text } else { &closed.waitpoint_key };
        let mut members = Members::parse(&row.members_text).map_err(Abort::from)?;
        if members.close(waitpoint_key, now_ms) {
            let members = members.into_value();
            conn.suspension_members_write(&suspension::SuspensionMembersWriteParams { members, execution: key })
                .await?;
        }
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_shows_the_start_of_the_digest_only() {
        let shown = |token| redacted(token);
        assert_eq!(shown("k1:0123456789abcdefSECRET"), ("k1".to_owned(), "0123456789abcdef".to_owned()));
        assert_eq!(shown("k1:äöüäöüäöüäöüäöüäöü").1.chars().count(), 16);
        assert_eq!(shown("k1:a:b"), ("k1".to_owned(), "a:b".to_owned()));
        for malformed in ["", "k1", ":ab", "k1:"] {
            assert_eq!(shown(malformed), (String::new(), String::new()), "{malformed}");
        }
    }
}
