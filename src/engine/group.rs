//! The group of edges into one execution: an edge whose upstream execution has ended is counted, which is one hop of
//! following a completion; the group is decided, and what that means done.
//!
//! Everything happens in the transaction of the caller, and a second hop along the same edge changes nothing.

use ff_core::contracts::{EdgeDependencyPolicy, EdgeGroupState};
use ff_core::engine_error::EngineError;
use uuid::Uuid;

use crate::column::{ExecutionUuid, FlowUuid, PartitionNumber};
use crate::db::error::{Abort, unreadable};
use crate::db::{Dialect, Wakes};
use crate::engine::member::{self, Ending, Events, lock_child};
use crate::engine::policy::dependency::{
    Ended, cancels_remaining, counted, depends_on_total, ended_edges, is_unclaimed, with_edges,
};
use crate::engine::policy::group::Counts;
use crate::engine::seize::{self, Seized, Taking};
use crate::engine::sibling;
use crate::model::edge as stored;
use crate::model::id::{ExecKey, GroupKey, corruption};
use crate::model::word::PublicWord;
use crate::statements::{Statements, attempt, dependency, edge};

/// One edge whose upstream execution has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hop {
    pub(crate) partition_key: PartitionNumber,
    pub(crate) flow_id: FlowUuid,
    pub(crate) edge_id: Uuid,
    pub(crate) ended: Ended,
    pub(crate) now_ms: i64,
    pub(crate) taking: Taking,
}

/// What a hop did.
#[derive(Debug, Default)]
pub(crate) struct Hopped {
    pub(crate) state: HopState,
    events: Events,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum HopState {
    /// The edge is unknown or not applied, or nobody counts it.
    #[default]
    Nothing,
    /// It was counted before.
    AlreadyCounted,
    /// It is counted now; that many edges of its group ended.
    Counted { ended: i64 },
}

impl Hopped {
    /// One that wrote no events; that many edges of its group ended. It may have been the last that was awaited.
    pub(crate) fn counted(ended: i64) -> Self {
        Self { state: HopState::Counted { ended }, events: Events { is_released: true, ..Events::default() } }
    }

    /// Lists what to tell after the commit.
    pub(crate) fn tell(&self, partition_key: PartitionNumber, flow_id: FlowUuid, wakes: &mut Wakes) {
        self.events.tell(partition_key, flow_id, wakes);
    }
}

/// Counts an edge whose upstream execution has ended, and does what that decides. Safe to repeat.
pub(crate) async fn hop_on<D: Dialect>(conn: &mut D::Connection, hop: &Hop) -> Result<Hopped, Abort> {
    let Hop { partition_key, flow_id, edge_id, ended, now_ms, taking } = *hop;
    if taking == Taking::Seizes && seize::edge::<D>(conn, partition_key, flow_id, edge_id).await? == Seized::Held {
        return Err(seize::held());
    }
    let params = edge::EdgeLockParams { partition_key, flow_id, edge_id };
    let found = conn.edge_lock(&params).await.map_err(|error| unreadable("ff_edge.policy", error))?;
    let Some(found) = found.filter(|found| stored::is_awaited(&found.policy)) else {
        return Ok(Hopped::default());
    };
    if stored::is_resolved(&found.policy) {
        return Ok(Hopped { state: HopState::AlreadyCounted, events: Events::default() });
    }
    let key = GroupKey { partition_key, flow_id, downstream_eid: found.downstream_eid };
    if taking == Taking::Seizes && seize::group::<D>(conn, key).await? == Seized::Held {
        return Err(seize::held());
    }
    let Some(group) = Group::lock::<D>(conn, key).await? else {
        return Ok(Hopped::default());
    };
    let passes_data = stored::passes_data(&found.policy);
    let params = edge::EdgePolicyWriteParams {
        policy: stored::resolved(found.policy, ended == Ended::Success, now_ms),
        partition_key,
        flow_id,
        edge_id,
    };
    conn.edge_policy_write(&params).await?;
    let after = counted(group.counts, ended);
    let params = dependency::DependencyGroupCountParams {
        success_count: column("success_count", after.success)?,
        fail_count: column("fail_count", after.fail)?,
        skip_count: column("skip_count", after.skip)?,
        running_count: column("running_count", after.running)?,
        group: key,
    };
    conn.dependency_group_count(&params).await?;
    let mut turn = Turn { hop: *hop, upstream_eid: found.upstream_eid, group, after };
    let events = turn.take::<D>(conn, passes_data).await?;
    Ok(Hopped { state: HopState::Counted { ended: ended_edges(after) }, events })
}

/// A count as its column holds it.
fn column(name: &str, count: i64) -> Result<i32, EngineError> {
    i32::try_from(count).map_err(|_| corruption(format!("ff_edge_group.{name}: {count} edges are too many")))
}

/// The edges into one execution, locked.
struct Group {
    key: GroupKey,
    policy: EdgeDependencyPolicy,
    counts: Counts,
    is_marked: bool,
    upstreams: Option<Vec<dependency::DependencyUpstreamListRow>>,
}

impl Group {
    async fn lock<D: Dialect>(conn: &mut D::Connection, key: GroupKey) -> Result<Option<Self>, Abort> {
        let params = dependency::DependencyGroupLockParams { group: key };
        let row = conn.dependency_group_lock(&params).await;
        let row = row.map_err(|error| unreadable("ff_edge_group.policy", error))?;
        Ok(row.map(|row| Self {
            key,
            policy: stored::policy(&row.policy),
            counts: Counts::stored(row.success_count, row.fail_count, row.skip_count, row.running_count),
            is_marked: row.cancel_siblings_pending_flag,
            upstreams: None,
        }))
    }

