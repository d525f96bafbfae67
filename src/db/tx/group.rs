//! One physical transaction for all operations that wait: SQLite's single writer.
//!
//! A thread owns the write connection. It takes what waits, runs it between one begin and one commit,
//! and answers after the commit, so that many operations share one wait for the disk. Operations that
//! arrive meanwhile still join. A write that refuses is undone to its savepoint alone. When a member
//! fails in the database, the group is rolled back and every member runs again by itself, so nobody
//! pays for a neighbour.
//!
//! It is a thread of its own because the backend may outlive the runtime that opened it: one file has
//! one writer in a process, whoever asks. A caller that stops waiting changes nothing here.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{JoinHandle, yield_now};

use ff_core::EngineError;
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::oneshot;
use tracing::Instrument as _;

use super::{Kind, MAX_ATTEMPTS, Operation, Surroundings, Wakes, pause_after, span};
use crate::db::executor::{block_on, stay_on_this_cpu};
use crate::db::fault::{Faults, Step};
use crate::db::sqlite::{Opening, shared};
use crate::db::{Dialect as _, Sqlite};
use crate::error::{Abort, transport};

/// How many operations share a commit at most; bounds what a failure repeats and how long the first waits.
const GROUP_LIMIT: usize = 64;

/// How often the thread gives way to those it just answered.
const YIELDS: u32 = 200;

/// The words that take SQLite's write lock at once, instead of at the first write.
const BEGIN: &str = "BEGIN IMMEDIATE";

/// An operation that waits for the writer, whatever it answers.
trait Member: Send {
    fn name(&self) -> &'static str;
    fn kind(&self) -> Kind;
    /// Nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;
    /// Runs it and keeps the result.
    fn run<'a>(&'a mut self, faults: &'a Faults, connection: &'a mut SqliteConnection) -> BoxFuture<'a, Ran>;
    /// Answers after the commit: tells the wake-ups of what succeeded.
    fn settle(self: Box<Self>, around: &Surroundings);
    /// Answers with a failure of the transaction.
    fn fail(self: Box<Self>, error: sqlx::Error);
    /// The driver's error that is kept, if there is one.
    fn driver_error(&mut self) -> Option<sqlx::Error>;
}

/// How a member's run ended.
enum Ran {
    /// Keep what it did.
    Done,
    /// It decided against it; nothing of it may stay.
    Refused,
    /// The database failed.
    Failed,
}

struct Waiting<O: Operation<Sqlite>> {
    operation: O,
    answer: oneshot::Sender<Result<O::Answer, EngineError>>,
    result: Option<Result<O::Answer, Abort>>,
    span: tracing::Span,
}

impl<O: Operation<Sqlite>> Member for Waiting<O> {
    fn name(&self) -> &'static str {
        self.operation.name()
    }

    fn kind(&self) -> Kind {
        self.operation.kind()
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn run<'a>(&'a mut self, faults: &'a Faults, connection: &'a mut SqliteConnection) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let running = faults.watch(self.operation.name(), self.operation.run(connection));
            let running = AssertUnwindSafe(running).catch_unwind();
            let result = match running.instrument(self.span.clone()).await {
                Ok(result) => result,
                Err(panic) => Err(Abort::Driver(panicked(panic.as_ref()))),
            };
            let ran = match &result {
                Ok(_) => Ran::Done,
                Err(Abort::Engine(_)) => Ran::Refused,
                Err(Abort::Driver(_)) => Ran::Failed,
            };
            self.result = Some(result);
            ran
        })
    }

    fn settle(self: Box<Self>, around: &Surroundings) {
        let Self { operation, answer, result, .. } = *self;
        let result = match result {
            Some(Ok(value)) => {
                let mut wakes = Wakes::default();
                operation.wakes(&value, &mut wakes);
                around.tell(wakes);
                Ok(value)
            }
            Some(Err(abort)) => Err(abort.into_engine::<Sqlite>()),
            None => Err(transport::<Sqlite>(sqlx::Error::WorkerCrashed)),
        };
        let _ = answer.send(result);
    }

    fn fail(self: Box<Self>, error: sqlx::Error) {
        let _ = self.answer.send(Err(Abort::from(error).into_engine::<Sqlite>()));
    }

    fn driver_error(&mut self) -> Option<sqlx::Error> {
        match self.result.take() {
            Some(Err(Abort::Driver(error))) => Some(error),
            _ => None,
        }
    }
}

fn panicked(panic: &(dyn Any + Send)) -> sqlx::Error {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    sqlx::Error::Protocol(format!("an operation panicked: {}", text.as_deref().unwrap_or("no message"))) // tidy: text of a panic
}

