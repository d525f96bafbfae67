//! Leaving: a backend that is to be closed takes no more work, and lets what it took come to its end.

use std::future::Future;

use ff_core::engine_error::EngineError;
use tokio::sync::watch;

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
    /// From here on it does not.
    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Whether it does not.
    #[cfg(feature = "sqlite")]
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