    /// Where the group stands with these counts. The edges themselves are asked only where they matter.
    async fn state<D: Dialect>(&mut self, conn: &mut D::Connection, counts: Counts) -> Result<EdgeGroupState, Abort> {
        let state = counts.state(&self.policy);
        if !depends_on_total(&self.policy, state) {
            return Ok(state);
        }
        let edges = self.upstreams::<D>(conn).await?.iter().filter(|row| stored::is_awaited(&row.policy)).count();
        let edges = i64::try_from(edges).unwrap_or(i64::MAX); // tidy: the length of a list
        Ok(with_edges(counts, edges).state(&self.policy))
    }

    async fn upstreams<D: Dialect>(
        &mut self,
        conn: &mut D::Connection,
    ) -> Result<&[dependency::DependencyUpstreamListRow], Abort> {
        if self.upstreams.is_none() {
            let params = dependency::DependencyUpstreamListParams { group: self.key };
            let rows = conn.dependency_upstream_list(&params).await;
            self.upstreams = Some(rows.map_err(|error| unreadable("ff_edge.policy", error))?);
        }
        Ok(self.upstreams.as_deref().unwrap_or_default()) // tidy: it was just read
    }
}

/// An edge of a group that is counted now.
struct Turn {
    hop: Hop,
    upstream_eid: ExecutionUuid,
    /// With the counts from before.
    group: Group,
    after: Counts,
}

impl Turn {
    /// Does what the edge decided. Only the edge that decides a group acts; later ones are counted.
    async fn take<D: Dialect>(&mut self, conn: &mut D::Connection, passes_data: bool) -> Result<Events, Abort> {
        let Hop { partition_key, flow_id, ended, now_ms, taking, .. } = self.hop;
        if self.group.state::<D>(conn, self.group.counts).await? != EdgeGroupState::Pending {
            return Ok(Events::default());
        }
        let decided = self.group.state::<D>(conn, self.after).await?;
        let passes_data = passes_data && ended == Ended::Success;
        if decided == EdgeGroupState::Pending && !passes_data {
            return Ok(Events::default());
        }
        let key = ExecKey { partition_key, execution_id: self.group.key.downstream_eid };
        if taking == Taking::Seizes && seize::execution::<D>(conn, key).await? == Seized::Held {
            return Err(seize::held());
        }
        let child = lock_child::<D>(conn, key).await?;
        let mut is_released = false;
        if let Some(child) = &child {
            if passes_data && is_unclaimed(&child.lifecycle_phase, &child.ownership_state) {
                let params =
                    dependency::DependencyPayloadPassParams { execution: key, upstream_eid: self.upstream_eid };
                conn.dependency_payload_pass(&params).await?;
            }
            if decided == EdgeGroupState::Satisfied {
                is_released = member::release_on::<D>(conn, key, child, now_ms).await?;
            }
        }
        match (decided, child) {
            (EdgeGroupState::Satisfied, _) => {
                self.mark_remaining::<D>(conn).await?;
                Ok(Events { is_released, ..Events::default() })
            }
            (EdgeGroupState::Impossible, Some(child)) if !child.lifecycle_phase.has_ended() => {
                member::skip_on::<D>(conn, &Ending { key, flow_id, now_ms }, &child.ownership_state).await
            }
            _ => Ok(Events::default()),
        }
    }

