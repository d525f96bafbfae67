//! Wake-ups: who waits for what, and what is told after a commit.
//!
//! An operation lists what happened ([`Wakes`]); the door sends the list once the commit is durable,
//! in order. Waiters in this process are woken directly. A dialect that reaches other processes passes
//! the list on through its [`Courier`], and feeds what others send back in through [`Channels`].
//!
//! A wake-up is a hint and never the only carrier of an event: the event is a row. Whoever lags or
//! suspects a loss reads the table again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OnceCell, broadcast, watch};
use uuid::Uuid;

use super::waiters::Waiters;
use crate::column::{FlowUuid, LaneName, PartitionNumber};

/// How many wake-ups an outbox channel holds for a slow receiver.
const OUTBOX_CAPACITY: usize = 256;

/// How many wake-ups a stream holds for a slow tail.
const STREAM_CAPACITY: usize = 64;

/// A row was added to an outbox.
#[derive(Debug, Clone)]
pub struct OutboxEvent {
    /// The row's event id.
    pub event_id: i64,
    /// The row's partition; -1 when another process wrote it, which does not say.
    pub partition_key: i64,
}

/// The outboxes that can be subscribed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outbox {
    /// Lease events.
    LeaseHistory,
    /// Completion events.
    Completion,
    /// Frames of any stream.
    StreamFrame,
    /// What operators did.
    Operator,
    /// Deliveries of signals.
    SignalDelivery,
}

impl Outbox {
    /// The table.
    #[cfg(feature = "postgres")]
    pub(super) fn table(self) -> &'static str {
        match self {
            Self::LeaseHistory => "ff_lease_event",
            Self::Completion => "ff_completion_event",
            Self::StreamFrame => "ff_stream_frame",
            Self::Operator => "ff_operator_event",
            Self::SignalDelivery => "ff_signal_event",
        }
    }
}

/// One attempt's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamKey {
    /// The execution's uuid.
    pub execution: Uuid,
    /// The attempt whose stream it is.
    pub attempt_index: i32,
}

/// What a tail is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "postgres"), expect(unreachable_pub, reason = "shown by the listener on Postgres"))]
pub enum StreamEventId {
    /// A frame was appended.
    Frame {
        /// Milliseconds part of the frame's id.
        ts_ms: i64,
        /// Sequence part of the frame's id.
        seq: i32,
    },
    /// Frames may have been missed, or the message could not be read: read the stream again.
    #[cfg(feature = "postgres")]
    Reconnect,
}

/// One thing that happened, told after the commit.
#[derive(Debug, Clone)]
pub(crate) enum Wake {
    /// A row in an outbox.
    Outbox(Outbox, OutboxEvent),
    /// A frame of a stream.
    Frame(StreamKey, StreamEventId),
    /// A completion that other executions may wait for; whoever wrote it follows it.
    Ended(OutboxEvent),
    /// Something may be claimed on that lane, or on some lane.
    Queued(Option<LaneName>),
}

/// What an operation wants told once its commit is durable.
#[derive(Debug, Default)]
pub struct Wakes {
    list: Vec<Wake>,
}

impl Wakes {
    /// A row was added to `ff_lease_event`.
    pub(crate) fn lease(&mut self, event_id: i64, partition_key: PartitionNumber) {
        self.outbox(Outbox::LeaseHistory, event_id, partition_key);
    }

    /// A row was added to `ff_completion_event`, of an execution that may be a flow's member.
    pub(crate) fn completion(&mut self, event_id: i64, partition_key: PartitionNumber) {
        self.outbox(Outbox::Completion, event_id, partition_key);
        self.list.push(Wake::Ended(OutboxEvent { event_id, partition_key: i64::from(partition_key) }));
    }

    /// The same where the flow is known. Outside a flow nobody waits, and nobody needs to look.
    pub(crate) fn member_completion(
        &mut self,
        event_id: i64,
        partition_key: PartitionNumber,
        flow_id: Option<FlowUuid>,
    ) {
        match flow_id {
            Some(_) => self.completion(event_id, partition_key),
            None => self.outbox(Outbox::Completion, event_id, partition_key),
        }
    }

    /// A row was added to `ff_operator_event`.
    pub(crate) fn operator(&mut self, event_id: i64, partition_key: PartitionNumber) {
        self.outbox(Outbox::Operator, event_id, partition_key);
    }

