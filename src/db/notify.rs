//! Carries wake-ups to other processes through NOTIFY, after the commit.
//!
//! Inside a transaction a message would take one lock for the whole database at its commit. Here a task
//! gathers what was committed and sends it in one statement: the first wake-up at once, those that
//! follow a few milliseconds later together. Equal messages are sent once. If the server cannot be
//! reached, messages are dropped; who listens reads the tables again when its own connection returns.

use std::collections::HashSet;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::listen::{WORK_CHANNEL, channel_name, outbox_channel, work_payload};
use super::wake::{Courier, StreamEventId, Wake};
use crate::statements::{pg_only, wakeup::WakeupSendParams};

/// How many messages wait for the task at most; what comes on top is dropped.
const WAITING: usize = 16_384;

/// How many messages go into one statement.
const BATCH: usize = 1_024;

/// The least time between two statements.
const SPACING: Duration = Duration::from_millis(5);

/// A message: channel and payload.
type Message = (String, String);

/// The task that sends. It ends when this is dropped, after sending what waits.
pub(crate) struct Notifier {
    queue: mpsc::Sender<Message>,
    _task: JoinHandle<()>,
}

impl Notifier {
    /// Needs a tokio runtime.
    pub(super) fn spawn(pool: PgPool) -> Self {
        let (queue, waiting) = mpsc::channel(WAITING);
        Self { queue, _task: tokio::spawn(send_all(pool, waiting)) }
    }
}

impl Courier for Notifier {
    fn carry(&self, origin: Uuid, wakes: &[Wake]) {
        for message in wakes.iter().filter_map(|wake| message(origin, wake)) {
            match self.queue.try_send(message) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => {
                    tracing::warn!("wake-ups for other processes are dropped: too many wait to be sent");
                    return;
                }
                // The pool is closed, and the task with it.
                Err(TrySendError::Closed(_)) => return,
            }
        }
    }
}

fn message(origin: Uuid, wake: &Wake) -> Option<Message> {
    match wake {
        Wake::Outbox(outbox, event) => Some((outbox_channel(*outbox)?.to_owned(), event.event_id.to_string())),
        Wake::Frame(key, StreamEventId::Frame { ts_ms, seq }) => {
            let attempt = u32::try_from(key.attempt_index).ok()?;
            Some((channel_name(&key.execution, attempt), format!("{ts_ms}-{seq}")))
        }
        Wake::Queued(lane) => Some((WORK_CHANNEL.to_owned(), work_payload(origin, lane.as_ref()))),
        Wake::Frame(_, StreamEventId::Reconnect) | Wake::Ended(_) => None,
    }
}

async fn send_all(pool: PgPool, mut waiting: mpsc::Receiver<Message>) {
    let mut batch = Vec::new();
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        let mut seen = HashSet::new();
        batch.retain(|message: &Message| seen.insert(message.clone()));
        let (channels, payloads) = batch.drain(..).unzip();
        if let Err(error) = send(&pool, WakeupSendParams { channels, payloads }).await {
            if matches!(error, sqlx::Error::PoolClosed) {
                return;
            }
            tracing::warn!(%error, "wake-ups for other processes were not sent");
        }
        tokio::time::sleep(SPACING).await;
    }
}

async fn send(pool: &PgPool, params: WakeupSendParams) -> Result<(), sqlx::Error> {
    let mut connection = pool.acquire().await?;
    pg_only::wakeup_send(&mut connection, &params).await?;
    Ok(())
}
