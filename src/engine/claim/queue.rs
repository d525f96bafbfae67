//! The claim by a lane: the best execution that waits there.

use ff_core::backend::{CapabilitySet, ClaimPolicy, Handle, HandleKind};
use ff_core::types::{LaneId, LeaseId};

use crate::db::{Dialect, Wakes};
use crate::engine::claim::give_back::Answered;
use crate::engine::claim::granted::Granted;
use crate::engine::claim::mark::{Asked, make_anew, mark_sometimes};
use crate::engine::policy::give_back::Before;
use crate::engine::{Engine, execution, manage, spread};
use crate::model::id::{attempt_id, reject_nul};
use crate::model::limits;
use crate::statements::lease;

/// Leases the best execution of a lane that a worker with these capabilities may run: highest priority
/// first, then oldest. Answers at once, `None` when there is none.
///
/// Precondition: none. Effect: one execution becomes active, its attempt gets a new epoch, an `acquired`
/// event is written. Repeating it claims another execution.
pub(crate) async fn next<D: Dialect>(
    engine: &Engine<D>,
    lane: &LaneId,
    capabilities: &CapabilitySet,
    policy: &ClaimPolicy,
) -> Answered<Option<Handle>> {
    reject_nul("lane_id", lane.as_str())?;
    limits::WORKER_ID.check("worker_id", policy.worker_id.as_str())?;
    reject_nul("worker_instance_id", policy.worker_instance_id.as_str())?;
    for token in &capabilities.tokens {
        reject_nul("capabilities", token)?;
    }
    let lane_id = lane.into();
    let nothing_is_due = execution::promote_due_sometimes(engine, &lane_id).await?;
    let claimed = claim_now(engine, lane, capabilities, policy).await?;
    if claimed.0.is_some() || nothing_is_due || execution::promote_due(engine, &lane_id).await? == 0 {
        return Ok(claimed);
    }
    claim_now(engine, lane, capabilities, policy).await
}

async fn claim_now<D: Dialect>(
    engine: &Engine<D>,
    lane: &LaneId,
    capabilities: &CapabilitySet,
    policy: &ClaimPolicy,
) -> Answered<Option<Handle>> {
    let now_ms = engine.now_ms();
    let lease_id = LeaseId::new();
    let asked = Asked::new(lane.into(), &capabilities.tokens);
    let params = lease::LeaseClaimParams {
        lane_id: lane.into(),
        mark_key: asked.mark_key.clone(),
        lease_id: lease_id.to_string(),
        now_ms,
        worker_id: policy.worker_id.as_str().to_owned(),
        worker_instance_id: policy.worker_instance_id.as_str().to_owned(),
        lease_expires_at_ms: now_ms.saturating_add(i64::from(policy.lease_ttl_ms)),
    };
    let claimed = if engine.db().is_spread().await? {
        match manage::lane_pause(engine, lane.into()).await? {
            Some(_) => None,
            None => spread::claim(engine, params, &capabilities.tokens).await?,
        }
    } else {
        mark_sometimes(engine, &asked).await?;
        let told = move |row: &lease::LeaseClaimRow, wakes: &mut Wakes| {
            wakes.lease(row.lease_event_id, row.execution.partition_key);
        };
        match engine.db().combined_telling(params.clone(), told).await? {
            None if make_anew(engine, &asked).await? => engine.db().combined_telling(params, told).await?,
            claimed => claimed,
        }
    };
    let Some(row) = claimed else {
        return Ok((None, None));
    };
    let key = row.execution;
    let grant = Granted {
        kind: HandleKind::Fresh,
        attempt_index: row.attempt_index,
        attempt_id: attempt_id(key.execution_id, row.attempt_index),
        lease_id,
        lease_epoch: row.lease_epoch,
        lease_ttl_ms: u64::from(policy.lease_ttl_ms),
        lane_id: lane.clone(),
        worker_instance_id: policy.worker_instance_id.clone(),
    };
    let took = grant.took(key, Before::Queue);
    Ok((Some(grant.handle::<D>(key)?), Some(took)))
}
