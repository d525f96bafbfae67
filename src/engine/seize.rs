//! The locks of sweeps, which wait for nobody.
//!
//! A row may be held by somebody who does nothing for a long time: the host was cut off in the middle of its
//! transaction. A sweep that waits for it does nothing for all the other rows. So a sweep takes the rows of an item only
//! if they are free, first of all, and leaves the item to its next run otherwise. For rows that it does not know
//! beforehand it waits a moment: see [`Engine::impatient`](crate::engine::Engine::impatient).

use ff_core::engine_error::{ContentionKind, EngineError};
use uuid::Uuid;

use crate::column::{FlowUuid, PartitionNumber};
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::model::id::{ExecKey, GroupKey};
use crate::statements::{Statements, admission, budget, dependency, edge, execution, sibling};

/// Whose a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seized {
    /// Ours until the transaction ends.
    Taken,
    /// Nobody's: there is none.
    Gone,
    /// Somebody else's.
    Held,
}

/// How a transaction that others share takes the rows that it decides on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taking {
    /// It waits for them.
    Waits,
    /// It gives up when somebody holds one, with [`held`].
    Seizes,
}

/// What ends a transaction that met a row of somebody else's: another run of the sweep finds it free.
pub(crate) fn held() -> Abort {
    Abort::Engine(EngineError::Contention(ContentionKind::RetryExhausted))
}

/// Whether an operation ended because somebody else held a row of it.
pub(crate) fn is_held(error: &EngineError) -> bool {
    matches!(error, EngineError::Contention(ContentionKind::RetryExhausted))
}

/// Takes an execution if it is free.
pub(crate) async fn execution<D: Dialect>(conn: &mut D::Connection, key: ExecKey) -> Result<Seized, Abort> {
    let params = execution::ExecutionTryLockParams { execution: key };
    if conn.execution_try_lock(&params).await?.is_some() {
        return Ok(Seized::Taken);
    }
    let params = admission::AdmissionPhaseReadParams { execution: key };
    Ok(held_if(conn.admission_phase_read(&params).await?.is_some()))
}

/// Takes an execution and what belongs to it, its places in the queues included, if all of that is free.
pub(crate) async fn whole<D: Dialect>(conn: &mut D::Connection, key: ExecKey) -> Result<Seized, Abort> {
    let seized = execution::<D>(conn, key).await?;
    if seized == Seized::Held {
        return Ok(seized);
    }
    let parts = conn.execution_parts_try_lock(&execution::ExecutionPartsTryLockParams { execution: key }).await?;
    Ok(if parts.kept_count < parts.there_count { Seized::Held } else { seized })
}

/// Takes a budget, its counters and its policy, if all of that is free.
pub(crate) async fn budget<D: Dialect>(
    conn: &mut D::Connection,
    partition_key: PartitionNumber,
    budget_id: &str,
) -> Result<Seized, Abort> {
    let params = budget::BudgetTryLockParams { partition_key, budget_id: budget_id.to_owned() };
    let seen = conn.budget_try_lock(&params).await?;
    Ok(match seen.there_count {
        0 => Seized::Gone,
        there_count if seen.kept_count < there_count => Seized::Held,
        _ => Seized::Taken,
    })
}

/// Takes an edge if it is free.
pub(crate) async fn edge<D: Dialect>(
    conn: &mut D::Connection,
    partition_key: PartitionNumber,
    flow_id: FlowUuid,
    edge_id: Uuid,
) -> Result<Seized, Abort> {
    let params = edge::EdgeTryLockParams { partition_key, flow_id, edge_id };
    match conn.edge_try_lock(&params).await? {
        Some(_) => Ok(Seized::Taken),
        // An edge stays with its flow, and whoever asks for one has just seen it.
        None => Ok(Seized::Held),
    }
}

/// Takes a group if it is free.
pub(crate) async fn group<D: Dialect>(conn: &mut D::Connection, group: GroupKey) -> Result<Seized, Abort> {
    let params = dependency::DependencyGroupTryLockParams { group };
    if conn.dependency_group_try_lock(&params).await?.is_some() {
        return Ok(Seized::Taken);
    }
    let params = sibling::SiblingGroupReadParams { group };
    Ok(held_if(conn.sibling_group_read(&params).await?.is_some()))
}

fn held_if(is_there: bool) -> Seized {
    if is_there { Seized::Held } else { Seized::Gone }
}
