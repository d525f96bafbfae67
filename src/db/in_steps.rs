//! Statements that take steps where the tables are spread.
//!
//! Over several nodes a statement that inserts beside something else is never one task. There it takes steps, each on one
//! shard: what it changes, then each of its events and whatever else it inserts by a statement of its own, all in one
//! transaction. On one node it is the one statement that it is.

#[cfg(feature = "postgres")]
use futures_core::future::BoxFuture;
#[cfg(feature = "postgres")]
use sqlx::PgConnection;

use crate::statements::Statement;

#[cfg(feature = "postgres")]
tokio::task_local! {
    /// Set while an operation runs in a database whose tables are spread.
    static SPREAD: ();
}

/// Runs something in a database whose tables are spread.
#[cfg(feature = "postgres")]
pub(super) async fn spread<F: Future>(work: F) -> F::Output {
    SPREAD.scope((), work).await
}

/// Whether this task is at work in such a database.
#[cfg(feature = "postgres")]
pub(super) fn is_spread() -> bool {
    SPREAD.try_with(|()| ()).is_ok()
}

/// The steps of a statement on their way.
#[cfg(feature = "postgres")]
pub(crate) type Stepping<'a, S> = BoxFuture<'a, Result<<S as Statement>::Output, sqlx::Error>>;

/// A statement that may take steps.
pub trait InSteps: Statement {
    /// Runs it in steps; by itself where it is one task as it is, or where something else is done in its place.
    #[cfg(feature = "postgres")]
    fn in_steps<'a>(&'a self, connection: &'a mut PgConnection) -> Stepping<'a, Self> {
        Box::pin(self.run(connection))
    }
}

#[cfg(not(feature = "postgres"))]
impl<S: Statement> InSteps for S {}
