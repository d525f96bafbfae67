//! The database itself: whether it answers, and what its clock says.

use ff_core::engine_error::EngineError;

use crate::db::Dialect;
use crate::engine::Engine;
use crate::model::id::corruption;
use crate::statements::server;

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
