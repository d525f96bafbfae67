//! Calls in one transaction that one statement makes as well, where nothing special is asked for.
//!
//! That statement gives a row then. Where it gives none, the calls do what is to be done, or say what is in the way.

use ff_core::EngineError;
use futures_core::future::BoxFuture;

#[cfg(feature = "postgres")]
use super::dialect::{Combined, Combines};
use super::dialect::{Dialect, Kind, Operation, Patience, Store as _};
use super::error::Abort;
use super::{Call, Db, Wakes};
use crate::statements::Statement;

/// What a plain statement may be: with Postgres, one that goes with those of other callers.
#[cfg(feature = "postgres")]
pub(crate) trait Plain: Combines {}
#[cfg(feature = "postgres")]
impl<S: Combines> Plain for S {}

/// What a plain statement may be.
#[cfg(not(feature = "postgres"))]
pub(crate) trait Plain: Statement + 'static {}
#[cfg(not(feature = "postgres"))]
impl<S: Statement + 'static> Plain for S {}

impl<D: Dialect> Db<D> {
    /// Runs the plain statement, and the calls in one transaction where it gives no row; `of_row` makes the answer of what
    /// it gives.
    pub(crate) async fn write_plainly<S, R, P, T, F, O, W>(
        &self,
        name: &'static str,
        (statement, of_row): (S, F),
        params: P,
        op: O,
        wakes: W,
    ) -> Result<T, EngineError>
    where
        S: Plain + Statement<Output = Option<R>>,
        R: Send + 'static,
        P: Send + Sync + 'static,
        T: Send + 'static,
        F: Fn(R) -> T + Send + Sync + 'static,
        O: for<'a> Fn(&'a mut D::Connection, &'a P) -> BoxFuture<'a, Result<T, Abort>> + Send + Sync + 'static,
        W: Fn(&P, &T, &mut Wakes) + Send + Sync + 'static,
    {
        let call = self.call(name, Kind::Write, params, op, wakes);
        let plainly = Plainly { statement, of_row, call };
        #[cfg(feature = "postgres")]
        let ended = self.store.run_combined(plainly).await;
        #[cfg(not(feature = "postgres"))]
        let ended = self.store.run(plainly).await;
        ended
    }
}

/// The calls, with the statement.
struct Plainly<S, F, P, O, W> {
    statement: S,
    of_row: F,
    call: Call<P, O, W>,
}

impl<D, S, R, P, T, F, O, W> Operation<D> for Plainly<S, F, P, O, W>
where
    D: Dialect,
    S: Plain + Statement<Output = Option<R>>,
    R: Send + 'static,
    P: Send + Sync + 'static,
    T: Send + 'static,
    F: Fn(R) -> T + Send + Sync + 'static,
    O: for<'a> Fn(&'a mut D::Connection, &'a P) -> BoxFuture<'a, Result<T, Abort>> + Send + Sync + 'static,
    W: Fn(&P, &T, &mut Wakes) + Send + Sync + 'static,
{
    type Answer = T;

    fn name(&self) -> &'static str {
        self.call.name
    }

    fn kind(&self) -> Kind {
        self.call.kind
    }

    fn patience(&self) -> Patience {
        self.call.patience
    }

    fn run<'a>(&'a self, connection: &'a mut D::Connection) -> BoxFuture<'a, Result<T, Abort>> {
        Box::pin(async move {
            if D::TRIES_PLAINLY
                && let Some(row) = self.statement.run(&mut *connection).await?
            {
                return Ok((self.of_row)(row));
            }
            (self.call.op)(connection, &self.call.params).await
        })
    }

    fn wakes(&self, answer: &T, wakes: &mut Wakes) {
        (self.call.wakes)(&self.call.params, answer, wakes);
    }
}

#[cfg(feature = "postgres")]
impl<D, S, R, T, F, P, O, W> Combined<D> for Plainly<S, F, P, O, W>
where
    D: Dialect,
    R: 'static,
    S: Combines + Statement<Output = Option<R>>,
    F: Fn(R) -> T,
    Self: Operation<D, Answer = T>,
{
    type Params = S;

    fn params(&self) -> &S {
        &self.statement
    }

    fn answered(&self, output: Option<R>) -> Option<T> {
        output.map(&self.of_row)
    }
}
