//! The only source of "now".
//!
//! Every operation takes the time from here once and hands it down as a parameter, so that a test can
//! freeze it. The database's own clock is not read here; `server_time_ms` asks for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time in milliseconds since the Unix epoch: the system's, or one that a test sets.
///
/// Clones of a frozen clock show the same time.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    frozen: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that stands still at `now_ms` until it is set.
    #[must_use]
    pub fn frozen(now_ms: i64) -> Self {
        Self { frozen: Some(Arc::new(AtomicI64::new(now_ms))) }
    }

    /// Moves a frozen clock to `now_ms`; the system's clock stays as it is.
    pub fn set(&self, now_ms: i64) {
        if let Some(frozen) = &self.frozen {
            frozen.store(now_ms, Ordering::SeqCst);
        }
    }

    /// Milliseconds since the Unix epoch. A system clock before the epoch counts as the epoch.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        match &self.frozen {
            Some(frozen) => frozen.load(Ordering::SeqCst),
            None => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_clock_moves_only_when_set_and_its_clones_follow() {
        let clock = Clock::frozen(7);
        let clone = clock.clone();
        assert_eq!((clock.now_ms(), clone.now_ms()), (7, 7));
        clock.set(9);
        assert_eq!(clone.now_ms(), 9);
    }

    #[test]
    fn the_system_clock_cannot_be_set() {
        let clock = Clock::system();
        clock.set(1);
        assert!(clock.now_ms() > 1_600_000_000_000);
    }
}
