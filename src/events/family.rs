//! The outboxes that can be subscribed to, and what their rows say.
//!
//! A row that cannot be understood says why instead of an event; subscriptions pass it with a warning.

use std::future::Future;

use ff_core::backend::CompletionPayload;
use ff_core::engine_error::EngineError;
use ff_core::stream_events::{
    CompletionEvent, CompletionOutcome, LeaseHistoryEvent, SignalDeliveryEffect, SignalDeliveryEvent,
};
use ff_core::types::{ExecutionId, LeaseId, SignalId, TimestampMs, WaitpointId};

use super::cursor;
use crate::column::{ExecutionUuid, OutboxPartition};
use crate::db::dialect::SubscriptionWords;
use crate::db::{Db, Dialect, Outbox};
use crate::model::id::{ExecKey, execution_id};
use crate::model::word::{CompletionWord, LeaseWord, OutcomeWord};
use crate::statements::event;

/// Where events are read.
pub(super) struct Source<D: Dialect> {
    pub(super) db: Db<D>,
}

impl<D: Dialect> Source<D> {
    /// The database, under the name that the statement macros ask for.
    pub(super) fn db(&self) -> &Db<D> {
        &self.db
    }
}

/// A row of an outbox.
pub(super) struct Entry<E> {
    pub(super) event_id: i64,
    /// The execution it is about, if the row says so in words that can be read.
    pub(super) execution: Option<ExecKey>,
    pub(super) namespace: Option<String>,
    pub(super) instance_tag: Option<String>,
    /// What it says, or why that cannot be told.
    pub(super) event: Result<E, String>,
}

/// One outbox and the events that its rows stand for.
pub(super) trait Family: Send + Sync + 'static {
    /// What subscribers get.
    type Event: Send + Sync + 'static;

    /// Whose wake-ups to wait for.
    const OUTBOX: Outbox;

    /// Whether subscribers are told when the connection that brings wake-ups was lost.
    const TELLS_LOSSES: bool;

    /// The words of refusals.
    fn words<D: Dialect>() -> SubscriptionWords;

    /// The ids of the newest rows, newest first.
    fn newest<D: Dialect>(
        source: &Source<D>,
        page_size: i64,
    ) -> impl Future<Output = Result<Vec<i64>, EngineError>> + Send;

    /// The rows after an event, oldest first.
    fn page<D: Dialect>(
        source: &Source<D>,
        after: i64,
        page_size: i64,
    ) -> impl Future<Output = Result<Vec<Entry<Self::Event>>, EngineError>> + Send;
}

/// What happened to leases.
pub(super) struct LeaseHistory;

impl Family for LeaseHistory {
    type Event = LeaseHistoryEvent;

    const OUTBOX: Outbox = Outbox::LeaseHistory;
    const TELLS_LOSSES: bool = true;

    fn words<D: Dialect>() -> SubscriptionWords {
        D::SUBSCRIBE_LEASE_HISTORY
    }

    async fn newest<D: Dialect>(source: &Source<D>, page_size: i64) -> Result<Vec<i64>, EngineError> {
        let rows = source.db().read(event::EventLeaseNewestParams { page_size }).await?;
        Ok(rows.into_iter().map(|row| row.event_id).collect())
    }

    async fn page<D: Dialect>(
        source: &Source<D>,
        after: i64,
        page_size: i64,
    ) -> Result<Vec<Entry<LeaseHistoryEvent>>, EngineError> {
        let rows = source.db().read(event::EventLeasePageParams { after, page_size }).await?;
        Ok(rows.into_iter().map(lease_entry).collect())
    }
}

fn lease_entry(row: event::EventLeasePageRow) -> Entry<LeaseHistoryEvent> {
    let found = of_text(row.partition_key, &row.execution_id);
    let event = match &found {
        Ok((_, execution_id)) => lease_event(&row, execution_id.clone()),
        Err(why) => Err(why.clone()),
    };
    let execution = found.ok().map(|(key, _)| key);
    Entry { event_id: row.event_id, execution, namespace: row.namespace, instance_tag: row.instance_tag, event }
}

