//! What makes commits durable, beside the writer.
//!
//! The writer's connection commits without waiting for the disk. A thread of its own writes SQLite's log to
//! the disk and gives the answers then, while the writer goes on with the next operations. A log is read back
//! in its order up to the first gap, so what is durable brings everything before it along.
//!
//! Readers see a commit before it is durable. What they read is answered when all that they may have seen
//! is, so no answer ever tells of something that a power failure takes back. The same holds for what a process
//! that died left in the log: it is written to the disk before the first answer ([`disk`](crate::db::disk)).
//!
//! Where nobody makes commits durable any more, because the disk failed or this thread ended, the log is lost:
//! everything is refused until the file is opened again.

use std::fmt::Display;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;

use ff_core::EngineError;
use tokio::sync::watch;

use super::Surroundings;
use super::member::Batch;
use crate::db::dialect::Sqlite;
use crate::db::disk::has_page;
use crate::db::error::transport;
use crate::db::executor::receive;
use crate::db::fault::Step;

/// The log of one file.
pub(in crate::db) struct Log {
    file: File,
    /// How many commits readers may see.
    visible: AtomicU64,
    durable: watch::Sender<Durable>,
    /// How many operations wait for the disk.
    in_flight: AtomicUsize,
    around: Surroundings,
}

/// How far the log is on the disk.
#[derive(Clone)]
enum Durable {
    /// Up to that commit.
    Until(u64),
    /// Nobody knows any more, and why.
    Lost(Arc<str>),
}

impl Log {
    /// Takes over a log that is on the disk as far as it goes.
    pub(super) fn new(file: File, around: Surroundings) -> Self {
        let (durable, _) = watch::channel(Durable::Until(0));
        Self { file, visible: AtomicU64::new(0), durable, in_flight: AtomicUsize::new(0), around }
    }

    /// Counts a commit. Call it before the commit, because readers may see that before the writer knows.
    pub(super) fn next_commit(&self) -> u64 {
        self.visible.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Every commit before this one is durable.
    pub(super) fn is_next(&self, number: u64) -> bool {
        matches!(&*self.durable.borrow(), Durable::Until(reached) if reached + 1 == number)
    }

    /// How many operations wait for the disk.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Acquire)
    }

    /// Counts operations that are on their way to the disk.
    pub(super) fn sent(&self, members: usize) {
        self.in_flight.fetch_add(members, Ordering::AcqRel);
    }

    /// Answers batches as they come, those that wait together after one write to the disk.
    pub(super) fn serve(&self, batches: &Receiver<Batch>) {
        let _ended = Ended(self);
        let mut waiting = Vec::new();
        while let Some(first) = receive(batches) {
            waiting.push(first);
            waiting.extend(batches.try_iter());
            let members = waiting.iter().map(|batch| batch.members.len()).sum();
            let reached = self.write(&waiting);
            self.in_flight.fetch_sub(members, Ordering::AcqRel);
            waiting.drain(..).for_each(|batch| self.answer(batch, &reached));
        }
    }

    /// Makes one batch durable and answers it.
    pub(super) fn finish(&self, batch: Batch) {
        let reached = self.write(std::slice::from_ref(&batch));
        self.answer(batch, &reached);
    }

    /// Makes batches durable. After a failure the system may have forgotten what it could not write, so what
    /// was committed last is neither stored nor not, and nothing can be built on it.
    fn write(&self, batches: &[Batch]) -> Durable {
        let Some(number) = batches.last().map(|batch| batch.number) else { return self.durable.borrow().clone() };
        let wrote = if batches.iter().any(|batch| batch.wrote) { self.sync(batches) } else { Ok(()) };
        self.reach(match wrote {
            Ok(()) => Durable::Until(number),
            Err(error) => Durable::Lost(error.to_string().into()),
        });
        self.durable.borrow().clone()
    }

    /// Refuses everything from here on.
    pub(super) fn lose(&self, why: &dyn Display) {
        self.reach(Durable::Lost(why.to_string().into()));
    }

    /// Says how far the log is. What is lost stays so, and the first reason too.
    fn reach(&self, next: Durable) {
        self.durable.send_if_modified(|durable| {
            let is_known = matches!(durable, Durable::Until(_));
            if is_known {
                *durable = next;
            }
            is_known
        });
    }

    /// Whether the log has grown to that many pages.
    pub(super) fn has_page(&self, number: u32) -> io::Result<bool> {
        has_page(&self.file, number)
    }

    fn sync(&self, batches: &[Batch]) -> Result<(), sqlx::Error> {
        let name = batches.iter().flat_map(|batch| &batch.members).map(|member| member.name()).next();
        self.around.faults.check(Step::Sync, name.unwrap_or_default())?; // tidy: a batch may have no member left
        Ok(self.file.sync_data()?)
    }

    fn answer(&self, batch: Batch, reached: &Durable) {
        for member in batch.members {
            match reached {
                Durable::Until(_) => member.settle(&self.around),
                Durable::Lost(why) => member.fail(lost(why)),
            }
        }
    }

    /// Fails if the log was lost.
    pub(super) fn check(&self) -> Result<(), sqlx::Error> {
        match &*self.durable.borrow() {
            Durable::Until(_) => Ok(()),
            Durable::Lost(why) => Err(lost(why)),
        }
    }

    /// Waits until all that a reader may have seen up to now is durable.
    pub(in crate::db) async fn reached(&self) -> Result<(), EngineError> {
        let seen = self.visible.load(Ordering::Acquire);
        let mut durable = self.durable.subscribe();
        let ended = durable.wait_for(|durable| !matches!(durable, Durable::Until(reached) if *reached < seen)).await;
        let ended = ended.map(|durable| durable.clone()).map_err(|_| sqlx::Error::WorkerCrashed);
        match ended {
            Ok(Durable::Until(_)) => Ok(()),
            Ok(Durable::Lost(why)) => Err(transport::<Sqlite>(lost(&why))),
            Err(error) => Err(transport::<Sqlite>(error)),
        }
    }
}

/// Loses the log when its thread ends, by a panic as well: who waits for a commit then would wait for ever.
struct Ended<'a>(&'a Log);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.lose(&"the thread that writes it has ended");
    }
}

fn lost(why: &str) -> sqlx::Error {
    sqlx::Error::Io(io::Error::other(format!(
        "the log could not be written to the disk, so what was stored last may be lost: {why}; \
         drop every handle on this database and open it again"
    )))
}
