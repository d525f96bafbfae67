//! Which steps of flows Postgres does for many at once. Members of one statement are of different flows.

use std::hash::Hash;

use sqlx::PgConnection;

use crate::column::{ExecKey, FlowUuid, GroupKey, PartitionNumber};
use crate::db::dialect::{Combines, Ran};
use crate::db::together::{Applying, Counted, Hopping, Joining, Staging};
use crate::statements::dependency::{DependencyHopManyGiven, DependencyHopManyRow};
use crate::statements::edge::{EdgeApplyManyGiven, EdgeStageManyGiven};
use crate::statements::flow::FlowMemberJoinManyGiven;
use crate::statements::pg_only;

/// Steps that may go together, with what their caller makes of a row.
pub(in crate::db) struct Made<P, R, T> {
    pub(in crate::db) params: P,
    pub(in crate::db) of_row: fn(&P, R) -> T,
}

impl<P, R, T> Combines for Made<P, R, T>
where
    P: Combines<Answer = Option<R>, Key: Eq + Hash>,
    R: Send + 'static,
    T: Send + 'static,
{
    type Answer = Option<T>;
    type Group = P::Group;
    type Key = P::Key;

    fn group(&self) -> Option<Self::Group> {
        self.params.group()
    }

    fn key(&self) -> Option<Self::Key> {
        self.params.key()
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let params: Vec<&P> = members.iter().map(|member| &member.params).collect();
            let rows = P::run_many(&params, connection).await?;
            let made =
                members.iter().zip(rows).map(|(member, row)| row.map(|row| (member.of_row)(&member.params, row)));
            Ok(made.collect())
        })
    }
}

impl Combines for Joining {
    type Answer = Option<i64>;
    type Group = ();
    type Key = (PartitionNumber, FlowUuid);

    fn group(&self) -> Option<Self::Group> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some((self.partition_key, self.flow_id))
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| FlowMemberJoinManyGiven {
                execution: ExecKey { partition_key: member.partition_key, execution_id: member.member },
                flow_id: member.flow_id,
                now_ms: member.now_ms,
            });
            let rows = pg_only::flow_member_join_many(connection, &given.collect::<Vec<_>>()).await?;
            Ok(rows.into_iter().map(|row| row.map(|row| row.node_count)).collect())
        })
    }
}

impl Combines for Staging {
    type Answer = Option<i64>;
    type Group = ();
    type Key = (PartitionNumber, FlowUuid);

    fn group(&self) -> Option<Self::Group> {
        self.expected_revision.map(|_| ())
    }

    fn key(&self) -> Option<Self::Key> {
        Some((self.key.group.partition_key, self.key.group.flow_id))
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().filter_map(|member| {
                Some(EdgeStageManyGiven {
                    group: member.key.group,
                    edge_id: member.key.edge_id,
                    upstream_eid: member.key.upstream_eid,
                    policy: member.document.clone(),
                    graph_revision: member.expected_revision?,
                    now_ms: member.now_ms,
                })
            });
            let rows = pg_only::edge_stage_many(connection, &given.collect::<Vec<_>>()).await?;
            Ok(rows.into_iter().map(|row| row.map(|row| row.graph_revision)).collect())
        })
    }
}

impl Combines for Applying {
    type Answer = Option<i32>;
    type Group = ();
    type Key = (PartitionNumber, FlowUuid);

    fn group(&self) -> Option<Self::Group> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some((self.partition_key, self.flow_id))
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| EdgeApplyManyGiven {
                group: GroupKey {
                    partition_key: member.partition_key,
                    flow_id: member.flow_id,
                    downstream_eid: member.downstream_eid,
                },
                edge_id: member.edge_id,
                now_ms: member.now_ms,
            });
            let rows = pg_only::edge_apply_many(connection, &given.collect::<Vec<_>>()).await?;
            Ok(rows.into_iter().map(|row| row.map(|row| row.running_count)).collect())
        })
    }
}

impl Combines for Hopping {
    type Answer = Option<Counted>;
    type Group = ();
    type Key = (PartitionNumber, FlowUuid);

    fn group(&self) -> Option<Self::Group> {
        self.is_plain.then_some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some((self.partition_key, self.flow_id))
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(
                |member| taken!(DependencyHopManyGiven of member => partition_key, flow_id, edge_id, event_id, now_ms),
            );
            let rows = pg_only::dependency_hop_many(connection, &given.collect::<Vec<_>>()).await?;
            let counted = |row: DependencyHopManyRow| Counted {
                ended: i64::from(row.ended_count),
                settled: u64::from(row.settled_event_id.is_some()),
            };
            Ok(rows.into_iter().map(|row| row.map(counted)).collect())
        })
    }
}
