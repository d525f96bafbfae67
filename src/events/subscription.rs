//! The loop of a subscription: read, hand over, wait.
//!
//! Each subscription has a task of its own, which reads pages and puts events into a queue; when the queue
//! is full it waits for the consumer. It reads when it is woken and, because a wake-up is only a hint, every
//! two seconds anyway. It rests after each read, so that the reads take a fifth of the time at most.
//!
//! An id that is missing may be drawn by a transaction that has not ended, so nothing behind it is handed over before
//! that is known: an event would be lost otherwise. A writer of ours that stops inside a transaction loses it after a
//! while. For how long a transaction of another program holds subscriptions up is that program's affair, or the
//! database's (`idle_in_transaction_session_timeout`); the log names it after ten seconds.
//!
//! The task ends when the stream is dropped. When the backend is gone it hands over what was committed
//! before, and then the stream ends.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use ff_core::backend::{CompletionPayload, ScannerFilter};
use ff_core::engine_error::EngineError;
use ff_core::stream_subscribe::StreamCursor;
use futures_core::Stream;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::{Instant, sleep};

use super::family::{Entry, Family, Payload, Source};
use super::horizon::{self, Horizon};
use super::{cursor, filter};
use crate::db::{Db, Dialect, Interest, OutboxEvent};
use crate::model::id::invalid_input;

/// How many rows are read at once.
const PAGE: i64 = 256;

/// How many events wait for the consumer at most.
const QUEUE: usize = 1_024;

/// How many of the newest events are looked at for gaps when a subscription begins with what commits next, and
/// how many when a transaction stays open that may have drawn its id before all of these.
const LOOK_BACK: i64 = 1_024;
const FAR_LOOK_BACK: i64 = 65_536;

/// How long such a transaction is waited for before the subscription looks that far back instead.
const OPEN_PATIENCE: Duration = Duration::from_secs(2);

/// The longest time between two reads.
const POLL: Duration = Duration::from_secs(2);

/// The wait after a read that failed.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// How many times as long as it read a subscription rests, and for how long at most.
const REST: u32 = 4;
const LONGEST_REST: Duration = Duration::from_millis(250);

/// How long a gap is looked at before the database is asked for the first time, and the longest time between
/// two questions. Most gaps are transactions that commit within this time and say so.
const FIRST_GAP_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_GAP_PAUSE: Duration = Duration::from_millis(250);

/// How long a gap holds a subscription up before the log names whom it waits for.
const GAP_IS_LONG: Duration = Duration::from_secs(10);

/// A stream of events. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription<T> {
    queue: mpsc::Receiver<T>,
}

impl<T> Stream for Subscription<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.queue.poll_recv(context)
    }
}

/// Lives as long as its backend; subscriptions hear of its end.
#[derive(Debug)]
pub(crate) struct Lifetime {
    ended: watch::Sender<()>,
}

impl Default for Lifetime {
    fn default() -> Self {
        Self { ended: watch::channel(()).0 }
    }
}

/// Follows an outbox from a cursor. Needs a tokio runtime.
///
/// # Errors
/// * `Validation(InvalidInput)` when the bytes are no cursor of this backend.
/// * `Unavailable` when the end of the outbox could not be found; the log says why.
pub(super) async fn subscribe<D: Dialect, F: Family>(
    db: &Db<D>,
    lifetime: &Lifetime,
    cursor: &StreamCursor,
    filter: &ScannerFilter,
) -> Result<Subscription<Result<F::Event, EngineError>>, EngineError> {
    let after = cursor::after(cursor).map_err(|_| invalid_input(F::words::<D>().foreign_cursor))?;
    follow::<D, F, _>(db, lifetime, after, filter, Some).await
}

/// Follows the completions that commit from now on.
///
/// # Errors
/// As [`subscribe`].
pub(crate) async fn completions<D: Dialect>(
    db: &Db<D>,
    lifetime: &Lifetime,
    filter: &ScannerFilter,
) -> Result<Subscription<CompletionPayload>, EngineError> {
    follow::<D, Payload, _>(db, lifetime, None, filter, Result::ok).await
}

async fn follow<D: Dialect, F: Family, T: Send + 'static>(
    db: &Db<D>,
    lifetime: &Lifetime,
    after: Option<i64>,
    filter: &ScannerFilter,
    item: fn(Result<F::Event, EngineError>) -> Option<T>,
) -> Result<Subscription<T>, EngineError> {
    // Heard from before the place is looked up, so that nothing falls between the two.
    let wakes = db.outbox(F::OUTBOX);
    let link = db.link();
    let losses = *link.borrow();
    let source = Source { db: db.clone() };
    let (horizon, unwanted) = match after {
        Some(event_id) => (Horizon::after(event_id), HashSet::new()),
        None => from_now_on::<D, F>(&source).await.map_err(|error| {
            tracing::warn!(%error, outbox = ?F::OUTBOX, "the end of the outbox could not be found");
            EngineError::Unavailable { op: F::words::<D>().unavailable }
        })?,
    };
    let (queue, events) = mpsc::channel(QUEUE);
    let follower = Follower::<D, F, T> {
        source,
        filter: filter.clone(),
        horizon,
        unwanted,
        gap: None,
        ending: false,
        reading: Duration::ZERO,
        wakes,
        losses,
        link,
        listening: None,
        backend: lifetime.ended.subscribe(),
        queue,
        item,
        family: PhantomData,
    };
    tokio::spawn(follower.run());
    Ok(Subscription { queue: events })
}

