//! The one door to the database: the only place that begins, commits, rolls back or tries again.
//!
//! An operation comes in by name. A *read* needs no transaction. A *unit* is one generated call that is
//! atomic by itself. A *write* is several calls in one transaction; when it answers with an error,
//! nothing of it stays. Answers are given and wake-ups are sent only after the commit is durable.
//!
//! An operation may run more than once: after a transient failure it is repeated up to three times in
//! all, 5 and 10 ms apart. What is transient is judged on the driver's error, before translation, so a
//! broken fence, which is an answer of the engine, is never retried.

use std::sync::Arc;
use std::time::Duration;

use super::abort::Abort;
#[cfg(feature = "postgres")]
use super::dialect::Postgres;
use super::dialect::{Dialect, Kind, Operation, Patience};
use super::fault::Faults;
use super::wake::{Channels, Courier, Wakes};
use ff_core::EngineError;

#[cfg(feature = "postgres")]
pub(crate) mod combine;
#[cfg(feature = "postgres")]
mod given;
#[cfg(feature = "sqlite")]
pub(crate) mod group;
#[cfg(feature = "sqlite")]
mod length;
#[cfg(feature = "sqlite")]
pub(super) mod log;
#[cfg(feature = "postgres")]
mod many;
#[cfg(feature = "sqlite")]
mod member;

/// How often an operation is tried in all.
pub(crate) const MAX_ATTEMPTS: u32 = 3;

/// How long to wait after the given failed attempt, counted from 1.
pub(crate) fn pause_after(attempt: u32) -> Duration {
    Duration::from_millis(5 * u64::from(attempt))
}

/// What comes with every run: whom to tell, and a test's wish to see it fail.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) channels: Channels,
    pub(crate) courier: Option<Arc<dyn Courier>>,
    pub(crate) faults: Faults,
}

impl Surroundings {
    /// Tells this process and the others what an operation did. Call it after the commit only.
    pub(super) fn tell(&self, wakes: Wakes) {
        let list = wakes.into_list();
        for wake in &list {
            self.channels.send(wake);
        }
        if let Some(courier) = self.courier.as_ref().filter(|_| !list.is_empty()) {
            courier.carry(self.channels.origin(), &list);
        }
    }
}

/// Counts the attempts of one operation.
pub(super) struct Attempts {
    made: u32,
}

impl Attempts {
    pub(super) fn new() -> Self {
        Self { made: 0 }
    }

    /// Counts an attempt that another connection may do again, and waits before the next; false after the last.
    #[cfg(feature = "postgres")]
    pub(super) async fn goes_on(&mut self) -> bool {
        if self.made + 1 == MAX_ATTEMPTS {
            return false;
        }
        self.made += 1;
        tokio::time::sleep(pause_after(self.made)).await;
        true
    }

    /// Judges how an attempt ended: tells the wake-ups of a success, or waits before the next attempt and
    /// answers `None`.
    pub(super) async fn judge<D: Dialect, O: Operation<D>>(
        &mut self,
        around: &Surroundings,
        operation: &O,
        ended: Result<O::Answer, Abort>,
    ) -> Option<Result<O::Answer, EngineError>> {
        self.made += 1;
        match ended {
            Ok(answer) => {
                let mut wakes = Wakes::default();
                operation.wakes(&answer, &mut wakes);
                around.tell(wakes);
                Some(Ok(answer))
            }
            Err(Abort::Driver(error)) if D::is_transient(&error) => {
                if self.made >= MAX_ATTEMPTS {
                    return Some(Err(D::exhausted(error)));
                }
                tokio::time::sleep(pause_after(self.made)).await;
                None
            }
            Err(abort) => Some(Err(abort.into_engine::<D>())),
        }
    }
}

/// The begin of a write. The isolation is named, because the connection may be of a pool that somebody else made.
#[cfg(feature = "postgres")]
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// The same for one that waits for rows no longer than a moment.
#[cfg(feature = "postgres")]
const BEGIN_IMPATIENTLY: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '1s'";

/// A write that did not come to its end.
#[cfg(feature = "postgres")]
pub(super) struct Unfinished {
    pub(super) abort: Abort,
    /// Whether its commit was asked for, so that it may have happened.
    pub(super) is_committing: bool,
}

#[cfg(feature = "postgres")]
impl<E: Into<Abort>> From<E> for Unfinished {
    fn from(error: E) -> Self {
        Self { abort: error.into(), is_committing: false }
    }
}

/// Runs a write once, in a transaction of its own.
#[cfg(feature = "postgres")]
pub(super) async fn transact<O: Operation<Postgres>>(
    faults: &Faults,
    connection: &mut sqlx::PgConnection,
    operation: &O,
) -> Result<O::Answer, Unfinished> {
    use super::fault::Step;
    use sqlx::Connection as _;

    faults.pass(Step::Begin, operation.name()).await?;
    let begin = match operation.patience() {
        Patience::Caller => BEGIN,
        Patience::Sweep => BEGIN_IMPATIENTLY,
    };
    let mut transaction = connection.begin_with(begin).await?;
    faults.pass(Step::Run, operation.name()).await?;
    match faults.watch(operation.name(), operation.run(&mut transaction)).await {
        Ok(answer) => {
            faults.pass(Step::Commit, operation.name()).await?;
            match transaction.commit().await {
                Ok(()) => Ok(answer),
                Err(error) => Err(Unfinished { abort: error.into(), is_committing: true }),
            }
        }
        // There is nobody to roll it back with; closing the connection does.
        Err(Abort::Driver(error)) if super::session::is_gone(&error) => Err(error.into()),
        Err(abort) => {
            transaction.rollback().await?;
            Err(abort.into())
        }
    }
}

/// Runs a read of every partition, in a transaction whose statements are planned once per connection.
#[cfg(feature = "postgres")]
pub(super) async fn survey<O: Operation<Postgres>>(
    faults: &Faults,
    connection: &mut sqlx::PgConnection,
    operation: &O,
) -> Result<O::Answer, Abort> {
    use super::dialect::Plans;
    use super::fault::Step;
    use super::session;
    use sqlx::Connection as _;

    let mut transaction = connection.begin().await?;
    // Planning it for its values takes many times longer than running it.
    session::plan(&mut transaction, Plans::Once, true).await?;
    faults.pass(Step::Run, operation.name()).await?;
    let ended = operation.run(&mut transaction).await;
    transaction.rollback().await?;
    ended
}

/// The span that an operation runs in.
pub(super) fn span<D: Dialect>(name: &'static str, kind: Kind, patience: Patience) -> tracing::Span {
    tracing::debug_span!("db", operation = name, ?kind, ?patience, dialect = D::LABEL)
}
