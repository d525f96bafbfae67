//! The claim by a lane that waits for work, no longer than its caller allows.
//!
//! Nothing is held meanwhile, no connection and no task: a claim that waits has a place among those who do
//! ([`Waiters`](crate::db::Waiters)), and looks again when it is called. The wait is the caller's own future, so who drops
//! that waits no more, and what was to call it calls the next.

use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{CapabilitySet, ClaimPolicy, Handle};
use ff_core::engine_error::EngineError;
use ff_core::types::LaneId;
use tokio::time::{Instant, timeout_at};

use crate::db::Dialect;
use crate::engine::Engine;
use crate::engine::claim::give_back::unless_dropped;
use crate::engine::claim::mark::Asked;
use crate::engine::claim::queue::next;
use crate::metric;

/// The longest that a claim waits, whatever its caller allows: beyond that a point in time may not be counted any more.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What a worker asks for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    lane: LaneId,
    capabilities: CapabilitySet,
    policy: ClaimPolicy,
}

impl Wanted {
    pub(crate) fn new(lane: &LaneId, capabilities: &CapabilitySet, policy: ClaimPolicy) -> Arc<Self> {
        Arc::new(Self { lane: lane.clone(), capabilities: capabilities.clone(), policy })
    }
}

/// Leases the best execution of a lane that a worker with these capabilities may run; when there is none, the next that
/// comes within `policy.max_wait`. Without one, or with zero, the answer comes at once.
///
/// Precondition: none. Effect: as a claim's; repeating it claims another execution.
pub(crate) async fn next_within<D: Dialect>(
    engine: &Engine<D>,
    wanted: &Arc<Wanted>,
) -> Result<Option<Handle>, EngineError> {
    let max_wait = wanted.policy.max_wait.unwrap_or_default(); // tidy: a caller's option
    if max_wait.is_zero() {
        return look(engine, wanted).await;
    }
    let deadline = Instant::now() + max_wait.min(LONGEST);
    let Asked { mark_key, .. } = Asked::new((&wanted.lane).into(), &wanted.capabilities.tokens);
    let mut place = engine.db().waiters().enter((&wanted.lane).into(), mark_key);
    if timeout_at(deadline, engine.db().hear_of_work()).await.is_err() {
        return look(engine, wanted).await;
    }
    loop {
        if let Some(handle) = look(engine, wanted).await? {
            return Ok(Some(handle));
        }
        place.found_nothing();
        if !place.called(deadline).await {
            return Ok(None);
        }
    }
}

async fn look<D: Dialect>(engine: &Engine<D>, wanted: &Arc<Wanted>) -> Result<Option<Handle>, EngineError> {
    let (wanted, begun) = (Arc::clone(wanted), Instant::now());
    let claim = |on: Engine<D>| async move { next(&on, &wanted.lane, &wanted.capabilities, &wanted.policy).await };
    let answer = unless_dropped(engine, claim).await?;
    metric::looked_for_work(answer.is_some(), begun.elapsed());
    Ok(answer)
}
