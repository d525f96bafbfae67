//! Cancelling those upstream executions that a satisfied group no longer needs.
//!
//! ```text
//!   the deciding hop: flag, members, a pending row
//!     --dispatcher: cancel each member, then drain--> (no flag, no pending row)
//!     --reconciler: nothing left to cancel, or nothing to cancel it for--> the same
//! ```
//!
//! Each member is cancelled in a transaction of its own and only once. The pending row goes last, so a dispatcher
//! that dies leaves the group to the next one.

use std::collections::BTreeSet;

use ff_core::engine_backend::SiblingCancelReconcileAction;
use ff_core::engine_error::EngineError;
use ff_core::partition::Partition;
use ff_core::types::{ExecutionId, FlowId};
use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::column::{ExecutionUuid, PartitionNumber};
use crate::db::Dialect;
use crate::db::error::{Abort, unreadable};
use crate::engine::Engine;
use crate::engine::member::{Ending, Events, announce_on, lock_child, revoke_on};
use crate::engine::round::{Report, Round};
use crate::engine::seize::{self, Seized, is_held};
use crate::model::id::{ExecKey, GroupKey, exec_key};
use crate::model::word::CompletionWord;
use crate::statements::{Statements, attempt, dependency, sibling};

/// How many groups one round looks at.
const BATCH: i64 = 50;
/// How many members are cancelled at the same time.
const AT_ONCE: usize = 8;

/// Names the members of a group that are to be cancelled, of which there may be none. To be called when the group
/// is locked and not marked yet.
pub(crate) async fn mark_on<D: Dialect>(
    conn: &mut D::Connection,
    group: GroupKey,
    members: BTreeSet<ExecutionUuid>,
    now_ms: i64,
) -> Result<(), Abort> {
    let params = sibling::SiblingPendingInsertParams { group, now_ms };
    conn.sibling_pending_insert(&params).await?;
    let members = members.iter().map(ToString::to_string).collect();
    let params = sibling::SiblingGroupMarkParams { members, group };
    conn.sibling_group_mark(&params).await?;
    Ok(())
}

/// What one round of the dispatcher did, in groups.
#[allow(unreachable_pub, reason = "public with the feature `compat`")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DispatchReport {
    /// Their members were cancelled.
    pub dispatched: u64,
    /// They are gone, and so is their pending row.
    pub orphaned: u64,
    /// They have no flag: the reconciler's business.
    pub skipped_for_reconciler: u64,
    /// Another transaction works on them.
    pub skipped_locked: u64,
    /// They failed, and are tried again in the next round.
    pub errors: u64,
}

/// What one round of the reconciler did, in groups.
#[allow(unreachable_pub, reason = "public with the feature `compat`")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReconcileReport {
    /// They had nothing to cancel for, so their pending row is gone.
    pub sremmed_stale: u64,
    /// Their members had ended, so flag, names and pending row are gone.
    pub completed_drain: u64,
    /// They are the dispatcher's business.
    pub no_op: u64,
    /// They failed, and are tried again in the next round.
    pub errors: u64,
}

/// Rounds of the dispatcher until nothing is left, for the table of sweeps.
pub(crate) async fn sweep_cancels<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let (mut all, time) = (Report::default(), round.time());
    loop {
        let groups = pending(engine).await?;
        let is_full = groups.len() as i64 == BATCH;
        let DispatchReport { dispatched, orphaned, errors, .. } = dispatch(engine, groups).await;
        let page = report(dispatched + orphaned, errors);
        all.add(page);
        if !time.allows_next(is_full, page) {
            return Ok(all);
        }
    }
}

/// The counts of at most one batch.
fn report(processed: u64, errors: u64) -> Report {
    let few = |count: u64| u32::try_from(count).unwrap_or(u32::MAX); // tidy: at most one batch
    Report { processed: few(processed), errors: few(errors) }
}

/// One round of the dispatcher: cancels the named members of groups that are pending, the oldest group first. Safe
/// to repeat.
///
/// A pending row whose group is gone is deleted. A group without a flag is left to the reconciler, one that
/// another transaction works on to the next round.
#[cfg(feature = "compat")]
#[allow(dead_code, reason = "the pools of one database alone ask for it")]
pub(crate) async fn dispatch_round<D: Dialect>(engine: &Engine<D>) -> Result<DispatchReport, EngineError> {
    Ok(dispatch(engine, pending(engine).await?).await)
}