    /// A row was added to `ff_signal_event`.
    pub(crate) fn signal(&mut self, event_id: i64, partition_key: PartitionNumber) {
        self.outbox(Outbox::SignalDelivery, event_id, partition_key);
    }

    /// A frame was appended; the row's place is its id.
    pub(crate) fn frame(&mut self, key: StreamKey, ts_ms: i64, seq: i32, partition_key: PartitionNumber) {
        self.outbox(Outbox::StreamFrame, ts_ms, partition_key);
        self.list.push(Wake::Frame(key, StreamEventId::Frame { ts_ms, seq }));
    }

    /// An execution may be claimed on a lane.
    pub(crate) fn queued_on(&mut self, lane: LaneName) {
        self.list.push(Wake::Queued(Some(lane)));
    }

    /// An execution may be claimed, and nobody asked on which lane.
    pub(crate) fn queued(&mut self) {
        self.list.push(Wake::Queued(None));
    }

    /// The same, where one may be.
    pub(crate) fn queued_if(&mut self, is_queued: bool) {
        if is_queued {
            self.queued();
        }
    }

    /// A row was added to one of the outboxes.
    pub(crate) fn outbox(&mut self, outbox: Outbox, event_id: i64, partition_key: PartitionNumber) {
        let event = OutboxEvent { event_id, partition_key: i64::from(partition_key) };
        self.list.push(Wake::Outbox(outbox, event));
    }

    /// Takes the list.
    pub(super) fn into_list(self) -> Vec<Wake> {
        self.list
    }
}

/// Carries wake-ups to other processes.
pub(crate) trait Courier: Send + Sync + 'static {
    /// Takes a list over, and whose it is; must not wait.
    fn carry(&self, origin: Uuid, wakes: &[Wake]);
}

/// The channels of one backend; clones are the same channels.
#[derive(Clone)]
pub(crate) struct Channels {
    inner: Arc<Inner>,
}

struct Inner {
    outboxes: [broadcast::Sender<OutboxEvent>; 5],
    ended: broadcast::Sender<OutboxEvent>,
    link: watch::Sender<u64>,
    streams: Mutex<HashMap<StreamKey, broadcast::Sender<StreamEventId>>>,
    waiters: Waiters,
    origin: Uuid,
    /// What keeps the messages about work coming, once somebody has waited for any.
    work_interest: OnceCell<Option<Interest>>,
}

impl Channels {
    pub(crate) fn new() -> Self {
        let outboxes = std::array::from_fn(|_| broadcast::channel(OUTBOX_CAPACITY).0);
        let ended = broadcast::channel(OUTBOX_CAPACITY).0;
        let link = watch::channel(0).0;
        Self {
            inner: Arc::new(Inner {
                outboxes,
                ended,
                link,
                streams: Mutex::default(),
                waiters: Waiters::default(),
                origin: Uuid::new_v4(),
                work_interest: OnceCell::new(),
            }),
        }
    }

    /// Hears of every completion that this backend writes from here on and that others may wait for.
    pub(crate) fn ended(&self) -> broadcast::Receiver<OutboxEvent> {
        self.inner.ended.subscribe()
    }

    /// Whose messages need not come back: who waits here was told when they were sent.
    pub(super) fn origin(&self) -> Uuid {
        self.inner.origin
    }

    /// What keeps the messages about work coming.
    pub(super) fn work_interest(&self) -> &OnceCell<Option<Interest>> {
        &self.inner.work_interest
    }

    /// The claims that wait for work.
    pub(crate) fn waiters(&self) -> &Waiters {
        &self.inner.waiters
    }

    /// Hears of every row that is added to an outbox from here on.
    pub(crate) fn outbox(&self, outbox: Outbox) -> broadcast::Receiver<OutboxEvent> {
        self.inner.outboxes[outbox as usize].subscribe()
    }

    /// Hears of every frame that is appended to a stream from here on. The sender tells when nobody does.
    pub(super) fn stream(
        &self,
        key: StreamKey,
    ) -> (broadcast::Sender<StreamEventId>, broadcast::Receiver<StreamEventId>) {
        let mut streams = self.streams();
        streams.retain(|_, sender| sender.receiver_count() > 0);
        let sender = streams.entry(key).or_insert_with(|| broadcast::channel(STREAM_CAPACITY).0);
        (sender.clone(), sender.subscribe())
    }