/// What the tables do not keep, the workers of a lease, is not told.
fn lease_event(row: &event::EventLeasePageRow, execution_id: ExecutionId) -> Result<LeaseHistoryEvent, String> {
    let cursor = cursor::at(row.event_id);
    let at = TimestampMs::from_millis(row.occurred_at_ms);
    let lease_id = row.lease_id.as_deref().and_then(|text| LeaseId::parse(text).ok());
    Ok(match &row.event_type {
        LeaseWord::Acquired => {
            LeaseHistoryEvent::Acquired { cursor, execution_id, lease_id, worker_instance_id: None, at }
        }
        LeaseWord::Renewed => {
            LeaseHistoryEvent::Renewed { cursor, execution_id, lease_id, worker_instance_id: None, at }
        }
        LeaseWord::Expired => LeaseHistoryEvent::Expired { cursor, execution_id, lease_id, prev_owner: None, at },
        LeaseWord::Reclaimed => {
            LeaseHistoryEvent::Reclaimed { cursor, execution_id, new_lease_id: lease_id, new_owner: None, at }
        }
        LeaseWord::Revoked => {
            LeaseHistoryEvent::Revoked { cursor, execution_id, lease_id, revoked_by: "operator".to_owned(), at }
        }
        LeaseWord::Other(word) => return Err(format!("event_type: '{word}' is not a known value")),
    })
}

/// How executions ended.
pub(super) struct Completion;

impl Family for Completion {
    type Event = CompletionEvent;

    const OUTBOX: Outbox = Outbox::Completion;
    const TELLS_LOSSES: bool = false;

    fn words<D: Dialect>() -> SubscriptionWords {
        D::SUBSCRIBE_COMPLETION
    }

    async fn newest<D: Dialect>(source: &Source<D>, page_size: i64) -> Result<Vec<i64>, EngineError> {
        newest_completions(source, page_size).await
    }

    async fn page<D: Dialect>(
        source: &Source<D>,
        after: i64,
        page_size: i64,
    ) -> Result<Vec<Entry<CompletionEvent>>, EngineError> {
        let told = |row: &event::EventCompletionPageRow, execution_id| {
            let at = TimestampMs::from_millis(row.occurred_at_ms);
            CompletionEvent::new(cursor::at(row.event_id), execution_id, outcome(&row.outcome), at)
        };
        completions(source, after, page_size, told).await
    }
}

/// The outcome of a stored word. `failed` is what the engine writes, `failure` what older writers may have.
fn outcome(word: &CompletionWord) -> CompletionOutcome {
    CompletionOutcome::from_wire(match word {
        CompletionWord::Failed => OutcomeWord::Failure.as_str(),
        other => other.as_str(),
    })
}

/// How executions ended, in the words of the tables.
pub(super) struct Payload;

impl Family for Payload {
    type Event = CompletionPayload;

    const OUTBOX: Outbox = Outbox::Completion;
    const TELLS_LOSSES: bool = false;

    fn words<D: Dialect>() -> SubscriptionWords {
        D::SUBSCRIBE_COMPLETION
    }

    async fn newest<D: Dialect>(source: &Source<D>, page_size: i64) -> Result<Vec<i64>, EngineError> {
        newest_completions(source, page_size).await
    }

    async fn page<D: Dialect>(
        source: &Source<D>,
        after: i64,
        page_size: i64,
    ) -> Result<Vec<Entry<CompletionPayload>>, EngineError> {
        let told = |row: &event::EventCompletionPageRow, execution_id| {
            let at = TimestampMs::from_millis(row.occurred_at_ms);
            let payload = CompletionPayload::new(execution_id, row.outcome.to_string(), None, at);
            match row.flow_id {
                Some(flow_id) => payload.with_flow_id(flow_id.shown()),
                None => payload,
            }
        };
        completions(source, after, page_size, told).await
    }
}