/// The way to the writer. Dropping it lets the writer finish what waits, close its connection and end.
pub(in crate::db) struct Writer {
    queue: Option<Sender<Box<dyn Member>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the writer, which opens a connection of its own.
    pub(in crate::db) async fn start(opening: Opening, around: Surroundings) -> Result<Self, sqlx::Error> {
        let (queue, waiting) = channel();
        let (tell, opened) = oneshot::channel();
        let run = move || {
            stay_on_this_cpu();
            let connection = match block_on(opening.writer()) {
                Ok(connection) => connection,
                Err(error) => return drop(tell.send(Err(error))),
            };
            let _ = tell.send(Ok(()));
            Group { opening, connection, is_suspect: false, waiting, around }.serve();
        };
        let thread = std::thread::Builder::new().name("ff-sqlite-writer".into()).spawn(run)?;
        opened.await.map_err(|_| sqlx::Error::WorkerCrashed)??;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Runs an operation in the writer's next transaction, or the one after.
    pub(in crate::db) async fn run<O: Operation<Sqlite>>(&self, operation: O) -> Result<O::Answer, EngineError> {
        let (answer, answered) = oneshot::channel();
        let span = span::<Sqlite>(operation.name(), operation.kind());
        let member = Box::new(Waiting { operation, answer, result: None, span });
        let sent = self.queue.as_ref().map(|queue| queue.send(member));
        if !matches!(sent, Some(Ok(()))) {
            return Err(transport::<Sqlite>(sqlx::Error::WorkerCrashed));
        }
        match answered.await {
            Ok(result) => result,
            Err(_) => Err(transport::<Sqlite>(sqlx::Error::WorkerCrashed)),
        }
    }
}

impl Writer {
    /// Lets the writer finish what waits, and waits until its connection is closed.
    pub(in crate::db) fn stop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The writer's side.
struct Group {
    opening: Opening,
    connection: SqliteConnection,
    /// A transaction failed, so the connection may not be where its driver thinks it is.
    is_suspect: bool,
    waiting: Receiver<Box<dyn Member>>,
    around: Surroundings,
}

impl Group {
    fn serve(mut self) {
        let mut members = Vec::new();
        let mut answered = 0;
        while self.gather(&mut members, answered) {
            answered = members.len();
            members.retain(|member| !member.is_abandoned());
            if !members.is_empty() {
                block_on(self.run(&mut members));
            }
        }
        if let Err(error) = block_on(self.connection.close()) {
            tracing::warn!(%error, "the writer's connection did not close cleanly");
        }
    }

    /// Waits for operations; false when nobody can send any more. Whoever was just answered is likely to come
    /// back at once, sooner than a parked thread wakes, and those who come together share a commit. So the
    /// thread gives way a number of times before it goes on with fewer, or parks.
    fn gather(&self, members: &mut Vec<Box<dyn Member>>, answered: usize) -> bool {
        let mut yields = 0;
        while members.len() < GROUP_LIMIT {
            match self.waiting.try_recv() {
                Ok(member) => members.push(member),
                Err(TryRecvError::Disconnected) => return !members.is_empty(),
                Err(TryRecvError::Empty) if members.len() < answered.max(1) && yields < YIELDS => {
                    yields += 1;
                    yield_now();
                }
                Err(TryRecvError::Empty) if members.is_empty() => match self.waiting.recv() {
                    Ok(member) => members.push(member),
                    Err(_) => return false,
                },
                Err(TryRecvError::Empty) => break,
            }
        }
        true
    }

    /// Runs the members together or, when that fails, one by one; all are answered.
    async fn run(&mut self, members: &mut Vec<Box<dyn Member>>) {
        // A write that is alone needs no savepoint, as long as nobody joins it.
        let together = members.len() > 1 || members.iter().all(|member| member.kind() != Kind::Write);
        let ended = if together { self.commit_together(members).await } else { Together::RolledBack };
        match ended {
            Together::Committed => members.drain(..).for_each(|member| member.settle(&self.around)),
            Together::NotBegun(error) => members.drain(..).for_each(|member| member.fail(shared(&error))),
            Together::RolledBack => {
                for mut member in members.drain(..) {
                    match self.commit_alone(member.as_mut()).await {
                        Ok(()) => member.settle(&self.around),
                        Err(error) => member.fail(error),
                    }
                }
            }
        }
    }

