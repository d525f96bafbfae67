//! Faults on demand, so that tests see what a failing database does.
//!
//! Unset, the hook costs one atomic load per step.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::Poll;

/// A place where the door can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Before a transaction begins. The name is that of its first operation.
    Begin,
    /// Before an operation runs on a connection.
    Run,
    /// Before an operation goes on after each of its awaits: every call inside a transaction can fail, and
    /// the answer of a statement can get lost after it took effect.
    Await,
    /// Before the commit.
    Commit,
    /// Before SQLite's log is written to the disk: after a commit, where a failure is the end of the backend, and
    /// once when the file is opened, under the name `open`, where a failure refuses it.
    Sync,
    /// Before the pages of SQLite's log are moved to the file. A failure there is the end of the backend.
    Checkpoint,
}

/// Answers `Some` error where a test wants the door to fail: the step and the operation's name go in.
pub type FaultHook = dyn Fn(Step, &'static str) -> Option<sqlx::Error> + Send + Sync;

/// The hook of one backend; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    hook: Arc<OnceLock<Box<FaultHook>>>,
}

impl Faults {
    /// Sets the hook, once; a second hook is ignored.
    pub(crate) fn set(&self, hook: Box<FaultHook>) {
        let _ = self.hook.set(hook);
    }

    /// Asks the hook.
    pub(super) fn check(&self, step: Step, name: &'static str) -> Result<(), sqlx::Error> {
        match self.hook.get().and_then(|hook| hook(step, name)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Runs an operation that the hook may end at any of its awaits. What was running is dropped then.
    pub(super) async fn watch<T, E, F>(&self, name: &'static str, running: F) -> Result<T, E>
    where
        E: From<sqlx::Error>,
        F: Future<Output = Result<T, E>>,
    {
        if self.hook.get().is_none() {
            return running.await;
        }
        let mut running = pin!(running);
        poll_fn(|context| match self.check(Step::Await, name) {
            Ok(()) => running.as_mut().poll(context),
            Err(error) => Poll::Ready(Err(error.into())),
        })
        .await
    }
}