    /// Names the upstream executions that are no longer needed, if the policy wants them cancelled.
    async fn mark_remaining<D: Dialect>(&mut self, conn: &mut D::Connection) -> Result<(), Abort> {
        if self.group.is_marked || !cancels_remaining(&self.group.policy) {
            return Ok(());
        }
        let winner = self.upstream_eid;
        let remaining = self.group.upstreams::<D>(conn).await?.iter().filter(|row| {
            let is_live = row.lifecycle_phase.as_ref().is_some_and(|phase| !phase.has_ended());
            is_live && row.public_state != Some(PublicWord::Skipped) && row.upstream_eid != winner
        });
        let members = remaining.map(|row| row.upstream_eid).collect();
        sibling::mark_on::<D>(conn, self.group.key, members, self.hop.now_ms).await
    }
}

/// A group that may be satisfied already when its downstream execution begins to wait. Locked before the
/// execution, as everywhere.
pub(crate) struct Awaited {
    group: Option<Group>,
}

impl Awaited {
    pub(crate) async fn lock<D: Dialect>(conn: &mut D::Connection, key: GroupKey) -> Result<Self, Abort> {
        Ok(Self { group: Group::lock::<D>(conn, key).await? })
    }

    /// Lets the execution, which waits from now on, go on at once if there is nothing left to wait for: the hop
    /// that satisfied the group came before. Says whether it may be claimed.
    pub(crate) async fn release_if_met<D: Dialect>(self, conn: &mut D::Connection, now_ms: i64) -> Result<bool, Abort> {
        let Some(mut group) = self.group else {
            return Ok(false);
        };
        if group.state::<D>(conn, group.counts).await? != EdgeGroupState::Satisfied {
            return Ok(false);
        }
        let key = ExecKey { partition_key: group.key.partition_key, execution_id: group.key.downstream_eid };
        match lock_child::<D>(conn, key).await? {
            Some(child) => member::release_on::<D>(conn, key, &child, now_ms).await,
            None => Ok(false),
        }
    }
}

/// Counts an edge that is applied only after its upstream execution has ended, since nobody else will. To be
/// called in the transaction that applies the edge, once it has. Answers `None` while the execution goes on.
pub(crate) async fn catch_up_on<D: Dialect>(
    conn: &mut D::Connection,
    upstream: ExecKey,
    flow_id: FlowUuid,
    edge_id: Uuid,
    now_ms: i64,
) -> Result<Option<Hopped>, Abort> {
    let partition_key = upstream.partition_key;
    let params = dependency::DependencyMemberReadParams { execution: upstream };
    let Some(row) = conn.dependency_member_read(&params).await?.filter(|row| row.lifecycle_phase.has_ended()) else {
        return Ok(None);
    };
    let params = attempt::AttemptRunningReadParams { execution: upstream };
    let last = conn.attempt_running_read(&params).await?;
    let outcome = last.as_ref().and_then(|last| last.outcome.as_ref());
    let ended = Ended::from_states(&row.public_state, outcome);
    let taking = Taking::Waits;
    hop_on::<D>(conn, &Hop { partition_key, flow_id, edge_id, ended, now_ms, taking }).await.map(Some)
}
