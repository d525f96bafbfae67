//! Hears from other processes through LISTEN.
//!
//! One task per backend owns one connection beside the pool, which it opens when somebody first wants to hear anything: taken
//! from the pool, it would be missing there, and a pool of one would have none left.
//! A subscription is answered only when the server has acknowledged it, for every subscriber. When the
//! last subscriber of a stream is gone the task unlistens. When the connection is lost the task comes
//! back, 100 ms later at first and 1 s later at most, listens to everything again, and tells every
//! waiter that it may have missed something.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgNotification};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use uuid::Uuid;

use super::session::beside;
pub use super::wake::StreamEventId;
use super::wake::{Channels, Outbox, OutboxEvent, StreamKey, Wake};
use crate::column::LaneName;

/// The channel of completion events.
pub const COMPLETION_CHANNEL: &str = "ff_completion";

/// The channel of work that may be claimed.
pub(super) const WORK_CHANNEL: &str = "ff_sql_work";

/// The longest name of a lane that goes into a message; work on others is told as work on some lane.
const LANE_BYTES: usize = 1_024;

/// What is said of work: whose message it is, and on which lane, or nothing for some lane.
pub(super) fn work_payload(origin: Uuid, lane: Option<&LaneName>) -> String {
    let lane = lane.map(LaneName::text).filter(|lane| lane.len() <= LANE_BYTES);
    format!("{origin} {}", lane.unwrap_or_default()) // tidy: no lane has no name
}

/// The lane of work that another backend tells of; nothing for this one's own words.
fn work(origin: Uuid, payload: &str) -> Option<Wake> {
    let (sender, lane) = payload.split_once(' ').unwrap_or_default(); // tidy: a message, not data; it asks for a look
    let lane = Some(lane).filter(|lane| !lane.is_empty()).map(|lane| LaneName::from(lane.to_owned()));
    (sender.parse() != Ok(origin)).then_some(Wake::Queued(lane))
}

/// The partition of a row that another process wrote.
const ELSEWHERE: i64 = -1;

const STREAM_PREFIX: &str = "ff_stream_";
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The channel of one attempt's stream.
#[must_use]
pub fn channel_name(execution: &Uuid, attempt_index: u32) -> String {
    format!("{STREAM_PREFIX}{execution}_{attempt_index}")
}

/// The channel of an outbox; frames have a channel per stream instead.
pub(super) fn outbox_channel(outbox: Outbox) -> Option<&'static str> {
    match outbox {
        Outbox::LeaseHistory => Some("ff_lease_event"),
        Outbox::Completion => Some(COMPLETION_CHANNEL),
        Outbox::Operator => Some("ff_operator_event"),
        Outbox::SignalDelivery => Some("ff_signal_event"),
        Outbox::StreamFrame => None,
    }
}

/// The outbox of a channel.
fn outbox_of(channel: &str) -> Option<Outbox> {
    [Outbox::LeaseHistory, Outbox::Completion, Outbox::Operator, Outbox::SignalDelivery]
        .into_iter()
        .find(|outbox| outbox_channel(*outbox) == Some(channel))
}

/// What a message says, if it is about an outbox, a stream, or work that is not this backend's own.
fn wake(origin: Uuid, channel: &str, payload: &str) -> Option<Wake> {
    if channel == WORK_CHANNEL {
        return work(origin, payload);
    }
    if let Some(outbox) = outbox_of(channel) {
        let event_id = payload.parse().unwrap_or(i64::MAX); // tidy: a message, not data; it asks for a fresh look
        return Some(Wake::Outbox(outbox, OutboxEvent { event_id, partition_key: ELSEWHERE }));
    }
    let (execution, attempt) = channel.strip_prefix(STREAM_PREFIX)?.rsplit_once('_')?;
    let key = StreamKey { execution: execution.parse().ok()?, attempt_index: attempt.parse().ok()? };
    Some(Wake::Frame(key, frame(payload)))
}

