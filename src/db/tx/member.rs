//! Operations that wait for SQLite's writer.

use futures_core::future::BoxFuture;
use sqlx::SqliteConnection;

use super::Surroundings;
use crate::db::dialect::Kind;
use crate::db::fault::Faults;

/// An operation that waits for the writer, whatever it answers.
pub(super) trait Member: Send {
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
    /// Why its run failed.
    fn driver_error(&mut self) -> sqlx::Error;
}

/// How a member's run ended.
pub(super) enum Ran {
    /// Keep what it did.
    Done,
    /// It decided against it; nothing of it may stay.
    Refused,
    /// The database failed.
    Failed,
}

/// Operations of one commit, which are answered when it is durable.
pub(super) struct Batch {
    pub(super) members: Vec<Box<dyn Member>>,
    /// Which commit it is, counted from 1.
    pub(super) number: u64,
    /// It wrote something; else there is nothing to make durable.
    pub(super) wrote: bool,
}
