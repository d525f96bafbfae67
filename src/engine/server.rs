//! The database itself: whether it answers, and what its clock says.

use std::time::{Duration, Instant};

use ff_core::engine_error::EngineError;

use crate::clock::TOLERATED_MS;
use crate::db::Dialect;
use crate::engine::Engine;
use crate::model::id::corruption;
use crate::statements::server;

/// How long a server may take to tell the time and be believed. Half of it is how wrong the answer may be.
const BELIEVED: Duration = Duration::from_millis(200);

/// Asks the database for a sign of life. Changes nothing.
pub(crate) async fn ping<D: Dialect>(engine: &Engine<D>) -> Result<(), EngineError> {
    engine.db().read(server::ServerPingParams).await?;
    Ok(())
}

/// The database's own clock in milliseconds since the epoch. Changes nothing.
///
/// # Errors
/// `Validation(Corruption)` when that clock stands before the epoch.
pub(crate) async fn time_ms<D: Dialect>(engine: &Engine<D>) -> Result<u64, EngineError> {
    let row = engine.db().read(server::ServerTimeParams).await?;
    u64::try_from(row.now_ms).map_err(|_| corruption("server_time_ms: negative epoch"))
}

/// Has the engine's clock go on from what the server's shows. Answers how far the host's clock is ahead of that; none
/// where it agrees with it well enough.
pub(crate) async fn follow_clock<D: Dialect>(engine: &Engine<D>) -> Result<Option<i64>, EngineError> {
    let asked = Instant::now();
    let row = engine.db().read(server::ServerTimeParams).await?;
    let (took, clock) = (asked.elapsed(), engine.clock());
    if took <= BELIEVED || !clock.is_told() {
        clock.follow(row.now_ms, asked + took / 2);
    }
    Ok(Some(clock.host_is_ahead_ms()).filter(|ahead_ms| ahead_ms.unsigned_abs() > TOLERATED_MS))
}
