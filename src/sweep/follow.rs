//! Follows completions of this process as they happen: what waits for an execution learns of its end at once.
//!
//! This is a shortcut. Nothing is lost when it is missed or fails: the dependency sweep finds completions that
//! nobody has followed. So it waits a moment only for rows that somebody holds.

use ff_core::backend::ScannerFilter;
use futures_util::{StreamExt as _, stream};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::column::PartitionNumber;
use crate::db::{Dialect, OutboxEvent};
use crate::engine::{Engine, WeakEngine, dependency};

/// How many completions are followed at the same time.
const AT_ONCE: usize = 8;

/// Starts following, if there is a tokio runtime. It ends when the engine is gone.
pub(crate) fn start<D: Dialect>(engine: &Engine<D>) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(follow(engine.downgrade(), engine.db().around().channels.ended()));
    }
}

async fn follow<D: Dialect>(engine: WeakEngine<D>, mut ended: Receiver<OutboxEvent>) {
    loop {
        let mut gathered = Gathered::default();
        match ended.recv().await {
            Ok(event) => gathered.events.push(event),
            Err(RecvError::Lagged(_)) => gathered.are_some_lost = true,
            Err(RecvError::Closed) => return,
        }
        gathered.rest(&mut ended);
        let Some(engine) = engine.upgrade() else { return };
        follow_all(&engine.impatient(), gathered).await;
    }
}

/// Completions that happened since the last look.
#[derive(Default)]
struct Gathered {
    events: Vec<OutboxEvent>,
    are_some_lost: bool,
}

impl Gathered {
    fn rest(&mut self, ended: &mut Receiver<OutboxEvent>) {
        loop {
            match ended.try_recv() {
                Ok(event) => self.events.push(event),
                Err(TryRecvError::Lagged(_)) => self.are_some_lost = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }
}

async fn follow_all<D: Dialect>(engine: &Engine<D>, gathered: Gathered) {
    stream::iter(gathered.events)
        .for_each_concurrent(AT_ONCE, |event| async move {
            let Ok(partition_key) = i16::try_from(event.partition_key).map(PartitionNumber::from) else { return };
            if let Err(error) = dependency::follow_member(engine, partition_key, event.event_id).await {
                tracing::warn!(%error, event_id = event.event_id, "a completion was not followed at once");
            }
        })
        .await;
    if gathered.are_some_lost
        && let Err(error) = dependency::follow_forgotten(engine, &ScannerFilter::NOOP, i64::MAX).await
    {
        tracing::warn!(%error, "missed completions were not followed at once");
    }
}
