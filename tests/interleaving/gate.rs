//! Halting one of two operations at its steps.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ff_backend_sql::testing::{Step, called_by, caller};
use futures_core::future::BoxFuture;
use tokio::sync::watch;

/// Counts the places where an operation can be stopped, and stops it at one.
pub(crate) struct Gate {
    stop_at: Option<usize>,
    passed: AtomicUsize,
    /// How often the write under way has gone on; none outside of one.
    has_begun: AtomicBool,
    is_write: AtomicBool,
    resumed: AtomicUsize,
    /// The calls that were come by, outside of writes.
    called: Mutex<BTreeSet<&'static str>>,
    state: watch::Sender<State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Halted,
    Released,
}

impl Gate {
    /// A gate that stops at that place, counted from 0.
    pub(crate) fn new(stop_at: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            stop_at,
            passed: AtomicUsize::new(0),
            has_begun: AtomicBool::new(false),
            is_write: AtomicBool::new(false),
            resumed: AtomicUsize::new(0),
            called: Mutex::default(),
            state: watch::Sender::new(State::Running),
        })
    }

    /// Plays an operation whose steps come by here.
    pub(crate) async fn play<F: Future>(self: Arc<Self>, operation: F) -> F::Output {
        called_by(self, operation).await
    }

    /// Waits until the operation stands at its place.
    pub(crate) async fn halted(&self) {
        self.state.subscribe().wait_for(|state| *state != State::Running).await.expect("the gate is here");
    }

    /// Lets the operation go on.
    pub(crate) fn release(&self) {
        self.state.send_replace(State::Released);
    }

    /// Whether a step is a place of its own: before each statement and before the commit. A transaction's begin and
    /// its first statement are one place, since nothing is locked or read between them; so are the end of a call
    /// that is atomic by itself and the begin of what follows. A call that is repeated for every partition is a place once.
    fn is_place(&self, step: Step, name: &'static str) -> bool {
        match step {
            Step::Begin => {
                self.has_begun.store(true, Ordering::Relaxed);
                false
            }
            Step::Run => {
                let is_write = self.has_begun.swap(false, Ordering::Relaxed);
                self.is_write.store(is_write, Ordering::Relaxed);
                self.resumed.store(0, Ordering::Relaxed);
                is_write || self.called.lock().expect("nobody panics here").insert(name)
            }
            Step::Await => self.resumed.fetch_add(1, Ordering::Relaxed) > 0 && self.is_write.load(Ordering::Relaxed),
            Step::Commit => true,
            _ => false,
        }
    }

    fn at(&self, step: Step, name: &'static str) -> Option<BoxFuture<'static, ()>> {
        if !self.is_place(step, name) || Some(self.passed.fetch_add(1, Ordering::Relaxed)) != self.stop_at {
            return None;
        }
        self.state.send_replace(State::Halted);
        let mut state = self.state.subscribe();
        Some(Box::pin(async move {
            // A gate that went away stops nobody.
            let _ = state.wait_for(|state| *state == State::Released).await;
        }))
    }
}

/// Holds back what a backend does by itself while two operations are played.
#[derive(Clone)]
pub(crate) struct Background {
    is_held: watch::Sender<bool>,
}

impl Background {
    pub(crate) fn new() -> Self {
        Self { is_held: watch::Sender::new(false) }
    }

    pub(crate) fn hold(&self) {
        self.is_held.send_replace(true);
    }

    pub(crate) fn release(&self) {
        self.is_held.send_replace(false);
    }

    /// What the backend asks at every step.
    pub(crate) fn at(&self, step: Step, name: &'static str) -> Option<BoxFuture<'static, ()>> {
        // What runs for no operation is work in the background.
        if let Some(gate) = caller().and_then(|caller| caller.downcast::<Gate>().ok()) {
            return gate.at(step, name);
        }
        let mut is_held = self.is_held.subscribe();
        let held = *is_held.borrow_and_update() && step != Step::Await;
        held.then(|| -> BoxFuture<'static, ()> {
            Box::pin(async move {
                let _ = is_held.wait_for(|is_held| !is_held).await;
            })
        })
    }
}
