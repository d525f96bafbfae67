//! Connections that stay out of the pool between operations.
//!
//! A pool asks the server for a sign of life around every use: two round trips beside the one that
//! does the work. So a connection that just served an operation waits here for the next one, and an
//! operation that waits for a connection gets it straight from hand to hand. Further connections are
//! opened in tasks of their own, because whoever waits is often served by another operation first, and
//! a connection that is given up half opened costs the server as much as one that is used. Nothing
//! stays here for long: a connection that is idle, or was not in the pool for a while, goes back, so that the pool's
//! other users, its limits on age, and its closing all work.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::Connection as _;
use sqlx::PgPool;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, Postgres};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::dialect::Plans;
use super::session::{self, TRUSTED_IDLE};

/// How long a connection waits for the next operation.
const IDLE: Duration = Duration::from_millis(100);

/// How long a connection stays away from the pool however busy it is.
const AWAY: Duration = Duration::from_millis(500);

/// A connection, how it plans, and since when it has been away from the pool. It goes back in a task, and whoever drops
/// it, an operation's future or the backend, may do so where no runtime is; so it brings the one that it came from.
struct Kept {
    connection: Option<PoolConnection<Postgres>>,
    plans: Plans,
    runtime: Handle,
    away_since: Instant,
    idle_since: Instant,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _entered = self.runtime.enter();
            drop(connection);
        }
    }
}

#[derive(Default)]
struct State {
    free: Vec<Kept>,
    waiting: VecDeque<oneshot::Sender<Result<Kept, sqlx::Error>>>,
    /// How many connections are being taken from the pool.
    opening: usize,
    /// When a session was last found to be gone.
    lost_at: Option<Instant>,
}

struct Shared {
    state: Mutex<State>,
    kept: Notify,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // tidy: lists have no half-done state
    }

    /// Hands a connection to whoever waits, or keeps it for the next one.
    fn give(&self, kept: Kept) {
        let mut state = self.state();
        if let Some(Ok(kept)) = state.answer(Ok(kept)) {
            state.free.push(kept);
            if state.free.len() == 1 {
                self.kept.notify_one();
            }
        }
    }
}

/// Takes a connection from the pool in a task of its own, which may end with its runtime at any moment.
struct Opener {
    shared: Arc<Shared>,
    is_counted: bool,
}

impl Opener {
    /// Takes a connection for whoever waits by then. A failure is answered to the one who has waited longest,
    /// except that the pool is exhausted: those who wait keep that time themselves, because they may be served
    /// from hand to hand.
    async fn open(mut self, pool: PgPool) {
        loop {
            let error = match pool.acquire().await {
                Ok(mut connection) => {
                    if self.is_doubtful() && connection.ping().await.is_err() {
                        connection.close_on_drop();
                        continue;
                    }
                    self.leave();
                    let (runtime, now) = (Handle::current(), Instant::now());
                    let connection = Some(connection);
                    let plans = Plans::EachTime;
                    return self.shared.give(Kept { connection, plans, runtime, away_since: now, idle_since: now });
                }
                Err(error) => error,
            };
            let mut state = self.shared.state();
            if !matches!(error, sqlx::Error::PoolTimedOut) {
                state.answer(Err(error));
            }
            if state.waiting.len() < state.opening {
                state.opening -= 1;
                self.is_counted = false;
                return;
            }
        }
    }

    /// Whether a session was lost while the pool trusted those that it has.
    fn is_doubtful(&self) -> bool {
        self.shared.state().lost_at.is_some_and(|lost_at| lost_at.elapsed() < TRUSTED_IDLE)
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.is_counted) {
            self.shared.state().opening -= 1;
        }
    }
}

impl Drop for Opener {
    fn drop(&mut self) {
        self.leave();
    }
}

impl State {
    /// Takes the connection that was used last, of those that plan as wanted or else of all.
    fn take_free(&mut self, plans: Plans) -> Option<Kept> {
        match self.free.iter().rposition(|kept| kept.plans == plans) {
            Some(place) => Some(self.free.remove(place)),
            None => self.free.pop(),
        }
    }

    /// Answers the first who still waits; gives the answer back when nobody does.
    fn answer(&mut self, mut answer: Result<Kept, sqlx::Error>) -> Option<Result<Kept, sqlx::Error>> {
        while let Some(waiter) = self.waiting.pop_front() {
            match waiter.send(answer) {
                Ok(()) => return None,
                Err(back) => answer = back,
            }
        }
        Some(answer)
    }
}

/// The kept connections of one pool.
pub(super) struct Warm {
    pool: PgPool,
    /// Whether the sessions were opened here, and are set back when they return to the pool.
    is_ours: bool,
    shared: Arc<Shared>,
    reaper: JoinHandle<()>,
}

