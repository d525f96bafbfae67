//! Statements as operations: what one takes says its name, what it gives and how it is run.

use ff_core::EngineError;
use futures_core::future::BoxFuture;

#[cfg(feature = "postgres")]
use super::dialect::{Combined, Combines};
use super::dialect::{Dialect, Kind, Operation, Patience, Store};
use super::error::Abort;
use super::{Db, Wakes};
use crate::statements::Statement;

impl<D: Dialect> Db<D> {
    /// Reads with one statement.
    pub(crate) async fn read<S>(&self, statement: S) -> Result<S::Output, EngineError>
    where
        S: Statement<Output: 'static> + 'static,
    {
        self.run(Kind::Read, statement, silent).await
    }

    /// Reads every partition with one statement.
    pub(crate) async fn survey<S>(&self, statement: S) -> Result<S::Output, EngineError>
    where
        S: Statement<Output: 'static> + 'static,
    {
        self.run(Kind::Survey, statement, silent).await
    }

    /// Runs one statement that is atomic by itself.
    pub(crate) async fn unit<S>(&self, statement: S) -> Result<S::Output, EngineError>
    where
        S: Statement<Output: 'static> + 'static,
    {
        self.run(Kind::Unit, statement, silent).await
    }

    /// The same, which lists what to tell after the commit.
    pub(crate) async fn unit_counting<S, W>(&self, statement: S, tell: W) -> Result<S::Output, EngineError>
    where
        S: Statement<Output: 'static> + 'static,
        W: Fn(&S::Output, &mut Wakes) + Send + Sync + 'static,
    {
        self.run(Kind::Unit, statement, tell).await
    }

    /// Runs one that writes an event, and lists what to tell after the commit if it gave a row.
    pub(crate) async fn unit_telling<S, R, W>(&self, statement: S, tell: W) -> Result<Option<R>, EngineError>
    where
        S: Statement<Output = Option<R>> + 'static,
        R: Send + 'static,
        W: Fn(&R, &mut Wakes) + Send + Sync + 'static,
    {
        self.store.run(Telling { patience: self.patience, statement, tell }).await
    }

    /// The same for one that Postgres may make for several callers in one statement.
    #[cfg(feature = "postgres")]
    pub(crate) async fn combined_telling<S, R, W>(&self, statement: S, tell: W) -> Result<Option<R>, EngineError>
    where
        S: Statement<Output = Option<R>> + Combines,
        R: Send + 'static,
        W: Fn(&R, &mut Wakes) + Send + Sync + 'static,
    {
        self.store.run_combined(Telling { patience: self.patience, statement, tell }).await
    }

    /// The same; SQLite's writer puts those of several callers into one transaction.
    #[cfg(not(feature = "postgres"))]
    pub(crate) async fn combined_telling<S, R, W>(&self, statement: S, tell: W) -> Result<Option<R>, EngineError>
    where
        S: Statement<Output = Option<R>> + 'static,
        R: Send + 'static,
        W: Fn(&R, &mut Wakes) + Send + Sync + 'static,
    {
        self.unit_telling(statement, tell).await
    }

    /// The same for one that writes no event.
    #[cfg(feature = "postgres")]
    pub(crate) async fn combined_counting<S, W>(&self, statement: S, tell: W) -> Result<S::Output, EngineError>
    where
        S: Combines,
        W: Fn(&S::Output, &mut Wakes) + Send + Sync + 'static,
    {
        let (kind, patience) = (Kind::Unit, self.patience);
        self.store.run_combined(Run { kind, patience, statement, tell }).await
    }

    /// The same; SQLite's writer puts those of several callers into one transaction.
    #[cfg(not(feature = "postgres"))]
    pub(crate) async fn combined_counting<S, W>(&self, statement: S, tell: W) -> Result<S::Output, EngineError>
    where
        S: Statement<Output: 'static> + 'static,
        W: Fn(&S::Output, &mut Wakes) + Send + Sync + 'static,
    {
        self.unit_counting(statement, tell).await
    }

    async fn run<S, W>(&self, kind: Kind, statement: S, tell: W) -> Result<S::Output, EngineError>
    where
        S: Statement<Output: 'static> + 'static,
        W: Fn(&S::Output, &mut Wakes) + Send + Sync + 'static,
    {
        self.store.run(Run { kind, patience: self.patience, statement, tell }).await
    }
}

/// Nothing to tell.
fn silent<T>(_: &T, _: &mut Wakes) {}

/// A statement that is run as an operation of its own.
struct Run<S, W> {
    kind: Kind,
    patience: Patience,
    statement: S,
    tell: W,
}

impl<D, S, W> Operation<D> for Run<S, W>
where
    D: Dialect,
    S: Statement<Output: 'static> + 'static,
    W: Fn(&S::Output, &mut Wakes) + Send + Sync + 'static,
{
    type Answer = S::Output;

    fn name(&self) -> &'static str {
        S::NAME
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn takes_steps(&self) -> bool {
        S::TAKES_STEPS
    }

    fn patience(&self) -> Patience {
        self.patience
    }

    fn run<'a>(&'a self, connection: &'a mut D::Connection) -> BoxFuture<'a, Result<S::Output, Abort>> {
        Box::pin(async move { D::run(connection, &self.statement).await.map_err(Into::into) })
    }

    fn wakes(&self, answer: &S::Output, wakes: &mut Wakes) {
        (self.tell)(answer, wakes);
    }
}

#[cfg(feature = "postgres")]
impl<D, S, W> Combined<D> for Run<S, W>
where
    D: Dialect,
    S: Combines,
    Self: Operation<D, Answer = S::Output>,
{
    type Params = S;

    fn params(&self) -> &S {
        &self.statement
    }

    fn answered(&self, output: S::Output) -> Option<S::Output> {
        Some(output)
    }
}

/// A statement that writes an event, and tells of it.
struct Telling<S, W> {
    patience: Patience,
    statement: S,
    tell: W,
}

impl<D, S, R, W> Operation<D> for Telling<S, W>
where
    D: Dialect,
    S: Statement<Output = Option<R>> + 'static,
    R: Send + 'static,
    W: Fn(&R, &mut Wakes) + Send + Sync + 'static,
{
    type Answer = Option<R>;

    fn name(&self) -> &'static str {
        S::NAME
    }

    fn kind(&self) -> Kind {
        Kind::Unit
    }

    fn takes_steps(&self) -> bool {
        S::TAKES_STEPS
    }

    fn patience(&self) -> Patience {
        self.patience
    }

    fn run<'a>(&'a self, connection: &'a mut D::Connection) -> BoxFuture<'a, Result<Option<R>, Abort>> {
        Box::pin(async move { D::run(connection, &self.statement).await.map_err(Into::into) })
    }

    fn wakes(&self, answer: &Option<R>, wakes: &mut Wakes) {
        if let Some(row) = answer {
            (self.tell)(row, wakes);
        }
    }
}

#[cfg(feature = "postgres")]
impl<D, S, W> Combined<D> for Telling<S, W>
where
    D: Dialect,
    S: Combines,
    Self: Operation<D, Answer = S::Output>,
{
    type Params = S;

    fn params(&self) -> &S {
        &self.statement
    }

    fn answered(&self, output: S::Output) -> Option<S::Output> {
        Some(output)
    }
}