    /// Wakes the waiters of this process. Nobody waiting is fine.
    pub(super) fn send(&self, wake: &Wake) {
        match wake {
            Wake::Outbox(outbox, event) => {
                let _ = self.inner.outboxes[*outbox as usize].send(event.clone());
            }
            Wake::Frame(key, event) => {
                if let Some(sender) = self.streams().get(key) {
                    let _ = sender.send(*event);
                }
            }
            Wake::Ended(event) => {
                let _ = self.inner.ended.send(event.clone());
            }
            Wake::Queued(lane) => self.inner.waiters.call(lane.as_ref()),
        }
    }

    /// How often the connection that brings other processes' messages was lost. It changes at a loss, and is told
    /// without a change when the connection is back.
    pub(super) fn link(&self) -> watch::Receiver<u64> {
        self.inner.link.subscribe()
    }

    /// Tells every subscription of this process that messages are not heard any more.
    #[cfg(feature = "postgres")]
    pub(super) fn disconnected(&self) {
        self.inner.link.send_modify(|losses| *losses = losses.saturating_add(1));
    }

    /// Tells every tail, every subscription and the claims that wait that they may have missed something.
    #[cfg(feature = "postgres")]
    pub(super) fn reconnected(&self) {
        self.inner.link.send_modify(|_| {});
        self.inner.waiters.call(None);
        for sender in self.streams().values() {
            let _ = sender.send(StreamEventId::Reconnect);
        }
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<StreamKey, broadcast::Sender<StreamEventId>>> {
        self.inner.streams.lock().unwrap_or_else(PoisonError::into_inner) // tidy: a map has no half-done state
    }
}

impl std::fmt::Debug for Channels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channels").finish_non_exhaustive()
    }
}

/// A subscription at the server; dropping it ends that.
pub(crate) type Interest = Arc<dyn std::any::Any + Send + Sync>;

/// Hears of a stream's new frames; dropping it ends the subscription.
pub(crate) struct Tail {
    pub(super) events: broadcast::Receiver<StreamEventId>,
    /// Keeps the subscription at the server alive, where there is one.
    pub(super) _interest: Option<Interest>,
}

impl Tail {
    /// Waits until the stream may have new frames. Frames appended since the subscription are never
    /// slept through; several may be told at once.
    pub(crate) async fn changed(&mut self) {
        let first = self.events.recv().await;
        if first.is_ok() {
            while self.events.try_recv().is_ok() {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(attempt_index: i32) -> StreamKey {
        StreamKey { execution: Uuid::nil(), attempt_index }
    }

    #[tokio::test]
    async fn a_tail_hears_of_its_own_stream_only() {
        let channels = Channels::new();
        let (_, mut mine) = channels.stream(key(0));
        let mut wakes = Wakes::default();
        wakes.frame(key(1), 5, 0, 3.into());
        wakes.frame(key(0), 6, 1, 3.into());
        for wake in wakes.into_list() {
            channels.send(&wake);
        }
        assert_eq!(mine.try_recv().ok(), Some(StreamEventId::Frame { ts_ms: 6, seq: 1 }));
        assert!(mine.try_recv().is_err());
    }

    #[tokio::test]
    async fn streams_that_nobody_tails_are_forgotten() {
        let channels = Channels::new();
        drop(channels.stream(key(0)));
        let _other = channels.stream(key(1));
        assert_eq!(channels.streams().len(), 1);
    }

    #[tokio::test]
    async fn outbox_wakes_arrive_in_the_order_of_the_list() {
        let channels = Channels::new();
        let mut lease = channels.outbox(Outbox::LeaseHistory);
        let mut wakes = Wakes::default();
        wakes.lease(1, PartitionNumber::ONLY);
        wakes.completion(9, PartitionNumber::ONLY);
        wakes.lease(2, 7.into());
        for wake in wakes.into_list() {
            channels.send(&wake);
        }
        let heard: Vec<_> = std::iter::from_fn(|| lease.try_recv().ok()).collect();
        assert_eq!(heard.iter().map(|e| (e.event_id, e.partition_key)).collect::<Vec<_>>(), [(1, 0), (2, 7)]);
    }
}
