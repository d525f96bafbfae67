//! Faults and halts on demand, so that tests see what a failing database does, and what operations do to one
//! another that are under way at the same time.
//!
//! Unset, the hook costs one atomic load per step.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use futures_core::future::BoxFuture;

/// A place where the door can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Before a transaction begins. The name is that of its first operation.
    Begin,
    /// Before an operation that waited too long for its turn leaves those who wait, and goes alone.
    Leave,
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

/// Answers what an operation waits for at a step of the door, `None` to go on at once.
pub type HoldHook = dyn Fn(Step, &'static str) -> Option<BoxFuture<'static, ()>> + Send + Sync;

/// Who asked for an operation, as a test knows them.
pub type Caller = Arc<dyn Any + Send + Sync>;

tokio::task_local! {
    static CALLER: Caller;
}

/// Runs something for a caller. Whatever it has run in tasks of their own is the caller's as well.
pub async fn called_by<F: Future>(caller: Caller, work: F) -> F::Output {
    CALLER.scope(caller, work).await
}

/// For whom this task works, when a test said so.
pub fn caller() -> Option<Caller> {
    CALLER.try_with(Arc::clone).ok()
}

/// Work that goes to a task of its own, with its caller.
pub(crate) fn inherited<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let caller = caller();
    async move {
        match caller {
            Some(caller) => called_by(caller, work).await,
            None => work.await,
        }
    }
}

/// What a test asked of the door.
enum Hook {
    Fail(Box<FaultHook>),
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "only the door of Postgres has places to halt at"))]
    Hold(Box<HoldHook>),
}

/// The hook of one backend; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    hook: Arc<OnceLock<Hook>>,
}

impl Faults {
    /// Sets the hook, once; a second hook is ignored.
    pub(crate) fn set(&self, hook: Box<FaultHook>) {
        let _ = self.hook.set(Hook::Fail(hook));
    }

    /// The same with a hook that halts operations instead. Only the door of Postgres has places to halt at: SQLite's
    /// operations run one after the other.
    #[cfg(feature = "postgres")]
    pub(crate) fn set_holding(&self, hook: Box<HoldHook>) {
        let _ = self.hook.set(Hook::Hold(hook));
    }

    /// Asks the hook whether to fail.
    pub(super) fn check(&self, step: Step, name: &'static str) -> Result<(), sqlx::Error> {
        match self.hook.get() {
            Some(Hook::Fail(hook)) => hook(step, name).map_or(Ok(()), Err),
            Some(Hook::Hold(_)) | None => Ok(()),
        }
    }

    /// Asks the hook whether to fail or to wait, and waits.
    #[cfg(feature = "postgres")]
    pub(super) async fn pass(&self, step: Step, name: &'static str) -> Result<(), sqlx::Error> {
        if let Some(held) = self.hold(step, name) {
            held.await;
        }
        self.check(step, name)
    }

    fn hold(&self, step: Step, name: &'static str) -> Option<BoxFuture<'static, ()>> {
        match self.hook.get() {
            Some(Hook::Hold(hook)) => hook(step, name),
            Some(Hook::Fail(_)) | None => None,
        }
    }

    /// Runs an operation that the hook may end or halt at any of its awaits. What was running is dropped at its end.
    pub(super) async fn watch<T, E, F>(&self, name: &'static str, running: F) -> Result<T, E>
    where
        E: From<sqlx::Error>,
        F: Future<Output = Result<T, E>>,
    {
        if self.hook.get().is_none() {
            return running.await;
        }
        let mut running = pin!(running);
        let mut held = None;
        poll_fn(|context| {
            let halt = held.get_or_insert_with(|| self.hold(Step::Await, name));
            if halt.as_mut().is_some_and(|halt| halt.as_mut().poll(context).is_pending()) {
                return Poll::Pending;
            }
            held = None;
            match self.check(Step::Await, name) {
                Ok(()) => running.as_mut().poll(context),
                Err(error) => Poll::Ready(Err(error.into())),
            }
        })
        .await
    }
}
