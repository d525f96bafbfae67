//! Connections that stay out of the pool between operations.
//!
//! A pool asks the server for a sign of life around every use: two round trips beside the one that
//! does the work. So a connection that just served an operation waits here for the next one, and an
//! operation that waits for a connection gets it straight from hand to hand. Nothing stays here for
//! long: a connection that is idle, or was not in the pool for a while, goes back, so that the pool's
//! other users, its limits on age, and its closing all work.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::PgPool;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, Postgres};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

/// How long a connection waits for the next operation.
const IDLE: Duration = Duration::from_millis(100);

/// How long a connection stays away from the pool however busy it is.
const AWAY: Duration = Duration::from_millis(500);

/// A connection, and since when it has been away from the pool.
struct Kept {
    connection: PoolConnection<Postgres>,
    away_since: Instant,
    idle_since: Instant,
}

#[derive(Default)]
struct State {
    free: Vec<Kept>,
    waiting: VecDeque<oneshot::Sender<Kept>>,
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
    fn give(&self, mut kept: Kept) {
        let mut state = self.state();
        while let Some(waiter) = state.waiting.pop_front() {
            match waiter.send(kept) {
                Ok(()) => return,
                Err(back) => kept = back,
            }
        }
        state.free.push(kept);
        if state.free.len() == 1 {
            self.kept.notify_one();
        }
    }
}

/// The kept connections of one pool.
pub(super) struct Warm {
    pool: PgPool,
    shared: Arc<Shared>,
    reaper: JoinHandle<()>,
}

impl Warm {
    /// Needs a tokio runtime.
    pub(super) fn new(pool: PgPool) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), kept: Notify::new() });
        let reaper = tokio::spawn(reap(Arc::clone(&shared)));
        Self { pool, shared, reaper }
    }

    /// A connection: one that is kept, else whatever comes first from the pool or from an operation that ends.
    pub(super) async fn take(&self) -> Result<InUse<'_>, sqlx::Error> {
        if self.pool.is_closed() {
            return Err(sqlx::Error::PoolClosed);
        }
        let handed = {
            let mut state = self.shared.state();
            match state.free.pop() {
                Some(kept) => return Ok(self.in_use(kept.connection, kept.away_since)),
                None => {
                    let (hand, handed) = oneshot::channel();
                    state.waiting.push_back(hand);
                    handed
                }
            }
        };
        tokio::select! {
            biased;
            Ok(kept) = handed => Ok(self.in_use(kept.connection, kept.away_since)),
            connection = self.pool.acquire() => Ok(self.in_use(connection?, Instant::now())),
        }
    }

    fn in_use(&self, connection: PoolConnection<Postgres>, away_since: Instant) -> InUse<'_> {
        InUse { connection: Some(connection), away_since, home: self }
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        self.reaper.abort();
        let mut state = self.shared.state();
        state.waiting.clear();
        for kept in state.free.drain(..) {
            // A connection goes back to its pool in a task, and a backend may outlive its runtime. Then the
            // connection is closed instead.
            if Handle::try_current().is_err() {
                drop(kept.connection.detach());
            }
        }
    }
}

/// A connection in use. Dropped, it goes back to the pool, which cleans it.
pub(super) struct InUse<'a> {
    connection: Option<PoolConnection<Postgres>>,
    away_since: Instant,
    home: &'a Warm,
}

impl InUse<'_> {
    pub(super) fn get(&mut self) -> Result<&mut PgConnection, sqlx::Error> {
        self.connection.as_deref_mut().ok_or(sqlx::Error::WorkerCrashed)
    }

    /// Keeps the connection for the next operation. Nothing may be under way on it.
    pub(super) fn keep(mut self) {
        if self.away_since.elapsed() < AWAY
            && !self.home.pool.is_closed()
            && let Some(connection) = self.connection.take()
        {
            self.home.shared.give(Kept { connection, away_since: self.away_since, idle_since: Instant::now() });
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
