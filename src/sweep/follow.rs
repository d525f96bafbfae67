//! Follows completions of this process as they happen: what waits for an execution learns of its end at once.
//!
//! This is a shortcut. Nothing is lost when it is missed or fails: the dependency sweep finds completions that
//! nobody has followed. So it waits a moment only for rows that somebody holds.

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::column::PartitionNumber;
use crate::db::{Dialect, OutboxEvent};
use crate::engine::{Engine, WeakEngine, dependency};
use crate::sweep::FullScannerConfig;

/// How many completions are followed at the same time.
const AT_ONCE: usize = 8;

/// Starts following, if there is a tokio runtime. It ends when the engine is gone.
pub(crate) fn start<D: Dialect>(engine: &Engine<D>) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(follow(engine.downgrade(), engine.db().around().channels.ended()));
    }
}

/// Whoever is slow, because somebody holds a row, keeps no other completion waiting as long as there is room for it. The
/// engine is held only while something is under way.
async fn follow<D: Dialect>(engine: WeakEngine<D>, mut ended: Receiver<OutboxEvent>) {
    let mut under_way: FuturesUnordered<BoxFuture<'static, ()>> = FuturesUnordered::new();
    loop {
        let told = tokio::select! {
            Some(()) = under_way.next(), if !under_way.is_empty() => continue,
            told = ended.recv(), if under_way.len() < AT_ONCE => told,
        };
        let Some(engine) = engine.upgrade() else { return };
        let engine = engine.impatient();
        match told {
            Ok(event) => under_way.push(follow_one(engine, event).boxed()),
            Err(RecvError::Lagged(_)) => under_way.push(follow_lost(engine).boxed()),
            Err(RecvError::Closed) => return under_way.collect().await,
        }
    }
}

async fn follow_one<D: Dialect>(engine: Engine<D>, event: OutboxEvent) {
    let Ok(partition_key) = i16::try_from(event.partition_key).map(PartitionNumber::from) else { return };
    if let Err(error) = dependency::follow_member(&engine, partition_key, event.event_id).await {
        tracing::warn!(%error, event_id = event.event_id, "a completion was not followed at once");
    }
}

/// Follows what nobody followed, because more was told than is kept.
async fn follow_lost<D: Dialect>(engine: Engine<D>) {
    if let Err(error) = dependency::follow_forgotten(&engine, &FullScannerConfig::off().round(), i64::MAX).await {
        tracing::warn!(%error, "missed completions were not followed at once");
    }
}