async fn newest_completions<D: Dialect>(source: &Source<D>, page_size: i64) -> Result<Vec<i64>, EngineError> {
    let rows = source.db().survey(event::EventCompletionNewestParams { page_size }).await?;
    Ok(rows.into_iter().map(|row| row.event_id).collect())
}

async fn completions<D: Dialect, E>(
    source: &Source<D>,
    after: i64,
    page_size: i64,
    told: impl Fn(&event::EventCompletionPageRow, ExecutionId) -> E + Send,
) -> Result<Vec<Entry<E>>, EngineError> {
    let rows = source.db().survey(event::EventCompletionPageParams { after, page_size }).await?;
    let entry = |row: event::EventCompletionPageRow| {
        let key = row.execution;
        let event = execution_id(key.partition_key, key.execution_id).map(|id| told(&row, id));
        Entry {
            event_id: row.event_id,
            execution: Some(key),
            event: event.map_err(|error| error.to_string()),
            namespace: row.namespace,
            instance_tag: row.instance_tag,
        }
    };
    Ok(rows.into_iter().map(entry).collect())
}

/// Which signals were delivered.
pub(super) struct SignalDelivery;

impl Family for SignalDelivery {
    type Event = SignalDeliveryEvent;

    const OUTBOX: Outbox = Outbox::SignalDelivery;
    const TELLS_LOSSES: bool = true;

    fn words<D: Dialect>() -> SubscriptionWords {
        D::SUBSCRIBE_SIGNAL_DELIVERY
    }

    async fn newest<D: Dialect>(source: &Source<D>, page_size: i64) -> Result<Vec<i64>, EngineError> {
        let rows = source.db().read(event::EventSignalNewestParams { page_size }).await?;
        Ok(rows.into_iter().map(|row| row.event_id).collect())
    }

    async fn page<D: Dialect>(
        source: &Source<D>,
        after: i64,
        page_size: i64,
    ) -> Result<Vec<Entry<SignalDeliveryEvent>>, EngineError> {
        let rows = source.db().read(event::EventSignalPageParams { after, page_size }).await?;
        Ok(rows.into_iter().map(signal_entry).collect())
    }
}

fn signal_entry(row: event::EventSignalPageRow) -> Entry<SignalDeliveryEvent> {
    let found = of_text(row.partition_key, &row.execution_id);
    let event = match &found {
        Ok((_, execution_id)) => signal_event(&row, execution_id.clone()),
        Err(why) => Err(why.clone()),
    };
    let execution = found.ok().map(|(key, _)| key);
    Entry { event_id: row.event_id, execution, namespace: row.namespace, instance_tag: row.instance_tag, event }
}

fn signal_event(row: &event::EventSignalPageRow, execution_id: ExecutionId) -> Result<SignalDeliveryEvent, String> {
    let signal_id =
        SignalId::parse(&row.signal_id).map_err(|error| format!("signal_id: '{}': {error}", row.signal_id))?;
    Ok(SignalDeliveryEvent::new(
        cursor::at(row.event_id),
        execution_id,
        signal_id,
        row.waitpoint_id.as_deref().and_then(|text| WaitpointId::parse(text).ok()),
        row.source_identity.clone(),
        SignalDeliveryEffect::Satisfied,
        TimestampMs::from_millis(row.delivered_at_ms),
    ))
}

/// The execution of a row that keeps the uuid as text.
fn of_text(partition: OutboxPartition, uuid: &str) -> Result<(ExecKey, ExecutionId), String> {
    let uuid = ExecutionUuid::parse(uuid).map_err(|error| format!("execution_id: '{uuid}': {error}"))?;
    let partition_key = partition.number().map_err(|error| error.to_string())?;
    let id = execution_id(partition_key, uuid).map_err(|error| error.to_string())?;
    Ok((ExecKey { partition_key, execution_id: uuid }, id))
}
