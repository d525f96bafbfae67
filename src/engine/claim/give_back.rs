//! Claims whose caller went away: the lease is given back at once, instead of running out for nobody.
//!
//! A claim runs in a task of its own, so that it comes to its end whoever waits for it. Its answer is an [`Offer`];
//! one that nobody takes is undone. The epoch moves on with it, so nothing that saw the lease can use it. What is
//! left to its time to live is a lease whose process or runtime ended before the giving back.

use std::future::Future;

use ff_core::engine_error::EngineError;
use ff_core::types::LeaseId;
use tokio::runtime::Handle as Runtime;
use tracing::Instrument as _;

use crate::column::{StoredEpoch, StoredIndex};
use crate::db::Dialect;
use crate::db::error::{Abort, transport};
use crate::db::fault::inherited;
use crate::engine::Engine;
use crate::engine::policy::give_back::{Before, Claimed, back};
use crate::model::document;
use crate::model::id::ExecKey;
use crate::model::word::{LeaseWord, PhaseWord};
use crate::statements::{Statements, execution, giveback, grant, schedule};

/// What a claim took, as far as giving it back needs it.
#[derive(Debug, Clone)]
pub(crate) enum Took {
    /// The lease of an attempt.
    Lease {
        key: ExecKey,
        attempt_index: StoredIndex,
        lease_epoch: StoredEpoch,
        lease_id: LeaseId,
        lease_ttl_ms: u64,
        before: Before,
    },
    /// A grant of an execution that waits for it.
    Grant { key: ExecKey, grant_key: String },
}

/// The answer of a claim, and what it took if it took anything.
pub(crate) type Answered<T> = Result<(T, Option<Took>), EngineError>;

/// An answer that somebody may take. Dropped before, what it took is given back.
struct Offer<D: Dialect, T> {
    engine: Engine<D>,
    runtime: Runtime,
    content: Option<(T, Option<Took>)>,
}

impl<D: Dialect, T> Drop for Offer<D, T> {
    fn drop(&mut self) {
        let Some((_, Some(took))) = self.content.take() else {
            return;
        };
        let engine = self.engine.clone();
        let giving = async move {
            if let Err(error) = give_back(&engine, &took).await {
                tracing::warn!(%error, ?took, "a claim that nobody took stays until its time is over");
            }
        };
        self.runtime.spawn(inherited(giving.in_current_span()));
    }
}

/// Runs a claim to its end and gives back what it took when the caller is gone by then.
pub(crate) async fn unless_dropped<D, T, F>(
    engine: &Engine<D>,
    claim: impl FnOnce(Engine<D>) -> F,
) -> Result<T, EngineError>
where
    D: Dialect,
    T: Send + 'static,
    F: Future<Output = Answered<T>> + Send + 'static,
{
    let (engine, claiming) = (engine.clone(), claim(engine.clone()));
    let offering = async move {
        let content = claiming.await?;
        Ok::<_, EngineError>(Offer { engine, runtime: Runtime::current(), content: Some(content) })
    };
    let mut offer = match tokio::spawn(inherited(offering.in_current_span())).await {
        Ok(offer) => offer?,
        Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
        Err(_) => return Err(transport::<D>(sqlx::Error::WorkerCrashed)),
    };
    match offer.content.take() {
        Some((answer, took)) => {
            if let Some(Took::Lease { key, lease_ttl_ms, .. }) = took {
                offer.engine.running().goes_on(key.execution_id, lease_ttl_ms);
            }
            Ok(answer)
        }
        None => Err(transport::<D>(sqlx::Error::WorkerCrashed)),
    }
}

