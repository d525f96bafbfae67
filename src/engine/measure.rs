//! What there is on each lane, counted for whoever watches.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ff_core::engine_error::EngineError;
use ff_core::state::PublicState;

use crate::column::LaneName;
use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::round::Report;
use crate::metric;
use crate::statements::measure;

/// The lanes and states of which something was told: where nothing is any more, that is told as well.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    queues: Mutex<BTreeSet<Queue>>,
}

type Queue = (LaneName, &'static str);

/// What is counted of a lane and a state: how much, and since when the oldest is there.
struct Counted {
    queue: Queue,
    depth: i64,
    oldest_at_ms: i64,
}

/// The rows of a list, which have a type of their own for each state.
macro_rules! counted {
    ($rows:expr, $state:ident) => {
        $rows.into_iter().map(|row| Counted {
            queue: (row.lane_id, PublicState::$state.as_str()),
            depth: row.depth,
            oldest_at_ms: row.oldest_at_ms,
        })
    };
}

/// One run of the sweep: counts, and tells.
pub(crate) async fn sweep<D: Dialect>(engine: &Engine<D>) -> Result<Report, EngineError> {
    let db = engine.db();
    let mut all: Vec<Counted> = counted!(db.survey(measure::MeasureWaitingListParams).await?, Waiting).collect();
    all.extend(counted!(db.survey(measure::MeasureDelayedListParams).await?, Delayed));
    all.extend(counted!(db.survey(measure::MeasureRunningListParams).await?, Active));
    all.extend(counted!(db.survey(measure::MeasureBlockedListParams).await?, RateLimited));
    engine.shown().tell(&all, engine.now_ms());
    metric::waiting(db.waiters().asleep());
    db.measure();
    Ok(Report::default())
}

impl Shown {
    fn tell(&self, all: &[Counted], now_ms: i64) {
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
