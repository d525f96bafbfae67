//! Keeps an engine's clock at its server's time: see [`crate::clock`].

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::db::Dialect;
use crate::engine::{Engine, WeakEngine, server};

/// How long after an answer the server is asked again. The host's monotonic clock loses or gains less than a millisecond
/// in that time, unless the host is suspended.
const BETWEEN: Duration = Duration::from_secs(5);

/// Starts following, if the engine's clock is a server's and there is a tokio runtime. It ends when the engine is gone.
pub(crate) fn start<D: Dialect>(engine: &Engine<D>) {
    if engine.clock().is_of_server()
        && let Ok(runtime) = Handle::try_current()
    {
        runtime.spawn(follow(engine.downgrade()));
    }
}

async fn follow<D: Dialect>(engine: WeakEngine<D>) {
    let mut was_apart = false;
    loop {
        let Some(engine) = engine.upgrade() else { return };
        match server::follow_clock(&engine).await {
            Ok(ahead_ms) => {
                match ahead_ms {
                    Some(ahead_ms) if !was_apart => {
                        tracing::warn!(ahead_ms, "this host's clock is wrong by the database's, which counts");
                    }
                    None if was_apart => tracing::info!("this host's clock agrees with the database's again"),
                    _ => {}
                }
                was_apart = ahead_ms.is_some();
            }
            Err(error) => tracing::debug!(%error, "the database did not tell the time"),
        }
        drop(engine);
        sleep(BETWEEN).await;
    }
}