/// Undoes a claim: whoever could make it before can make it now.
///
/// Precondition: what the claim took is still held under its epoch or its key; otherwise nothing happens, so it is
/// safe to repeat. Effect: the execution waits where it was taken from, under the next epoch; a `revoked` lease event
/// follows the claim's own. What a quota admitted stays admitted and is not counted again.
async fn give_back<D: Dialect>(engine: &Engine<D>, took: &Took) -> Result<(), EngineError> {
    match took.clone() {
        Took::Lease { key, attempt_index, lease_epoch, lease_id, before, .. } => {
            let lease = Lease { key, attempt_index, lease_epoch, lease_id, before, now_ms: engine.now_ms() };
            transaction!(
                engine,
                "giveback_lease",
                [lease],
                |conn| { lease.give_back_on::<D>(conn).await },
                |event_id, wakes| {
                    if let Some(event_id) = event_id {
                        wakes.lease(*event_id, key.partition_key);
                        wakes.queued();
                    }
                }
            )?;
        }
        Took::Grant { key, grant_key } => {
            transaction!(
                engine,
                "giveback_grant",
                [key, grant_key],
                |conn| { ungrant_on::<D>(conn, *key, grant_key).await },
                |_done, wakes| wakes.queued()
            )?;
        }
    }
    Ok(())
}

struct Lease {
    key: ExecKey,
    attempt_index: StoredIndex,
    lease_epoch: StoredEpoch,
    lease_id: LeaseId,
    before: Before,
    now_ms: i64,
}

impl Lease {
    /// Answers the lease event's id when there was a lease to give back.
    async fn give_back_on<D: Dialect>(&self, conn: &mut D::Connection) -> Result<Option<i64>, Abort> {
        let (attempt_index, lease_epoch, now_ms) = (self.attempt_index, self.lease_epoch, self.now_ms);
        let lock = execution::ExecutionLockParams { execution: self.key };
        let Some(core) = conn.execution_lock(&lock).await?.filter(|core| core.lifecycle_phase == PhaseWord::Active)
        else {
            return Ok(None);
        };
        let read = giveback::GivebackReadParams { execution: self.key, attempt_index, lease_epoch };
        let Some(held) = conn.giveback_read(&read).await? else {
            return Ok(None);
        };
        let unstarted_epoch = held.unstarted_epoch.as_deref();
        let to = back(self.before, Claimed { attempt_index, lease_epoch, unstarted_epoch });
        let next_epoch = lease_epoch.next();
        conn.giveback_attempt(&giveback::GivebackAttemptParams {
            unstarted_epoch: if to.is_unstarted { next_epoch.to_string() } else { String::new() },
            execution: self.key,
            attempt_index,
            lease_epoch,
        })
        .await?;
        let counted = i64::from(attempt_index).saturating_add(i64::from(!to.is_unstarted));
        let reclaims = i32::from(self.before == Before::Reclaimed);
        conn.giveback_execution(&giveback::GivebackExecutionParams {
            ownership_state: to.ownership_state,
            public_state: to.public_state,
            attempt_state: to.attempt_state,
            attempt_index,
            reclaim_count: core.lease_reclaim_count.saturating_sub(reclaims),
            total_attempt_count: counted.to_string(),
            now_ms,
            execution: self.key,
        })
        .await?;
        let event = grant::GrantLeaseEventInsertParams {
            execution_text: self.key.text(),
            lease_id: Some(self.lease_id.to_string()),
            event_type: LeaseWord::Revoked,
            now_ms,
            execution: self.key,
        };
        Ok(Some(in_steps!(D: conn.grant_lease_event_insert(&event)).await?.event_id))
    }
}

/// Takes a grant back while it is still the one that the execution waits for.
async fn ungrant_on<D: Dialect>(conn: &mut D::Connection, key: ExecKey, grant_key: &str) -> Result<(), Abort> {
    let core = conn.schedule_lock(&schedule::ScheduleLockParams { execution: key }).await?;
    let granted = core.as_ref().and_then(|core| core.raw_fields.get("claim_grant"));
    let is_ours = granted.and_then(|granted| document::member_string(granted, "grant_key"));
    if is_ours.as_deref() == Some(grant_key) {
        // At the end of time every grant has expired.
        let release = schedule::ScheduleGrantedReleaseParams { execution: key, now_ms: i64::MAX };
        conn.schedule_granted_release(&release).await?;
    }
    Ok(())
}