async fn dispatch<D: Dialect>(engine: &Engine<D>, groups: Vec<GroupKey>) -> DispatchReport {
    let mut report = DispatchReport::default();
    for group in groups {
        match cancel_group(engine, group).await {
            Ok(Begun::Members(..)) => report.dispatched += 1,
            Ok(Begun::Orphaned) => report.orphaned += 1,
            Ok(Begun::NoFlag) => report.skipped_for_reconciler += 1,
            Ok(Begun::Locked) => report.skipped_locked += 1,
            Ok(Begun::Gone) => {}
            Err(error) if is_held(&error) => report.skipped_locked += 1,
            Err(error) => {
                report.errors += 1;
                tracing::warn!(%error, "siblings could not be cancelled");
            }
        }
    }
    report
}

async fn pending<D: Dialect>(engine: &Engine<D>) -> Result<Vec<GroupKey>, EngineError> {
    let params = sibling::SiblingPendingListParams { page_size: BATCH };
    let rows = engine.db().read(params).await?;
    Ok(rows.into_iter().map(|row| row.group).collect())
}

/// What the dispatcher found when it turned to a group.
enum Begun {
    /// These are to be cancelled; they were named at that time.
    Members(Vec<ExecutionUuid>, i64),
    Orphaned,
    NoFlag,
    Locked,
    /// Somebody else was faster.
    Gone,
}

async fn cancel_group<D: Dialect>(engine: &Engine<D>, group: GroupKey) -> Result<Begun, EngineError> {
    let begun = transaction!(engine, "sibling_cancel_begin", [group], |conn| { begin_on::<D>(conn, *group).await })?;
    let Begun::Members(members, enqueued_at_ms) = &begun else {
        return Ok(begun);
    };
    let ending = |member: &ExecutionUuid| Ending {
        key: ExecKey { partition_key: group.partition_key, execution_id: *member },
        flow_id: group.flow_id,
        now_ms: engine.now_ms(),
    };
    // One that somebody holds, or that fails, keeps no other from its end.
    let others = &members[..members.len().saturating_sub(1)];
    let ended = stream::iter(others.iter().map(ending)).map(|ending| cancel(engine, ending));
    let failed = ended.buffer_unordered(AT_ONCE).filter_map(async |ended| ended.err()).collect::<Vec<_>>().await;
    let (held, mut failed): (Vec<_>, Vec<_>) = failed.into_iter().partition(is_held);
    // Whether all others have ended decides how the last one ends: with the group, or by itself.
    let last = members.last().map(ending);
    if !(held.is_empty() && failed.is_empty()) {
        if let Some(last) = last {
            failed.extend(cancel(engine, last).await.err().filter(|error| !is_held(error)));
        }
        return match failed.pop() {
            Some(error) => Err(error),
            None => Ok(Begun::Locked),
        };
    }
    let ended = Ended { group, last, begun_at_ms: *enqueued_at_ms };
    let drained = transaction!(
        engine,
        "sibling_cancel_end",
        [ended],
        |conn| { end_on::<D>(conn, ended).await },
        |events, wakes| {
            if let Some(events) = events {
                events.tell(group.partition_key, group.flow_id, wakes);
            }
        }
    )?;
    Ok(if drained.is_some() { begun } else { Begun::Gone })
}

async fn begin_on<D: Dialect>(conn: &mut D::Connection, group: GroupKey) -> Result<Begun, Abort> {
    let params = sibling::SiblingGroupTryLockParams { group };
    let locked = conn.sibling_group_try_lock(&params).await.map_err(unreadable_members)?;
    let Some(enqueued_at_ms) = take_pending::<D>(conn, group).await? else {
        return Ok(Begun::Gone);
    };
    match locked {
        Some(row) if row.cancel_siblings_pending_flag => Ok(Begun::Members(named(&row.members), enqueued_at_ms)),
        Some(_) => Ok(Begun::NoFlag),
        None if is_there::<D>(conn, group).await? => Ok(Begun::Locked),
        None => {
            delete_pending::<D>(conn, group).await?;
            Ok(Begun::Orphaned)
        }
    }
}

fn unreadable_members(error: sqlx::Error) -> Abort {
    unreadable("ff_edge_group.cancel_siblings_pending_members", error)
}

