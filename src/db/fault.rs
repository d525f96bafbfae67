//! Faults on demand, so that tests see what a failing database does.
//!
//! Unset, the hook costs one atomic load per step.

use std::sync::{Arc, OnceLock};

/// A place where the door can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Before a transaction begins. The name is that of its first operation.
    Begin,
    /// Before an operation runs on a connection.
    Run,
    /// Before the commit.
    Commit,
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
}