/// Where a subscription begins that wants what commits from now on.
///
/// While nobody writes, that is after the newest event. A transaction under way may have drawn an id below it.
/// Where the newest events are all that there are, that id is among the gaps. In a longer outbox those
/// transactions are given time to end, because whoever begins later draws a greater id than the newest was; and
/// when one does not end, its event is looked for among many more.
async fn from_now_on<D: Dialect, F: Family>(source: &Source<D>) -> Result<(Horizon, HashSet<i64>), EngineError> {
    let newest = F::newest(source, 1).await?.first().copied().unwrap_or_default(); // tidy: an empty outbox has no newest
    let mut awaited: HashSet<String> = source.db.writers(F::OUTBOX).await?.into_iter().collect();
    if awaited.is_empty() {
        return Ok((Horizon::after(newest), HashSet::new()));
    }
    let (ids, is_all) = look_back::<D, F>(source, LOOK_BACK).await?;
    if is_all {
        let (place, unwanted) = horizon::from_now_on(&ids, is_all);
        return Ok((Horizon::after(place), unwanted));
    }
    let until = Instant::now() + OPEN_PATIENCE;
    while Instant::now() < until {
        sleep(FIRST_GAP_PAUSE).await;
        awaited = horizon::still(&awaited, source.db.writers(F::OUTBOX).await?);
        if awaited.is_empty() {
            return Ok((Horizon::after(newest), HashSet::new()));
        }
    }
    let (ids, is_all) = look_back::<D, F>(source, FAR_LOOK_BACK).await?;
    if !is_all {
        tracing::warn!(
            outbox = ?F::OUTBOX,
            looked_at = FAR_LOOK_BACK,
            "a transaction stays open; if its event is older than those looked at, a new subscription misses it"
        );
    }
    let (place, unwanted) = horizon::from_now_on(&ids, is_all);
    Ok((Horizon::after(place), unwanted))
}

/// The newest events, newest first, and whether there are no others.
async fn look_back<D: Dialect, F: Family>(source: &Source<D>, count: i64) -> Result<(Vec<i64>, bool), EngineError> {
    let ids = F::newest(source, count).await?;
    let is_all = i64::try_from(ids.len()).is_ok_and(|found| found < count);
    Ok((ids, is_all))
}

/// What a read came to.
enum Reached {
    /// There is nothing more.
    End,
    /// Ids are missing that may still come.
    Gap,
}

/// What a wait came to.
enum Woken {
    /// It is time to read.
    Read,
    /// The backend is gone.
    Ended,
}

/// Missing ids that hold a subscription up.
struct Gap {
    /// The last id before them.
    after: i64,
    /// When to ask for the transactions that may write them, and how long to wait then.
    ask_at: Instant,
    pause: Duration,
    since: Instant,
    is_told: bool,
}

/// The task of one subscription.
struct Follower<D: Dialect, F: Family, T> {
    source: Source<D>,
    filter: ScannerFilter,
    horizon: Horizon,
    /// Events that were there when the subscription began and lie behind a gap.
    unwanted: HashSet<i64>,
    gap: Option<Gap>,
    /// Whether the backend is gone and this is the last round.
    ending: bool,
    /// How long the last round of reads took.
    reading: Duration,
    wakes: broadcast::Receiver<OutboxEvent>,
    link: watch::Receiver<u64>,
    losses: u64,
    /// What keeps messages of other processes coming, once they do.
    listening: Option<Option<Interest>>,
    backend: watch::Receiver<()>,
    queue: mpsc::Sender<T>,
    item: fn(Result<F::Event, EngineError>) -> Option<T>,
    family: PhantomData<fn() -> F>,
}