fn frame(payload: &str) -> StreamEventId {
    let parts = payload.split_once('-').and_then(|(ts_ms, seq)| Some((ts_ms.parse().ok()?, seq.parse().ok()?)));
    match parts {
        Some((ts_ms, seq)) => StreamEventId::Frame { ts_ms, seq },
        None => StreamEventId::Reconnect,
    }
}

enum Command {
    Listen { channel: String, done: oneshot::Sender<Result<(), sqlx::Error>> },
    Unlisten { channel: String },
}

/// The task's address.
pub(super) struct Listener {
    commands: mpsc::UnboundedSender<Command>,
    active: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Listener {
    /// Needs a tokio runtime. The task ends when this is dropped.
    pub(super) fn spawn(pool: PgPool, channels: Channels) -> Self {
        let own = beside(&pool);
        let (commands, orders) = mpsc::unbounded_channel();
        let active = Arc::new(AtomicUsize::new(0));
        let ears = Ears { pool, own, channels, orders, listening: HashMap::new(), active: Arc::clone(&active) };
        Self { commands, active, task: tokio::spawn(ears.run()) }
    }

    /// Listens to a stream until the answer is dropped.
    pub(super) async fn stream(&self, key: StreamKey) -> Result<Listening, sqlx::Error> {
        // An index that is no attempt's has no channel, and nobody will ever append there.
        let attempt = u32::try_from(key.attempt_index).map_err(|error| sqlx::Error::Protocol(error.to_string()))?;
        self.listen(channel_name(&key.execution, attempt)).await
    }

    /// Listens for work until the answer is dropped.
    pub(super) async fn work(&self) -> Result<Listening, sqlx::Error> {
        self.listen(WORK_CHANNEL.to_owned()).await
    }

    /// Listens to an outbox until the answer is dropped; nothing when it has no channel.
    pub(super) async fn outbox(&self, outbox: Outbox) -> Result<Option<Listening>, sqlx::Error> {
        match outbox_channel(outbox) {
            Some(channel) => self.listen(channel.to_owned()).await.map(Some),
            None => Ok(None),
        }
    }

    /// Adds a subscriber and waits for the server.
    async fn listen(&self, channel: String) -> Result<Listening, sqlx::Error> {
        // Made before the wait, so that a caller that stops waiting is taken off again.
        let listening = Listening { channel: channel.clone(), commands: self.commands.clone() };
        let (done, acknowledged) = oneshot::channel();
        if self.commands.send(Command::Listen { channel, done }).is_err() {
            return Err(sqlx::Error::WorkerCrashed);
        }
        match acknowledged.await {
            Ok(ended) => ended.map(|()| listening),
            Err(_) => Err(sqlx::Error::WorkerCrashed),
        }
    }

    fn active_channel_count(&self) -> usize {
        self.active.load(Ordering::Acquire)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One subscriber of a channel; dropping it takes the subscriber off.
pub(super) struct Listening {
    channel: String,
    commands: mpsc::UnboundedSender<Command>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Unlisten { channel: std::mem::take(&mut self.channel) });
    }
}

/// The task.
struct Ears {
    /// Whose end is the task's.
    pool: PgPool,
    /// Of the one connection.
    own: PgPool,
    channels: Channels,
    orders: mpsc::UnboundedReceiver<Command>,
    /// How many subscribers each channel has.
    listening: HashMap<String, usize>,
    active: Arc<AtomicUsize>,
}

/// What the task heard.
enum Heard {
    Command(Command),
    Message(PgNotification),
    Lost,
    Nobody,
}

impl Ears {
    async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut was_connected = false;
        while let Some(first) = self.first_order().await {
            match self.connect().await {
                Ok(mut listener) => {
                    pause = FIRST_PAUSE;
                    if was_connected {
                        self.channels.reconnected();
                    }
                    was_connected = true;
                    if let Some(order) = first {
                        self.obey(&mut listener, order).await;
                    }
                    if self.hear(&mut listener).await.is_break() {
                        return;
                    }
                    tracing::warn!("the connection that hears wake-ups was lost");
                    self.channels.disconnected();
                }
                Err(error) => {
                    tracing::warn!(%error, "wake-ups of other processes cannot be heard");
                    if let Some(order) = first {
                        self.refuse(order, error);
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Waits until there is something to listen to: at once after a loss, else the first order.
    async fn first_order(&mut self) -> Option<Option<Command>> {
        if !self.listening.is_empty() {
            return Some(None);
        }
        self.orders.recv().await.map(Some)
    }

    async fn connect(&self) -> Result<PgListener, sqlx::Error> {
        if self.pool.is_closed() {
            return Err(sqlx::Error::PoolClosed);
        }
        let mut listener = PgListener::connect_with(&self.own).await?;
        listener.eager_reconnect(false);
        if !self.listening.is_empty() {
            listener.listen_all(self.listening.keys().map(String::as_str)).await?;
        }
        Ok(listener)
    }

    /// Obeys and passes messages on until the connection is lost, or nobody is left to ask.
    async fn hear(&mut self, listener: &mut PgListener) -> std::ops::ControlFlow<()> {
        loop {
            let heard = tokio::select! {
                order = self.orders.recv() => order.map_or(Heard::Nobody, Heard::Command),
                () = self.pool.close_event() => Heard::Nobody,
                message = listener.try_recv() => match message {
                    Ok(Some(message)) => Heard::Message(message),
                    Ok(None) | Err(_) => Heard::Lost,
                },
            };
            match heard {
                Heard::Command(order) => self.obey(listener, order).await,
                Heard::Message(message) => {
                    if let Some(wake) = wake(self.channels.origin(), message.channel(), message.payload()) {
                        self.channels.send(&wake);
                    }
                }
                Heard::Lost => return std::ops::ControlFlow::Continue(()),
                Heard::Nobody => return std::ops::ControlFlow::Break(()),
            }
        }
    }

    async fn obey(&mut self, listener: &mut PgListener, order: Command) {
        match order {
            Command::Listen { channel, done } => {
                let known = self.listening.contains_key(&channel);
                let ended = if known { Ok(()) } else { listener.listen(&channel).await };
                // A subscriber that was refused, or that no longer waits, takes itself off when it is dropped.
                *self.listening.entry(channel).or_default() += 1;
                let _ = done.send(ended);
            }
            Command::Unlisten { channel } => {
                if self.take_off(&channel)
                    && let Err(error) = listener.unlisten(&channel).await
                {
                    tracing::debug!(%error, "a channel could not be left");
                }
            }
        }
        self.active.store(self.listening.len(), Ordering::Release);
    }

    fn refuse(&mut self, order: Command, error: sqlx::Error) {
        match order {
            Command::Listen { channel, done } => {
                *self.listening.entry(channel).or_default() += 1;
                let _ = done.send(Err(error));
            }
            Command::Unlisten { channel } => {
                self.take_off(&channel);
            }
        }
        self.active.store(self.listening.len(), Ordering::Release);
    }

    /// Takes one subscriber off; true when it was the last.
    fn take_off(&mut self, channel: &str) -> bool {
        let Some(subscribers) = self.listening.get_mut(channel) else { return false };
        *subscribers -= 1;
        if *subscribers > 0 {
            return false;
        }
        self.listening.remove(channel);
        true
    }
}

/// Hears of frames that any process appends, by the name of a stream's channel.
///
/// The backend has one of its own; this is for callers that have a pool only.
pub struct StreamNotifier {
    listener: Option<Listener>,
    channels: Channels,
    /// One task per subscription, which ends it when the stream has no receivers any more.
    subscriptions: Mutex<JoinSet<()>>,
}

impl StreamNotifier {
    /// Starts to listen, through one connection that is set up as those of the pool are. Needs a tokio runtime.
    #[must_use]
    pub fn spawn(pool: PgPool) -> Arc<Self> {
        let channels = Channels::new();
        let listener = Some(Listener::spawn(pool, channels.clone()));
        Arc::new(Self { listener, channels, subscriptions: Mutex::default() })
    }

    /// One that never hears anything.
    #[must_use]
    pub fn placeholder() -> Arc<Self> {
        Arc::new(Self { listener: None, channels: Channels::new(), subscriptions: Mutex::default() })
    }

    /// The number of channels that it listens to.
    #[must_use]
    pub fn active_channel_count(&self) -> usize {
        self.listener.as_ref().map_or(0, Listener::active_channel_count)
    }

    /// Hears of a stream's frames; `channel` is made by [`channel_name`]. When this returns, the server has
    /// acknowledged the subscription. A name that is no stream's, or a server that cannot be reached, gives
    /// a receiver that hears nothing but reconnections. The subscription ends with its last receiver.
    pub async fn subscribe(&self, channel: &str) -> broadcast::Receiver<StreamEventId> {
        let Some(Wake::Frame(key, _)) = wake(self.channels.origin(), channel, "") else {
            return broadcast::channel(1).1;
        };
        let (sender, events) = self.channels.stream(key);
        if let Some(listener) = &self.listener {
            match listener.listen(channel.to_owned()).await {
                Ok(listening) => self.end_with(sender, listening),
                Err(error) => tracing::warn!(%error, channel, "the channel cannot be listened to"),
            }
        }
        events
    }

    fn end_with(&self, sender: broadcast::Sender<StreamEventId>, listening: Listening) {
        let mut subscriptions = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner); // tidy: a set
        while subscriptions.try_join_next().is_some() {}
        subscriptions.spawn(async move {
            sender.closed().await;
            drop(listening);
        });
    }
}

impl std::fmt::Debug for StreamNotifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamNotifier").field("active_channels", &self.active_channel_count()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_channel_is_read_back_from_its_name() {
        let execution = Uuid::from_u128(7);
        let heard = wake(Uuid::nil(), &channel_name(&execution, 3), "12-4");
        let Some(Wake::Frame(key, event)) = heard else { panic!("a frame, not {heard:?}") };
        assert_eq!((key.execution, key.attempt_index), (execution, 3));
        assert_eq!(event, StreamEventId::Frame { ts_ms: 12, seq: 4 });
    }

    #[test]
    fn a_payload_that_cannot_be_read_asks_for_a_fresh_look() {
        for payload in ["", "12", "x-1", "12-", "9999999999999999999-1"] {
            assert_eq!(frame(payload), StreamEventId::Reconnect, "{payload}");
        }
    }

    #[test]
    fn foreign_channels_say_nothing() {
        assert!(wake(Uuid::nil(), "other", "1").is_none());
        assert!(wake(Uuid::nil(), "ff_stream_x_1", "1-1").is_none());
    }

    #[test]
    fn work_of_others_is_heard_by_its_lane_and_ones_own_is_not() {
        let (own, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let heard = |payload: &str| match wake(own, WORK_CHANNEL, payload) {
            Some(Wake::Queued(lane)) => Some(lane.map(|lane| lane.text().to_owned())),
            _ => None,
        };
        let lane = LaneName::from("a lane".to_owned());
        assert_eq!(heard(&work_payload(other, Some(&lane))), Some(Some("a lane".to_owned())));
        let long = LaneName::from("x".repeat(9_000));
        assert_eq!(
            [heard(&work_payload(other, None)), heard(&work_payload(other, Some(&long))), heard("?")],
            [Some(None), Some(None), Some(None)]
        );
        assert_eq!(heard(&work_payload(own, Some(&lane))), None);
    }

    #[test]
    fn every_channel_of_an_outbox_is_read_back() {
        for outbox in [Outbox::LeaseHistory, Outbox::Completion, Outbox::Operator, Outbox::SignalDelivery] {
            let channel = outbox_channel(outbox).unwrap();
            let heard = wake(Uuid::nil(), channel, "42");
            let Some(Wake::Outbox(found, event)) = heard else { panic!("an outbox, not {heard:?}") };
            assert_eq!((found, event.event_id), (outbox, 42));
            let Some(Wake::Outbox(_, event)) = wake(Uuid::nil(), channel, "?") else { panic!("an outbox") };
            assert_eq!(event.event_id, i64::MAX);
        }
    }
}
