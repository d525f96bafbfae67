//! Whether an operation runs in a database whose tables are spread, where many statements take steps.
//!
//! Over several nodes a statement that inserts beside something else is never one task. There it takes the steps that are
//! generated of it, each on one shard, all in one transaction. On one node it is the one statement that it is.

tokio::task_local! {
    /// Set while an operation runs in a database whose tables are spread.
    static SPREAD: ();
}

/// Runs something in a database whose tables are spread.
pub(super) async fn spread<F: Future>(work: F) -> F::Output {
    SPREAD.scope((), work).await
}

/// Whether this task is at work in such a database.
pub(super) fn is_spread() -> bool {
    SPREAD.try_with(|()| ()).is_ok()
}
