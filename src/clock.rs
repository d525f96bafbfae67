//! The only source of "now".
//!
//! Every operation takes the time from here once and hands it down as a parameter, so that a test can
//! freeze it.
//!
//! Processes judge one another's leases, delays and deadlines. Those on a file share a host and its clock. Those on a
//! server do not, and a host whose clock is ahead would take everybody's work; so there the server's clock is everybody's.
//! A clock of a server is told what that shows, again and again, and in between goes on by the host's monotonic clock,
//! which nobody sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How far a host's clock may be apart from the one that counts before the times that its program hands over as "now"
/// are corrected.
pub(crate) const TOLERATED_MS: u64 = 1_000;

/// What stands for a time that nobody has told.
const UNTOLD_MS: i64 = i64::MIN;

/// Tells the time in milliseconds since the Unix epoch: the host's, a server's, or one that a test sets.
///
/// Clones show the same time.
#[derive(Debug, Clone)]
pub struct Clock {
    source: Arc<Source>,
}

#[derive(Debug)]
enum Source {
    Host,
    Server {
        began: Instant,
        /// What the server's clock showed when this one began.
        began_at_ms: AtomicI64,
        /// How far the host's clock is ahead of what it should show, as a test has it.
        host_is_ahead_ms: i64,
    },
    Frozen {
        now_ms: AtomicI64,
        /// How far the host's clock is ahead of this one, as a test has it.
        host_is_ahead_ms: i64,
    },
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl Clock {
    fn new(source: Source) -> Self {
        Self { source: Arc::new(source) }
    }

    /// The host's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::new(Source::Host)
    }

    /// A server's clock, and the host's until the server has told the time.
    #[must_use]
    pub fn of_server() -> Self {
        Self::of_server_from(0)
    }

    /// The same on a host whose clock is that much ahead, or behind where it is less than nothing.
    #[must_use]
    pub fn of_server_from(host_is_ahead_ms: i64) -> Self {
        Self::new(Source::Server { began: Instant::now(), began_at_ms: AtomicI64::new(UNTOLD_MS), host_is_ahead_ms })
    }

    /// A clock that stands still at `now_ms` until it is set.
    #[must_use]
    pub fn frozen(now_ms: i64) -> Self {
        Self::frozen_on_host(now_ms, 0)
    }

    /// The same as a server's on a host whose clock is that much ahead, or behind where it is less than nothing.
    #[must_use]
    pub fn frozen_on_host(now_ms: i64, host_is_ahead_ms: i64) -> Self {
        Self::new(Source::Frozen { now_ms: AtomicI64::new(now_ms), host_is_ahead_ms })
    }

    /// Moves a frozen clock to `now_ms`; any other stays as it is.
    pub fn set(&self, now_ms: i64) {
        if let Source::Frozen { now_ms: frozen, .. } = &*self.source {
            frozen.store(now_ms, Ordering::SeqCst);
        }
    }

    /// Milliseconds since the Unix epoch. A host's clock before the epoch counts as the epoch.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        match &*self.source {
            Source::Frozen { now_ms, .. } => now_ms.load(Ordering::SeqCst),
            Source::Server { began, began_at_ms, .. } => match began_at_ms.load(Ordering::Relaxed) {
                UNTOLD_MS => self.host_ms(),
                told => told.saturating_add(millis(began.elapsed().as_millis())),
            },
            Source::Host => self.host_ms(),
        }
    }

    /// Whether it follows a server's.
    pub(crate) fn is_of_server(&self) -> bool {
        matches!(&*self.source, Source::Server { .. })
    }

    /// Whether the clock that counts is known: false while a server has not told the time.
    pub(crate) fn is_told(&self) -> bool {
        match &*self.source {
            Source::Server { began_at_ms, .. } => began_at_ms.load(Ordering::Relaxed) != UNTOLD_MS,
            Source::Host | Source::Frozen { .. } => true,
        }
    }

    /// Goes on from what the server's clock showed at a moment.
    pub(crate) fn follow(&self, shown_ms: i64, at: Instant) {
        if let Source::Server { began, began_at_ms, .. } = &*self.source {
            let since = millis(at.saturating_duration_since(*began).as_millis());
            began_at_ms.store(shown_ms.saturating_sub(since), Ordering::Relaxed);
        }
    }

    /// How far the host's clock is ahead of this one.
    pub(crate) fn host_is_ahead_ms(&self) -> i64 {
        match &*self.source {
            Source::Server { .. } if self.is_told() => self.host_ms().saturating_sub(self.now_ms()),
            Source::Frozen { host_is_ahead_ms, .. } => *host_is_ahead_ms,
            Source::Server { .. } | Source::Host => 0,
        }
    }

    /// What the program took from the host's clock, by this clock. As it is while the two agree.
    pub(crate) fn corrected_ms(&self, given_ms: i64) -> i64 {
        let ahead_ms = self.host_is_ahead_ms();
        if ahead_ms.unsigned_abs() > TOLERATED_MS { given_ms.saturating_sub(ahead_ms) } else { given_ms }
    }

    fn host_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let shown_ms = millis(since.as_millis());
        match &*self.source {
            Source::Server { host_is_ahead_ms, .. } => shown_ms.saturating_add(*host_is_ahead_ms),
            Source::Host | Source::Frozen { .. } => shown_ms,
        }
    }
}

fn millis(given: u128) -> i64 {
    i64::try_from(given).unwrap_or(i64::MAX)
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

    #[test]
    fn a_servers_clock_counts_whatever_the_host_shows() {
        const HOUR_MS: i64 = 3_600_000;
        for host_is_ahead_ms in [-24 * HOUR_MS, -2_000, 0, 2_000, 24 * HOUR_MS] {
            let clock = Clock::of_server_from(host_is_ahead_ms);
            let server_ms = Clock::system().now_ms();
            assert!(!clock.is_told());
            assert!(clock.now_ms() - server_ms >= host_is_ahead_ms, "the host's, until the server has told its own");
            clock.follow(server_ms, Instant::now());
            let passed_ms = clock.now_ms() - server_ms;
            assert!(clock.is_told() && (0..HOUR_MS).contains(&passed_ms), "{host_is_ahead_ms}: {passed_ms}");
            let given_ms = server_ms + host_is_ahead_ms;
            let off_ms = clock.corrected_ms(given_ms) - server_ms;
            assert!(off_ms.abs() < HOUR_MS, "{host_is_ahead_ms}: {off_ms}");
        }
    }

    #[test]
    fn a_frozen_clock_corrects_what_a_host_that_is_wrong_shows() {
        for host_is_ahead_ms in [-3_600_000, 5_000] {
            let clock = Clock::frozen_on_host(7, host_is_ahead_ms);
            assert_eq!((clock.now_ms(), clock.corrected_ms(9 + host_is_ahead_ms)), (7, 9));
        }
    }

    #[test]
    fn what_agrees_is_not_corrected() {
        let clock = Clock::of_server();
        clock.follow(Clock::system().now_ms() + 100, Instant::now());
        assert_eq!(clock.corrected_ms(7), 7);
        assert_eq!((Clock::frozen(5).corrected_ms(7), Clock::system().corrected_ms(7)), (7, 7));
    }
}