/// The named members; what is no uuid names nobody.
fn named(members: &Value) -> Vec<ExecutionUuid> {
    let texts = members.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.filter_map(|text| ExecutionUuid::parse(text).ok()).collect()
}

/// Takes the note that a group's members are to be cancelled, and says since when; nothing when there is none. Ends the
/// transaction when somebody holds it.
async fn take_pending<D: Dialect>(conn: &mut D::Connection, group: GroupKey) -> Result<Option<i64>, Abort> {
    let params = sibling::SiblingPendingTryLockParams { group };
    if let Some(row) = conn.sibling_pending_try_lock(&params).await? {
        return Ok(Some(row.enqueued_at_ms));
    }
    let params = sibling::SiblingPendingReadParams { group };
    match conn.sibling_pending_read(&params).await? {
        Some(_) => Err(seize::held()),
        None => Ok(None),
    }
}

async fn is_there<D: Dialect>(conn: &mut D::Connection, group: GroupKey) -> Result<bool, Abort> {
    let params = sibling::SiblingGroupReadParams { group };
    Ok(conn.sibling_group_read(&params).await?.is_some())
}

async fn delete_pending<D: Dialect>(conn: &mut D::Connection, group: GroupKey) -> Result<(), Abort> {
    let params = sibling::SiblingPendingDeleteParams { group };
    conn.sibling_pending_delete(&params).await?;
    Ok(())
}

/// Takes flag, names and pending row away.
async fn drain_on<D: Dialect>(conn: &mut D::Connection, group: GroupKey) -> Result<(), Abort> {
    let params = sibling::SiblingGroupClearParams { members: Vec::new(), group };
    conn.sibling_group_clear(&params).await?;
    delete_pending::<D>(conn, group).await
}

/// A group of whose members all but the last have ended.
struct Ended {
    group: GroupKey,
    last: Option<Ending>,
    /// When they were named.
    begun_at_ms: i64,
}

/// Cancels the last member and drains its group at once, so that nobody meets a group that has nothing left to cancel.
/// Nothing happens to one that somebody drained since, or whose members were named anew: that is for the next round.
async fn end_on<D: Dialect>(conn: &mut D::Connection, ended: &Ended) -> Result<Option<Events>, Abort> {
    let group = ended.group;
    // The ends of the others are followed at this moment, for which the group is held for a moment.
    let params = dependency::DependencyGroupLockParams { group };
    conn.dependency_group_lock(&params).await.map_err(|error| unreadable("ff_edge_group.policy", error))?;
    if take_pending::<D>(conn, group).await? != Some(ended.begun_at_ms) {
        return Ok(None);
    }
    let events = match &ended.last {
        Some(last) => cancel_on::<D>(conn, last).await?,
        None => Events::default(),
    };
    drain_on::<D>(conn, group).await?;
    Ok(Some(events))
}

/// Cancels one member that has not ended.
async fn cancel<D: Dialect>(engine: &Engine<D>, ending: Ending) -> Result<(), EngineError> {
    let Ending { key: ExecKey { partition_key, .. }, flow_id, .. } = ending;
    transaction!(
        engine,
        "sibling_cancel",
        [ending],
        |conn| { cancel_on::<D>(conn, ending).await },
        |events, wakes| events.tell(partition_key, flow_id, wakes)
    )?;
    Ok(())
}

async fn cancel_on<D: Dialect>(conn: &mut D::Connection, ending: &Ending) -> Result<Events, Abort> {
    let Ending { now_ms, .. } = *ending;
    if seize::whole::<D>(conn, ending.key).await? == Seized::Held {
        return Err(seize::held());
    }
    let member = lock_child::<D>(conn, ending.key).await?;
    let Some(member) = member.filter(|member| !member.lifecycle_phase.has_ended()) else {
        return Ok(Events::default());
    };
    let current = attempt::AttemptRunningReadParams { execution: ending.key };
    let current = conn.attempt_running_read(&current).await?.map(|attempt| attempt.attempt_index);
    conn.sibling_execution_cancel(&sibling::SiblingExecutionCancelParams { now_ms, execution: ending.key }).await?;
    let lease = revoke_on::<D>(conn, ending, current, &member.ownership_state).await?;
    let completion = announce_on::<D>(conn, ending, CompletionWord::Cancelled).await?;
    Ok(Events { completion: Some(completion), lease, is_released: false })
}

