//! One physical transaction for many operations that wait: SQLite's single writer.
//!
//! A thread owns the write connection. It takes what waits and runs it between one begin and one commit, so
//! that many operations share one wait for the disk. Operations that arrive meanwhile still join, up to half
//! of all that are on their way: while one half waits for the disk ([`log`](super::log)), which also answers
//! it, the other half runs. A write that refuses is undone to its savepoint alone. When a member fails in the
//! database, the group is rolled back and every member runs again by itself, so nobody pays for a neighbour.
//!
//! It is a thread of its own because the backend may outlive the runtime that opened it: one file has
//! one writer in a process, whoever asks. A caller that stops waiting changes nothing here.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use ff_core::EngineError;
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::oneshot;
use tracing::Instrument as _;

use super::length::Length;
use super::log::Log;
use super::member::{Batch, Member, Ran};
use super::{MAX_ATTEMPTS, Surroundings, pause_after, span};
use crate::db::dialect::{Dialect as _, Kind, Operation, Sqlite};
use crate::db::error::{Abort, shared, transport};
use crate::db::executor::{block_on, receive, stay_on_one_cpu};
use crate::db::fault::{Faults, Step};
use crate::db::opening::{CHECKPOINT, Opening, can_wait};
use crate::db::wake::Wakes;
use crate::metric;

/// How many operations share a commit at most; bounds what a failure repeats and how long the first waits.
const GROUP_LIMIT: usize = 64;

/// Takes SQLite's write lock at once, instead of at the first write.
const BEGIN: &str = "BEGIN IMMEDIATE";

/// Also tells how many rows the connection has written so far, so that a commit of nothing is known.
const COMMIT: &str = "COMMIT; SELECT total_changes()";

/// What the fault hook knows the opening of a file by.
const OPEN: &str = "open";

