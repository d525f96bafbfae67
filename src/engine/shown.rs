//! What was told of the queues.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::column::LaneName;
use crate::metric;

/// The lanes and states of which something was told: where nothing is any more, that is told as well.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    queues: Mutex<BTreeSet<Queue>>,
}

/// A lane and a state.
pub(crate) type Queue = (LaneName, &'static str);

/// What is counted of a lane and a state: how much, and since when the oldest is there.
pub(crate) struct Counted {
    pub(crate) queue: Queue,
    pub(crate) depth: i64,
    pub(crate) oldest_at_ms: i64,
}

impl Shown {
    /// Tells whoever watches.
    pub(crate) fn tell(&self, all: &[Counted], now_ms: i64) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner); // tidy: a set has no half-done state
        let now: BTreeSet<Queue> = all.iter().map(|counted| counted.queue.clone()).collect();
        for (lane, state) in queues.difference(&now) {
            metric::queued(lane.text(), state, 0, Duration::ZERO);
        }
        for Counted { queue: (lane, state), depth, oldest_at_ms } in all {
            let age_ms = now_ms.saturating_sub(*oldest_at_ms).max(0).unsigned_abs();
            metric::queued(lane.text(), state, *depth, Duration::from_millis(age_ms));
        }
        *queues = now;
    }
}
