//! What there is on each lane, counted for whoever watches.

use ff_core::engine_error::EngineError;
use ff_core::state::PublicState;

use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::round::Report;
use crate::engine::shown::Counted;
use crate::metric;
use crate::model::manage::{ListedState, QueueCount};
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

/// Counts.
async fn counted<D: Dialect>(engine: &Engine<D>) -> Result<Vec<Counted>, EngineError> {
    let db = engine.db();
    let mut all: Vec<Counted> = counted!(db.survey(measure::MeasureWaitingListParams).await?, Waiting).collect();
    all.extend(counted!(db.survey(measure::MeasureDelayedListParams).await?, Delayed));
    all.extend(counted!(db.survey(measure::MeasureRunningListParams).await?, Active));
    all.extend(counted!(db.survey(measure::MeasureBlockedListParams).await?, RateLimited));
    Ok(all)
}

/// Counts, for whoever asks.
pub(crate) async fn count<D: Dialect>(engine: &Engine<D>) -> Result<Vec<QueueCount>, EngineError> {
    let shown = |Counted { queue: (lane, state), depth, oldest_at_ms }| QueueCount {
        lane: lane.shown(),
        state: state.parse().unwrap_or(ListedState::Unknown), // tidy: one of the four above
        depth,
        oldest_at_ms,
    };
    Ok(counted(engine).await?.into_iter().map(shown).collect())
}

/// One run of the sweep: counts, and tells.
pub(crate) async fn sweep<D: Dialect>(engine: &Engine<D>) -> Result<Report, EngineError> {
    let (db, all) = (engine.db(), counted(engine).await?);
    engine.shown().tell(&all, engine.now_ms());
    metric::waiting(db.waiters().asleep());
    db.measure();
    Ok(Report::default())
}
