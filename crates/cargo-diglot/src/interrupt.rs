//! Ctrl-C and its relatives, as something to wait for.
//!
//! Signals are caught from the moment of [`Interrupts::catch`] on, so that values with clean-up in their
//! `Drop` (the throwaway server, a scratch database) are dropped and not cut off.

use std::future;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask to stop.
pub(crate) struct Interrupts {
    caught: Vec<(u8, Signal)>,
}

impl Interrupts {
    /// Starts catching; must run inside a runtime.
    pub(crate) fn catch() -> io::Result<Self> {
        let kinds = [(1, SignalKind::hangup()), (2, SignalKind::interrupt()), (15, SignalKind::terminate())];
        let caught = kinds.into_iter().map(|(number, kind)| Ok((number, signal(kind)?))).collect::<io::Result<_>>()?;
        Ok(Self { caught })
    }

    /// Waits for the next one and gives its number.
    pub(crate) async fn next(&mut self) -> u8 {
        future::poll_fn(|context| {
            for (number, signal) in &mut self.caught {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(*number);
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}
