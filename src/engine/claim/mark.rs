//! Where begins what a worker may claim on a lane.
//!
//! A claim reads the lane's queue in its order, and would read past everything that this worker lacks the capabilities for,
//! and on Postgres past everything that was taken while some transaction is open. A mark of the lane and the capabilities
//! says where to begin; to move it costs one look at all of that, and is done from time to time.

use ff_core::engine_error::EngineError;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::column::LaneName;
use crate::db::Dialect;
use crate::engine::Engine;
use crate::model::hex;
use crate::statements::lease::{LeaseMarkParams, LeaseMarkReadParams};

/// A lane and what a worker is capable of.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    lane_id: LaneName,
    capabilities: Value,
    /// A digest of both: an index of Postgres takes no key as long as they may be.
    pub(crate) mark_key: String,
}

impl Asked {
    /// The order of the capabilities does not matter.
    pub(crate) fn new(lane_id: LaneName, capabilities: &[String]) -> Self {
        let mut sorted: Vec<&str> = capabilities.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let capabilities = json!(sorted);
        let mark_key = hex::encode(&Sha256::digest(json!([lane_id.text(), capabilities]).to_string()));
        Self { lane_id, capabilities, mark_key }
    }
}

/// Makes the mark where this process has not made it yet, and moves it where it is time.
pub(crate) async fn mark_sometimes<D: Dialect>(engine: &Engine<D>, asked: &Asked) -> Result<(), EngineError> {
    let now_ms = engine.now_ms();
    if !engine.marks().is_due(&asked.mark_key, now_ms) {
        return Ok(());
    }
    make(engine, asked.clone(), now_ms).await
}

/// Makes a mark anew that has vanished, and says whether it had: somebody emptied its table, or went back to a copy of the
/// database. Without its mark nothing of a lane is found. To be asked by a claim that found nothing.
pub(crate) async fn make_anew<D: Dialect>(engine: &Engine<D>, asked: &Asked) -> Result<bool, EngineError> {
    let now_ms = engine.now_ms();
    if !engine.marks().is_doubtful(&asked.mark_key, now_ms) {
        return Ok(false);
    }
    let read = LeaseMarkReadParams { mark_key: asked.mark_key.clone() };
    if engine.db().read(read).await?.is_some() {
        return Ok(false);
    }
    make(engine, asked.clone(), now_ms).await?;
    Ok(true)
}

async fn make<D: Dialect>(engine: &Engine<D>, asked: Asked, now_ms: i64) -> Result<(), EngineError> {
    let Asked { lane_id, capabilities, mark_key } = asked;
    let mark = LeaseMarkParams { mark_key: mark_key.clone(), lane_id, capabilities, now_ms };
    engine.db().unit(mark).await?;
    engine.marks().made(mark_key, now_ms);
    Ok(())
}