    /// One transaction for all.
    async fn commit_together(&mut self, members: &mut Vec<Box<dyn Member>>) -> Together {
        let Some(first) = members.first().map(|member| member.name()) else { return Together::Committed };
        let mut attempt = 1;
        let ended = loop {
            match self.attempt_together(first, members).await {
                Together::NotBegun(error) if Sqlite::is_transient(&error) && attempt < MAX_ATTEMPTS => {
                    std::thread::sleep(pause_after(attempt));
                    attempt += 1;
                }
                ended => break ended,
            }
        };
        self.is_suspect |= !matches!(ended, Together::Committed);
        ended
    }

    async fn attempt_together(&mut self, first: &'static str, members: &mut Vec<Box<dyn Member>>) -> Together {
        if let Err(error) = self.heal().await {
            return Together::NotBegun(error);
        }
        let faults = &self.around.faults;
        let begun = match faults.check(Step::Begin, first) {
            Ok(()) => self.connection.begin_with(BEGIN).await,
            Err(error) => Err(error),
        };
        let mut transaction = match begun {
            Ok(transaction) => transaction,
            Err(error) => return Together::NotBegun(error),
        };
        let mut next = 0;
        while let Some(member) = members.get_mut(next) {
            // An error on the way drops the transaction, which rolls it back.
            match run_beside(faults, &mut transaction, member.as_mut()).await {
                Ok(Ran::Done | Ran::Refused) => {}
                Ok(Ran::Failed) | Err(_) => return Together::RolledBack,
            }
            next += 1;
            while members.len() < GROUP_LIMIT
                && let Ok(member) = self.waiting.try_recv()
            {
                members.push(member);
            }
        }
        if faults.check(Step::Commit, first).is_err() || transaction.commit().await.is_err() {
            return Together::RolledBack;
        }
        Together::Committed
    }

    /// A transaction of its own, tried again while the failure is transient.
    async fn commit_alone(&mut self, member: &mut dyn Member) -> Result<(), sqlx::Error> {
        let mut attempt = 1;
        loop {
            let ended = self.attempt_alone(member).await;
            self.is_suspect |= ended.is_err();
            match ended {
                Err(error) if Sqlite::is_transient(&error) && attempt < MAX_ATTEMPTS => {
                    std::thread::sleep(pause_after(attempt));
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }

    async fn attempt_alone(&mut self, member: &mut dyn Member) -> Result<(), sqlx::Error> {
        self.heal().await?;
        let faults = &self.around.faults;
        faults.check(Step::Begin, member.name())?;
        let mut transaction = self.connection.begin_with(BEGIN).await?;
        faults.check(Step::Run, member.name())?;
        match member.run(faults, &mut transaction).await {
            Ran::Done => {
                faults.check(Step::Commit, member.name())?;
                transaction.commit().await
            }
            Ran::Refused => transaction.rollback().await,
            Ran::Failed => {
                // What failed first is what the caller wants to know, also when the rollback fails after it.
                let rolled_back = transaction.rollback().await;
                match member.driver_error() {
                    Some(error) => Err(error),
                    None => rolled_back,
                }
            }
        }
    }

    /// After a failure: SQLite ends a transaction by itself on some errors, and then the driver's count is
    /// off for good. Such a connection is replaced.
    async fn heal(&mut self) -> Result<(), sqlx::Error> {
        if !self.is_suspect {
            return Ok(());
        }
        // A ping comes back after the rollbacks that dropped transactions have sent.
        if self.connection.ping().await.is_err() || self.connection.is_in_transaction() {
            self.connection = self.opening.writer().await?;
        }
        self.is_suspect = false;
        Ok(())
    }
}

/// How a shared transaction ended.
enum Together {
    /// Durable.
    Committed,
    /// It never began; nobody ran.
    NotBegun(sqlx::Error),
    /// It was undone; the members must run one by one.
    RolledBack,
}

/// Runs one member of a shared transaction; a write gets a savepoint, so that it can be undone alone.
async fn run_beside(
    faults: &Faults,
    connection: &mut SqliteConnection,
    member: &mut dyn Member,
) -> Result<Ran, sqlx::Error> {
    faults.check(Step::Run, member.name())?;
    if member.kind() != Kind::Write {
        return Ok(member.run(faults, connection).await);
    }
    let mut savepoint = connection.begin().await?;
    let ran = member.run(faults, &mut savepoint).await;
    match ran {
        Ran::Done => savepoint.commit().await?,
        Ran::Refused | Ran::Failed => savepoint.rollback().await?,
    }
    Ok(ran)
}

/// Ends the transaction behind the driver's back, as SQLite does by itself when the disk is full, and fails.
#[cfg(test)]
pub(super) async fn end_transaction(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("ROLLBACK").execute(connection).await?;
    Err(sqlx::Error::RowNotFound)
}
