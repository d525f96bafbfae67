//! What there is on each lane, counted for whoever watches.

use ff_core::engine_error::EngineError;
use ff_core::state::PublicState;

use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::round::Report;
use crate::engine::shown::Counted;
use crate::metric;
use crate::statements::measure;

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
