//! Leaving: a backend that is to be closed takes no more work, and lets what it took come to its end.

use std::future::Future;
use std::time::Duration;

use ff_core::engine_error::EngineError;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Backend;
use crate::db::Dialect;

/// The longest that is waited, whatever is allowed: beyond that a point in time may not be counted any more.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Whether a backend still takes work.
#[derive(Debug)]
pub(super) struct Drain {
    closed: watch::Sender<bool>,
}

impl Default for Drain {
    fn default() -> Self {
        Self { closed: watch::Sender::new(false) }
    }
}

impl Drain {
    /// Whether it does not.
    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Runs a claim while work is taken. One that is under way when that ends is dropped, and gives back what it has taken by
    /// then; it answers as one that found nothing.
    pub(super) async fn unless_closed<T>(
        &self,
        nothing: T,
        claim: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => Ok(nothing),
            answer = claim => answer,
        }
    }
}

impl<D: Dialect> Backend<D> {
    /// Takes no more work, waits for what runs, and ends the sweeps, in this order and until `grace` is over. What still
    /// runs then may go on, here or through another process, until its lease runs out.
    pub(super) async fn drain(&self, grace: Duration) {
        let begun = Instant::now();
        self.shared.drain.closed.send_replace(true);
        let grace = grace.min(LONGEST);
        let left = self.engine().running().ended(begun + grace).await;
        if left > 0 {
            tracing::warn!(left, "executions still run under leases that were taken here");
        }
        self.sweeps().shutdown(grace.saturating_sub(begun.elapsed())).await;
    }
}