/// Rounds of the reconciler until nothing is left, for the table of sweeps.
pub(crate) async fn sweep_leftovers<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let (mut all, time) = (Report::default(), round.time());
    loop {
        let groups = pending(engine).await?;
        let is_full = groups.len() as i64 == BATCH;
        let ReconcileReport { sremmed_stale, completed_drain, errors, .. } = tidy(engine, groups).await;
        let page = report(sremmed_stale + completed_drain, errors);
        all.add(page);
        if !time.allows_next(is_full, page) {
            return Ok(all);
        }
    }
}

/// One round of the reconciler: tidies up after dispatchers that did not come to the end, the oldest group first.
/// Safe to repeat.
#[cfg(feature = "compat")]
#[allow(dead_code, reason = "the pools of one database alone ask for it")]
pub(crate) async fn reconcile_round<D: Dialect>(engine: &Engine<D>) -> Result<ReconcileReport, EngineError> {
    Ok(tidy(engine, pending(engine).await?).await)
}

async fn tidy<D: Dialect>(engine: &Engine<D>, groups: Vec<GroupKey>) -> ReconcileReport {
    let mut report = ReconcileReport::default();
    for group in groups {
        match tidy_group(engine, group).await {
            Ok(SiblingCancelReconcileAction::SremmedStale) => report.sremmed_stale += 1,
            Ok(SiblingCancelReconcileAction::CompletedDrain) => report.completed_drain += 1,
            Ok(_) => report.no_op += 1,
            Err(error) if is_held(&error) => report.no_op += 1,
            Err(error) => {
                report.errors += 1;
                tracing::warn!(%error, "a group could not be tidied up");
            }
        }
    }
    report
}

async fn tidy_group<D: Dialect>(
    engine: &Engine<D>,
    group: GroupKey,
) -> Result<SiblingCancelReconcileAction, EngineError> {
    transaction!(engine, "sibling_tidy", [group], |conn| { tidy_on::<D>(conn, *group).await })
}

async fn tidy_on<D: Dialect>(conn: &mut D::Connection, group: GroupKey) -> Result<SiblingCancelReconcileAction, Abort> {
    let partition_key = group.partition_key;
    let params = sibling::SiblingGroupTryLockParams { group };
    let locked = conn.sibling_group_try_lock(&params).await.map_err(unreadable_members)?;
    if take_pending::<D>(conn, group).await?.is_none() {
        return Ok(SiblingCancelReconcileAction::NoOp);
    }
    let row = match locked {
        Some(row) if row.cancel_siblings_pending_flag => row,
        None if is_there::<D>(conn, group).await? => return Ok(SiblingCancelReconcileAction::NoOp),
        _ => {
            delete_pending::<D>(conn, group).await?;
            return Ok(SiblingCancelReconcileAction::SremmedStale);
        }
    };
    for execution_id in named(&row.members) {
        let execution = ExecKey { partition_key, execution_id };
        let params = dependency::DependencyMemberReadParams { execution };
        let member = conn.dependency_member_read(&params).await?;
        if member.is_some_and(|member| !member.lifecycle_phase.has_ended()) {
            return Ok(SiblingCancelReconcileAction::NoOp);
        }
    }
    drain_on::<D>(conn, group).await?;
    Ok(SiblingCancelReconcileAction::CompletedDrain)
}

/// Takes flag, names and pending row of a group away, whatever there is of them. Safe to repeat.
pub(crate) async fn drain<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    flow_id: &FlowId,
    downstream: &ExecutionId,
) -> Result<(), EngineError> {
    let group = group_key(engine, partition, flow_id, downstream)?;
    transaction!(engine, "drain_sibling_cancel_group", [group], |conn| { drain_on::<D>(conn, *group).await })
}

/// Tidies one group up.
pub(crate) async fn reconcile<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    flow_id: &FlowId,
    downstream: &ExecutionId,
) -> Result<SiblingCancelReconcileAction, EngineError> {
    let group = group_key(engine, partition, flow_id, downstream)?;
    tidy_group(engine, group).await
}

/// A group's key. The flow's own partition counts; the one given must be one that a column can hold.
fn group_key<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    flow_id: &FlowId,
    downstream: &ExecutionId,
) -> Result<GroupKey, EngineError> {
    PartitionNumber::given(partition.index)?;
    let downstream_eid = exec_key(downstream)?.execution_id;
    Ok(GroupKey { partition_key: engine.flow_partition(flow_id), flow_id: flow_id.into(), downstream_eid })
}