const ROLLBACK: &str = "ROLLBACK";
const SAVEPOINT: &str = "SAVEPOINT member";
const RELEASE: &str = "RELEASE member";
const UNDO: &str = "ROLLBACK TO member; RELEASE member";

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

    fn driver_error(&mut self) -> sqlx::Error {
        match self.result.take() {
            Some(Err(Abort::Driver(error))) => error,
            _ => sqlx::Error::WorkerCrashed,
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
    threads: Vec<JoinHandle<()>>,
    log: Option<Arc<Log>>,
}

impl Writer {
    /// Starts the writer, which opens a connection of its own, and what makes its commits durable.
    pub(in crate::db) async fn start(opening: Opening, around: Surroundings) -> Result<Self, sqlx::Error> {
        let (queue, waiting) = channel();
        let (durable, batches) = channel();
        let (tell, opened) = oneshot::channel();
        let run = move || {
            stay_on_one_cpu();
            let opened = block_on(open(&opening, &around));
            let (connection, log) = match opened {
                Ok(opened) => opened,
                Err(error) => return drop(tell.send(Err(error))),
            };
            let _ = tell.send(Ok(log.clone()));
            let (ready, length) = (VecDeque::new(), Length::new(opening.log_pages()));
            Group {
                opening,
                connection,
                is_suspect: false,
                changes: 0,
                waiting,
                ready,
                was_idle: false,
                length,
                log,
                durable,
                around,
            }
            .serve();
        };
        let mut threads = vec![spawn("ff-sqlite-writer", run)?];
        let log = opened.await.map_err(|_| sqlx::Error::WorkerCrashed)??;
        if let Some(log) = log.clone() {
            threads.push(spawn("ff-sqlite-log", move || log.serve(&batches))?);
        }
        Ok(Self { queue: Some(queue), threads, log })
    }

    /// What its commits wait for; nothing where a commit waits for the disk by itself.
    pub(in crate::db) fn log(&self) -> Option<&Log> {
        self.log.as_deref()
    }

    /// Runs an operation in the writer's next transaction, or the one after.
    pub(in crate::db) async fn run<O: Operation<Sqlite>>(&self, operation: O) -> Result<O::Answer, EngineError> {
        let (answer, answered) = oneshot::channel();
        let span = span::<Sqlite>(operation.name(), operation.kind(), operation.patience());
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
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(run)
}

/// Opens the writer's connection, and its log when all that is in it is on the disk.
async fn open(opening: &Opening, around: &Surroundings) -> Result<(SqliteConnection, Option<Arc<Log>>), sqlx::Error> {
    let mut connection = opening.group_writer().await?;
    let Some(files) = opening.files() else { return Ok((connection, None)) };
    around.faults.check(Step::Sync, OPEN)?;
    if !files.has_log() {
        files.settle_folder()?;
        return Ok((connection, None));
    }
    let settled = match say(&mut connection, BEGIN).await {
        Ok(()) => {
            let settled = files.settle_log(true);
            say(&mut connection, ROLLBACK).await?;
            settled
        }
        // Another program writes, so nobody died here.
        Err(error) if Sqlite::is_transient(&error) => files.settle_log(false),
        Err(error) => return Err(error),
    };
    Ok((connection, Some(Arc::new(Log::new(settled?, around.clone())))))
}

/// Says a statement, mostly one that begins or ends a transaction.
async fn say(connection: &mut SqliteConnection, statement: &'static str) -> Result<(), sqlx::Error> {
    sqlx::query(statement).execute(connection).await.map(drop)
}

/// The writer's side.
struct Group {
    opening: Opening,
    connection: SqliteConnection,
    /// A rollback failed, so nobody knows where the connection is.
    is_suspect: bool,
    /// How many rows the connection has written.
    changes: i64,
    waiting: Receiver<Box<dyn Member>>,
    /// Has arrived, and is not in a group yet.
    ready: VecDeque<Box<dyn Member>>,
    /// Nobody waited when the last group was gathered.
    was_idle: bool,
    length: Length,
    log: Option<Arc<Log>>,
    durable: Sender<Batch>,
    around: Surroundings,
}

impl Group {
    fn serve(mut self) {
        while let Some(mut members) = self.gather() {
            members.retain(|member| !member.is_abandoned());
            if !members.is_empty() {
                block_on(self.run(members));
            }
        }
        if let Err(error) = block_on(self.connection.close()) {
            tracing::warn!(%error, "the writer's connection did not close cleanly");
        }
    }

    /// Waits for operations; none when nobody can send any more.
    fn gather(&mut self) -> Option<Vec<Box<dyn Member>>> {
        self.ready.extend(self.waiting.try_iter());
        self.was_idle = self.ready.is_empty();
        if self.was_idle {
            self.ready.push_back(receive(&self.waiting)?);
        }
        let mut members = Vec::new();
        self.join(&mut members);
        Some(members)
    }

    /// Lets those who have arrived join: half of all that are on their way, so that the other half runs while
    /// these wait for the disk; all of them where a commit waits for the disk by itself.
    fn join(&mut self, members: &mut Vec<Box<dyn Member>>) {
        self.ready.extend(self.waiting.try_iter());
        let arrived = members.len() + self.ready.len();
        let share = self.log.as_ref().map_or(arrived, |log| (arrived + log.in_flight()).div_ceil(2));
        let room = share.min(GROUP_LIMIT).saturating_sub(members.len()).min(self.ready.len());
        members.extend(self.ready.drain(..room));
    }

    /// Runs the members together or, when that fails, one by one; all are answered.
    async fn run(&mut self, mut members: Vec<Box<dyn Member>>) {
        // A write that is alone needs no savepoint, as long as nobody joins it.
        let together = members.len() > 1 || members.iter().all(|member| member.kind() != Kind::Write);
        let ended = if together { self.commit_together(&mut members).await } else { Together::RolledBack };
        match ended {
            Together::Committed(commit) => self.answer(members, commit),
            Together::NotBegun(error) => members.into_iter().for_each(|member| member.fail(shared(&error))),
            Together::RolledBack => {
                for mut member in members {
                    match self.commit_alone(member.as_mut()).await {
                        Ok(commit) => self.answer(vec![member], commit),
                        Err(error) => member.fail(error),
                    }
                }
            }
        }
    }

    /// Answers once the commit is durable; at once if it wrote nothing and all before it are. One that came alone is
    /// brought to the disk here: there is nobody to run meanwhile, and another thread would have to wake up first.
    fn answer(&self, members: Vec<Box<dyn Member>>, Commit { number, wrote }: Commit) {
        metric::went_together(Sqlite::LABEL, members.len());
        let Some(log) = &self.log else {
            return members.into_iter().for_each(|member| member.settle(&self.around));
        };
        let batch = Batch { members, number, wrote };
        let is_alone = self.was_idle && batch.members.len() == 1;
        if (is_alone || !wrote) && log.is_next(number) {
            return log.finish(batch);
        }
        log.sent(batch.members.len());
        if let Err(unsent) = self.durable.send(batch) {
            unsent.0.members.into_iter().for_each(|member| member.fail(sqlx::Error::WorkerCrashed));
        }
    }

    /// One transaction for all.
    async fn commit_together(&mut self, members: &mut Vec<Box<dyn Member>>) -> Together {
        let Some(first) = members.first().map(|member| member.name()) else { return Together::RolledBack };
        let mut attempt = 1;
        loop {
            match self.attempt_together(first, members).await {
                Together::NotBegun(error) if Sqlite::is_transient(&error) && attempt < MAX_ATTEMPTS => {
                    std::thread::sleep(pause_after(attempt));
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }

    async fn attempt_together(&mut self, first: &'static str, members: &mut Vec<Box<dyn Member>>) -> Together {
        if let Err(error) = self.begin(first).await {
            return Together::NotBegun(error);
        }
        let ended = match self.run_together(members).await {
            Ok(()) => self.commit(first).await,
            Err(error) => Err(error),
        };
        match ended {
            Ok(commit) => Together::Committed(commit),
            Err(_) => {
                self.undo().await;
                Together::RolledBack
            }
        }
    }

    /// Runs the members, and those who join them. An error leaves the transaction open.
    async fn run_together(&mut self, members: &mut Vec<Box<dyn Member>>) -> Result<(), sqlx::Error> {
        let mut next = 0;
        while let Some(member) = members.get_mut(next) {
            if let Ran::Failed = run_beside(&self.around.faults, &mut self.connection, member.as_mut()).await? {
                return Err(member.driver_error());
            }
            next += 1;
            self.join(members);
        }
        Ok(())
    }

    /// A transaction of its own, tried again while the failure is transient.
    async fn commit_alone(&mut self, member: &mut dyn Member) -> Result<Commit, sqlx::Error> {
        let mut attempt = 1;
        loop {
            match self.attempt_alone(member).await {
                Err(error) if Sqlite::is_transient(&error) && attempt < MAX_ATTEMPTS => {
                    std::thread::sleep(pause_after(attempt));
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }

    async fn attempt_alone(&mut self, member: &mut dyn Member) -> Result<Commit, sqlx::Error> {
        self.begin(member.name()).await?;
        let ended = match self.around.faults.check(Step::Run, member.name()) {
            Ok(()) => match member.run(&self.around.faults, &mut self.connection).await {
                Ran::Done => self.commit(member.name()).await,
                Ran::Refused => say(&mut self.connection, ROLLBACK).await.map(|()| self.nothing()),
                Ran::Failed => Err(member.driver_error()),
            },
            Err(error) => Err(error),
        };
        if ended.is_err() {
            self.undo().await;
        }
        ended
    }

    /// Begins a transaction, on a new connection if nobody knows where the last one is.
    async fn begin(&mut self, name: &'static str) -> Result<(), sqlx::Error> {
        if let Some(log) = &self.log {
            log.check()?;
        }
        if self.is_suspect {
            self.connection = self.opening.group_writer().await?;
            (self.changes, self.is_suspect) = (0, false);
        }
        self.around.faults.check(Step::Begin, name)?;
        say(&mut self.connection, BEGIN).await
    }

    async fn commit(&mut self, name: &'static str) -> Result<Commit, sqlx::Error> {
        self.around.faults.check(Step::Commit, name)?;
        let commit = self.nothing();
        let changes = sqlx::query_scalar(COMMIT).fetch_one(&mut self.connection).await;
        if changes.is_err() {
            self.answer(Vec::new(), commit);
        }
        let before = std::mem::replace(&mut self.changes, changes?);
        let wrote = self.changes != before;
        if wrote {
            self.keep_log_short(name).await;
        }
        Ok(Commit { wrote, ..commit })
    }

    /// Moves the log's pages to the file when there are many. SQLite syncs both. When that fails, nobody knows what
    /// the disk has; when the disk is only full or somebody else is at it, the log has everything still.
    async fn keep_log_short(&mut self, name: &'static str) {
        let Some(log) = &self.log else { return };
        let moved: Result<(i64, i64, i64), _> = match log.has_page(self.length.due()) {
            Ok(false) => return,
            Ok(true) => match self.around.faults.check(Step::Checkpoint, name) {
                Ok(()) => sqlx::query_as(CHECKPOINT).fetch_one(&mut self.connection).await,
                Err(error) => Err(error),
            },
            Err(error) => Err(error.into()),
        };
        match moved {
            Err(error) if can_wait(&error) => tracing::warn!(%error, "the log's pages stay where they are for now"),
            Err(error) => log.lose(&error),
            Ok((_, pages, moved)) => self.note_length(pages, moved),
        }
    }

    /// While another process moves them, SQLite gives less than none for either.
    fn note_length(&mut self, pages: i64, moved: i64) {
        if let (Ok(pages), Ok(moved)) = (u32::try_from(pages), u32::try_from(moved))
            && let Some(database) = self.opening.file()
        {
            self.length.moved(pages, moved, database);
        }
    }

    /// The next commit, which has written nothing so far.
    fn nothing(&self) -> Commit {
        let number = self.log.as_ref().map_or(0, |log| log.next_commit()); // tidy: nobody counts without a log
        Commit { number, wrote: false }
    }

    /// Rolls back what failed. SQLite ends a transaction by itself on some errors. Whether that is why nothing
    /// is left to roll back, or something else is wrong, cannot be told: such a connection is replaced.
    async fn undo(&mut self) {
        self.is_suspect = say(&mut self.connection, ROLLBACK).await.is_err();
    }
}

/// A commit that is not durable yet.
#[derive(Debug, Clone, Copy)]
struct Commit {
    number: u64,
    wrote: bool,
}

/// How a shared transaction ended.
enum Together {
    /// Stored, and durable soon.
    Committed(Commit),
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
    say(connection, SAVEPOINT).await?;
    let ran = member.run(faults, connection).await;
    match ran {
        Ran::Done => say(connection, RELEASE).await?,
        Ran::Refused => say(connection, UNDO).await?,
        Ran::Failed => {}
    }
    Ok(ran)
}

/// Ends the transaction behind the driver's back, as SQLite does by itself when the disk is full, and fails.
#[cfg(test)]
pub(crate) async fn end_transaction(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    say(connection, ROLLBACK).await?;
    Err(sqlx::Error::RowNotFound)
}