impl Warm {
    /// Needs a tokio runtime.
    pub(super) fn new(pool: PgPool) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), kept: Notify::new() });
        let reaper = tokio::spawn(reap(Arc::clone(&shared)));
        Self { is_ours: session::is_ours(&pool), pool, shared, reaper }
    }

    /// A connection that plans as wanted. One that turns out to be gone when that is said to it is replaced.
    pub(super) async fn take(&self, plans: Plans) -> Result<InUse<'_>, sqlx::Error> {
        loop {
            let mut connection = self.next(plans).await?;
            match connection.plan(plans).await {
                Ok(()) => return Ok(connection),
                Err(error) if session::is_gone(&error) => self.distrust(),
                Err(error) => return Err(error),
            }
        }
    }

    /// The pool that they are from.
    pub(super) fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// A connection: one that is kept, if possible one that plans as wanted, else whatever comes first from the pool or
    /// from an operation that ends.
    async fn next(&self, plans: Plans) -> Result<InUse<'_>, sqlx::Error> {
        if self.pool.is_closed() {
            return Err(sqlx::Error::PoolClosed);
        }
        let (handed, opens) = {
            let mut state = self.shared.state();
            if let Some(kept) = state.take_free(plans) {
                return Ok(self.in_use(kept));
            }
            let (hand, handed) = oneshot::channel();
            state.waiting.push_back(hand);
            let opens = state.opening < state.waiting.len();
            state.opening += usize::from(opens);
            (handed, opens)
        };
        if opens {
            let opener = Opener { shared: Arc::clone(&self.shared), is_counted: true };
            tokio::spawn(opener.open(self.pool.clone()));
        }
        match timeout(self.pool.options().get_acquire_timeout(), handed).await {
            Ok(Ok(answer)) => answer.map(|kept| self.in_use(kept)),
            Ok(Err(_)) => Err(sqlx::Error::PoolClosed),
            Err(_) => Err(sqlx::Error::PoolTimedOut),
        }
    }

    /// Closes what is kept, and has the connections of the pool asked for a sign of life for a while: a session is
    /// gone, and what ended it may have ended the others.
    pub(super) fn distrust(&self) {
        let mut state = self.shared.state();
        state.lost_at = Some(Instant::now());
        let free = std::mem::take(&mut state.free);
        drop(state);
        for mut kept in free {
            if let Some(connection) = &mut kept.connection {
                connection.close_on_drop();
            }
        }
    }

    fn in_use(&self, kept: Kept) -> InUse<'_> {
        InUse { kept: Some(kept), home: self }
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        self.reaper.abort();
        let mut state = self.shared.state();
        state.waiting.clear();
        state.free.clear();
    }
}

/// A connection in use. Dropped, it is closed: nobody knows what is under way on it. A begin that was given up, for
/// one, leaves a transaction open that the driver does not count, so the pool would hand it out as clean.
pub(super) struct InUse<'a> {
    kept: Option<Kept>,
    home: &'a Warm,
}

impl InUse<'_> {
    pub(super) fn get(&mut self) -> Result<&mut PgConnection, sqlx::Error> {
        let connection = self.kept.as_mut().and_then(|kept| kept.connection.as_deref_mut());
        connection.ok_or(sqlx::Error::WorkerCrashed)
    }

    /// Has the connection plan as wanted, where its session is ours to set.
    async fn plan(&mut self, plans: Plans) -> Result<(), sqlx::Error> {
        if let Some(kept) = &mut self.kept
            && kept.plans != plans
            && self.home.is_ours
            && let Some(connection) = &mut kept.connection
        {
            session::plan(connection, plans, false).await?;
            kept.plans = plans;
        }
        Ok(())
    }

    /// Keeps the connection for the next operation, or gives it back to the pool when it was away for long. Nothing
    /// may be under way on it.
    pub(super) fn keep(mut self) {
        if let Some(mut kept) = self.kept.take()
            && kept.away_since.elapsed() < AWAY
            && !self.home.pool.is_closed()
        {
            kept.idle_since = Instant::now();
            self.home.shared.give(kept);
        }
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        if let Some(mut kept) = self.kept.take()
            && let Some(connection) = &mut kept.connection
        {
            connection.close_on_drop();
        }
    }
}

/// Gives connections that nobody used for a while back to the pool.
async fn reap(shared: Arc<Shared>) {
    loop {
        shared.kept.notified().await;
        loop {
            tokio::time::sleep(IDLE).await;
            let mut state = shared.state();
            state.free.retain(|kept| kept.idle_since.elapsed() < IDLE);
            state.waiting.retain(|waiter| !waiter.is_closed());
            if state.free.is_empty() {
                break;
            }
        }
    }
}
