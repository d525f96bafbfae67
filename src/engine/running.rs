//! The leases that were taken through this process and are not over, for whoever wants to leave only when nothing runs.
//!
//! A lease is over when its worker says so here, or when its time has passed and nobody has moved it here: its worker may
//! have gone to another process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::column::ExecutionUuid;

/// The longest lease that is waited for: beyond that a point in time may not be counted any more.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How many leases are known before those are looked for whose time has passed.
const CLEARED_AT: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct Running {
    leases: Mutex<Leases>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct Leases {
    until: HashMap<ExecutionUuid, Instant>,
    /// When those whose time has passed are looked for next.
    cleared_at: usize,
}

impl Running {
    /// A lease was taken, or its end was moved.
    pub(crate) fn goes_on(&self, execution_id: ExecutionUuid, lease_ttl_ms: u64) {
        let now = Instant::now();
        let mut leases = self.leases();
        leases.until.insert(execution_id, now + Duration::from_millis(lease_ttl_ms).min(LONGEST));
        if leases.until.len() > leases.cleared_at.max(CLEARED_AT) {
            leases.until.retain(|_, until| *until > now);
            leases.cleared_at = leases.until.len() * 2;
        }
    }

    /// The worker let a lease go.
    pub(crate) fn is_over(&self, execution_id: ExecutionUuid) {
        let mut leases = self.leases();
        if leases.until.remove(&execution_id).is_some() && leases.until.is_empty() {
            self.ended.notify_waiters();
        }
    }

    /// Waits until no lease is left, but not beyond that time; answers how many are.
    pub(crate) async fn ended(&self, deadline: Instant) -> usize {
        loop {
            let ended = self.ended.notified();
            let next = {
                let (now, mut leases) = (Instant::now(), self.leases());
                leases.until.retain(|_, until| *until > now);
                match leases.until.values().min() {
                    None => return 0,
                    Some(_) if now >= deadline => return leases.until.len(),
                    Some(next) => *next,
                }
            };
            let _ = timeout_at(next.min(deadline), ended).await;
        }
    }

    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner) // tidy: a map has no half-done state
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn id(number: u128) -> ExecutionUuid {
        ExecutionUuid::from(Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn nothing_is_waited_for_where_nothing_runs() {
        assert_eq!(Running::default().ended(Instant::now() + LONG).await, 0);
    }

    #[tokio::test]
    async fn what_runs_is_waited_for_and_counted_when_the_time_is_over() {
        let running = Running::default();
        running.goes_on(id(1), 600_000);
        running.goes_on(id(2), 600_000);
        assert_eq!(running.ended(Instant::now()).await, 2);
        running.is_over(id(2));
        let (left, ()) = tokio::join!(running.ended(Instant::now() + LONG), async { running.is_over(id(1)) });
        assert_eq!(left, 0);
    }

    #[tokio::test]
    async fn a_lease_whose_time_has_passed_is_over() {
        let running = Running::default();
        running.goes_on(id(1), 1);
        assert_eq!(running.ended(Instant::now() + LONG).await, 0);
    }

    #[test]
    fn leases_that_nobody_ends_are_not_kept() {
        let running = Running::default();
        (0..10_000).for_each(|number| running.goes_on(id(number), 0));
        assert!(running.leases().until.len() <= CLEARED_AT + 1);
    }
}