impl<D: Dialect, F: Family, T: Send + 'static> Follower<D, F, T> {
    async fn run(mut self) {
        let queue = self.queue.clone();
        tokio::select! {
            () = queue.closed() => {}
            () = self.follow() => {}
        }
    }

    async fn follow(&mut self) {
        loop {
            self.listen().await;
            let pause = match self.read().await {
                Ok(Reached::End) => POLL,
                Ok(Reached::Gap) => {
                    self.gap.as_ref().map_or(POLL, |gap| gap.ask_at.saturating_duration_since(Instant::now()))
                }
                Err(error) => {
                    tracing::warn!(%error, outbox = ?F::OUTBOX, "a subscription could not read");
                    sleep(RETRY_PAUSE).await;
                    Duration::ZERO
                }
            };
            if self.ending {
                return;
            }
            sleep(LONGEST_REST.min(self.reading * REST)).await;
            match self.wait(pause).await {
                Woken::Read => {}
                Woken::Ended => self.ending = true,
            }
        }
    }

    /// Sees to it that other processes are heard. Without them the subscription is slow and not wrong.
    async fn listen(&mut self) {
        if self.listening.is_some() {
            return;
        }
        match self.source.db.watch_outbox(F::OUTBOX).await {
            Ok(interest) => self.listening = Some(interest),
            Err(error) => tracing::warn!(%error, outbox = ?F::OUTBOX, "other processes cannot be heard"),
        }
    }

    /// Reads and hands over what there is.
    async fn read(&mut self) -> Result<Reached, EngineError> {
        self.reading = Duration::ZERO;
        loop {
            let began = Instant::now();
            let mut page = F::page(&self.source, self.horizon.passed(), PAGE).await?;
            self.reading += began.elapsed();
            let seen = page.last().map(|entry| entry.event_id);
            let is_full = i64::try_from(page.len()) == Ok(PAGE);
            let free = self.horizon.pass(page.iter().map(|entry| entry.event_id));
            let held_back = seen.filter(|_| free < page.len());
            page.truncate(free);
            for entry in page {
                self.hand_over(entry).await?;
            }
            match held_back {
                Some(seen) => {
                    if !self.settles(seen, is_full).await? {
                        return Ok(Reached::Gap);
                    }
                }
                None => {
                    self.gap = None;
                    if !is_full {
                        return Ok(Reached::End);
                    }
                }
            }
        }
    }

    /// Whether the gap that holds the subscription up is over, so that reading again leads on. The database is
    /// asked when the gap has been there for a while, or at once when there is much to catch up with.
    async fn settles(&mut self, seen: i64, catching_up: bool) -> Result<bool, EngineError> {
        let (after, now) = (self.horizon.passed(), Instant::now());
        let known = self.gap.take().filter(|gap| gap.after == after);
        let is_new = known.is_none();
        let (ask_at, pause) = (now + FIRST_GAP_PAUSE, FIRST_GAP_PAUSE);
        let new = || Gap { after, ask_at, pause, since: now, is_told: false };
        let mut gap = known.unwrap_or_else(new);
        if gap.ask_at <= now || (is_new && catching_up) || self.ending {
            let under_way = self.source.db.writers(F::OUTBOX).await?;
            if self.horizon.learn(seen, under_way) {
                return Ok(true);
            }
            if !gap.is_told && gap.since.elapsed() > GAP_IS_LONG {
                gap.is_told = true;
                let holders = self.source.db.holders(F::OUTBOX).await?;
                tracing::warn!(after, ?holders, outbox = ?F::OUTBOX, "a subscription waits for transactions to end");
            }
            gap.ask_at = Instant::now() + gap.pause;
            gap.pause = LONGEST_GAP_PAUSE.min(gap.pause * 2);
        }
        self.gap = Some(gap);
        Ok(false)
    }

    async fn hand_over(&mut self, entry: Entry<F::Event>) -> Result<(), EngineError> {
        if self.unwanted.remove(&entry.event_id) || !self.wants(&entry).await? {
            return Ok(());
        }
        match entry.event {
            Ok(event) => self.send(Ok(event)).await,
            Err(why) => {
                tracing::warn!(event_id = entry.event_id, outbox = ?F::OUTBOX, why, "an event cannot be read");
            }
        }
        Ok(())
    }

    /// Whether the consumer wants an event, asked until there is an answer or nobody to give it: the event is
    /// passed already, and would be lost by giving up.
    async fn wants(&self, entry: &Entry<F::Event>) -> Result<bool, EngineError> {
        loop {
            match filter::wants(&self.source, &self.filter, entry).await {
                Err(error) if self.backend.has_changed().is_ok() => {
                    tracing::warn!(%error, outbox = ?F::OUTBOX, "a tag could not be looked up");
                    sleep(RETRY_PAUSE).await;
                }
                answer => return answer,
            }
        }
    }

    /// Puts an item into the queue. A queue that nobody reads ends the task elsewhere.
    async fn send(&self, event: Result<F::Event, EngineError>) {
        if let Some(item) = (self.item)(event) {
            let _ = self.queue.send(item).await;
        }
    }

    /// Waits for a reason to read.
    async fn wait(&mut self, pause: Duration) -> Woken {
        tokio::select! {
            () = sleep(pause) => Woken::Read,
            () = news(&mut self.wakes, self.horizon.passed()) => Woken::Read,
            Ok(()) = self.link.changed() => {
                let losses = *self.link.borrow_and_update();
                if losses != self.losses && F::TELLS_LOSSES {
                    let cursor = cursor::at(self.horizon.passed());
                    self.send(Err(EngineError::StreamDisconnected { cursor })).await;
                }
                self.losses = losses;
                Woken::Read
            }
            _ = self.backend.changed() => Woken::Ended,
        }
    }
}

/// Waits until something is told that was not passed already, or was told too fast to be heard.
async fn news(wakes: &mut broadcast::Receiver<OutboxEvent>, passed: i64) {
    loop {
        match wakes.recv().await {
            Ok(told) if told.event_id <= passed => {}
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => break,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
    // One read sees them all.
    while !matches!(
        wakes.try_recv(),
        Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed)
    ) {}
}
