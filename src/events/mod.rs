//! Subscriptions to the outboxes: the events that operations wrote, replayed from a place and then followed.
//!
//! | File | What it does |
//! |---|---|
//! | `cursor` | a place in an outbox as callers keep it |
//! | `family` | the outboxes that can be subscribed to, and what their rows say |
//! | `filter` | which events a subscriber wants |
//! | `horizon` | how far an outbox may be passed |
//! | `subscription` | the loop: read, hand over, wait |
//!
//! # No event is missed
//!
//! A cursor is one event id, and everything up to it counts as seen. On Postgres ids are drawn before the
//! commit, so a smaller id may appear after a larger one, and a subscriber that has passed the larger one
//! would never see it. Therefore a row is handed over only when every smaller id is *settled*: it was seen,
//! or its transaction has ended without it.
//!
//! Nearly always the ids that are read follow one another without a gap, and nothing needs to be asked. At a
//! gap the subscription asks which transactions that write to the outbox are under way
//! ([`Db::writers`](crate::db::Db::writers)): whoever drew an id of the gap is among them or has ended. Once
//! the ones of that answer have ended, what still cannot be seen never will be. Writers pay nothing for this,
//! not even a statement, and it holds for programs that know nothing of it.

mod cursor;
mod family;
mod filter;
mod horizon;
mod subscription;

use ff_core::backend::ScannerFilter;
use ff_core::engine_error::EngineError;
use ff_core::stream_events::{CompletionSubscription, LeaseHistorySubscription, SignalDeliverySubscription};
use ff_core::stream_subscribe::StreamCursor;

use crate::db::{Db, Dialect};
pub use subscription::Subscription;
pub(crate) use subscription::{Lifetime, completions};

/// What `subscribe_completions` of the backend on the server database gives.
#[cfg(feature = "postgres")]
pub type PostgresCompletionStream = Subscription<ff_core::backend::CompletionPayload>;

/// Follows the lease events of every partition.
///
/// From the empty cursor it begins with what commits next. After the loss of the connection that brings
/// messages it yields `StreamDisconnected` with the place it has reached, and goes on by itself.
pub(crate) async fn lease_history<D: Dialect>(
    db: &Db<D>,
    lifetime: &Lifetime,
    cursor: &StreamCursor,
    filter: &ScannerFilter,
) -> Result<LeaseHistorySubscription, EngineError> {
    Ok(Box::pin(subscription::subscribe::<D, family::LeaseHistory>(db, lifetime, cursor, filter).await?))
}

/// Follows the completions of every partition, as [`lease_history`] does; losses of a connection are not told.
pub(crate) async fn completion<D: Dialect>(
    db: &Db<D>,
    lifetime: &Lifetime,
    cursor: &StreamCursor,
    filter: &ScannerFilter,
) -> Result<CompletionSubscription, EngineError> {
    Ok(Box::pin(subscription::subscribe::<D, family::Completion>(db, lifetime, cursor, filter).await?))
}

/// Follows the deliveries of signals in every partition, as [`lease_history`] does.
pub(crate) async fn signal_delivery<D: Dialect>(
    db: &Db<D>,
    lifetime: &Lifetime,
    cursor: &StreamCursor,
    filter: &ScannerFilter,
) -> Result<SignalDeliverySubscription, EngineError> {
    Ok(Box::pin(subscription::subscribe::<D, family::SignalDelivery>(db, lifetime, cursor, filter).await?))
}
