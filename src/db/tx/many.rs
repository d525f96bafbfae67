//! Which units Postgres does for many at once, and how their parameters become lists.

use futures_core::future::BoxFuture;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::combine::{Combines, Line, Lines, Rows};
use crate::model::hex;
use crate::statements::attempt::{AttemptCompleteManyParams, AttemptCompleteParams, AttemptCompleteRow};
use crate::statements::execution::{ExecutionCreateManyParams, ExecutionCreateParams, ExecutionCreateRow};
use crate::statements::lease::{
    LeaseClaimManyParams, LeaseClaimParams, LeaseClaimRow, LeaseRenewManyParams, LeaseRenewParams, LeaseRenewRow,
};
use crate::statements::pg_only;

/// One value of each member, in their order.
fn each<P, T>(members: &[&P], value: impl Fn(&P) -> T) -> Vec<T> {
    members.iter().map(|member| value(member)).collect()
}

/// The numbers of the members, counted from 1.
fn turns<P>(members: &[&P]) -> Vec<i64> {
    (1_i64..).take(members.len()).collect()
}

/// The place of a member by its number.
fn place(turn: i64) -> usize {
    usize::try_from(turn - 1).unwrap_or(usize::MAX) // tidy: a number that this module gave
}

impl Combines for LeaseClaimParams {
    type Row = LeaseClaimRow;
    type Group = (String, Vec<String>);
    type Key = ();

    fn group(&self) -> Option<Self::Group> {
        Some((self.lane_id.clone(), self.capabilities.clone()))
    }

    fn key(&self) -> Option<()> {
        None
    }

    fn line(lines: &Lines) -> &Line<Self> {
        &lines.claims
    }

    fn run_many<'a>(
        members: &'a [&'a Self],
        connection: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<Rows<Self>, sqlx::Error>> {
        Box::pin(async move {
            let Some(first) = members.first() else { return Ok(Vec::new()) };
            let params = LeaseClaimManyParams {
                lane_id: first.lane_id.clone(),
                capabilities: first.capabilities.clone(),
                turns: turns(members),
                lease_ids: each(members, |member| member.lease_id.clone()),
                nows_ms: each(members, |member| member.now_ms),
                worker_ids: each(members, |member| member.worker_id.clone()),
                worker_instance_ids: each(members, |member| member.worker_instance_id.clone()),
                leases_expire_at_ms: each(members, |member| member.lease_expires_at_ms),
            };
            let rows = pg_only::lease_claim_many(connection, &params).await?;
            let rows = rows.into_iter().map(|row| {
                let claimed = LeaseClaimRow {
                    partition_key: row.partition_key,
                    execution_id: row.execution_id,
                    attempt_index: row.attempt_index,
                    lease_epoch: row.lease_epoch,
                    lease_event_id: row.lease_event_id,
                };
                (place(row.turn), claimed)
            });
            Ok(rows.collect())
        })
    }
}

impl Combines for AttemptCompleteParams {
    type Row = AttemptCompleteRow;
    type Group = ();
    type Key = (i16, Uuid);

    fn group(&self) -> Option<()> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some((self.partition_key, self.execution_id))
    }

    fn line(lines: &Lines) -> &Line<Self> {
        &lines.completions
    }

    fn run_many<'a>(
        members: &'a [&'a Self],
        connection: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<Rows<Self>, sqlx::Error>> {
        Box::pin(async move {
            let params = AttemptCompleteManyParams {
                turns: turns(members),
                partition_keys: each(members, |member| i64::from(member.partition_key)),
                execution_ids: each(members, |member| member.execution_id),
                attempt_indexes: each(members, |member| i64::from(member.attempt_index)),
                lease_epochs: each(members, |member| member.lease_epoch),
                execution_texts: each(members, |member| member.execution_text.clone()),
                lease_ids: each(members, |member| member.lease_id.clone()),
                nows_ms: each(members, |member| member.now_ms),
                results: each(members, |member| bytes_text(member.result.as_deref())),
            };
            let rows = pg_only::attempt_complete_many(connection, &params).await?;
            let rows = rows.into_iter().map(|row| {
                let done = AttemptCompleteRow {
                    completion_event_id: row.completion_event_id,
                    lease_event_id: row.lease_event_id,
                    flow_id: row.flow_id,
                };
                (place(row.turn), done)
            });
            Ok(rows.collect())
        })
    }
}

impl Combines for LeaseRenewParams {
    type Row = LeaseRenewRow;
    type Group = ();
    type Key = (i16, Uuid);

    fn group(&self) -> Option<()> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some((self.partition_key, self.execution_id))
    }

    fn line(lines: &Lines) -> &Line<Self> {
        &lines.renewals
    }

    fn run_many<'a>(
        members: &'a [&'a Self],
        connection: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<Rows<Self>, sqlx::Error>> {
        Box::pin(async move {
            let params = LeaseRenewManyParams {
                turns: turns(members),
                partition_keys: each(members, |member| i64::from(member.partition_key)),
                execution_ids: each(members, |member| member.execution_id),
                attempt_indexes: each(members, |member| i64::from(member.attempt_index)),
                lease_epochs: each(members, |member| member.lease_epoch),
                execution_texts: each(members, |member| member.execution_text.clone()),
                lease_ids: each(members, |member| member.lease_id.clone()),
                nows_ms: each(members, |member| member.now_ms),
                leases_expire_at_ms: each(members, |member| member.lease_expires_at_ms),
            };
            let rows = pg_only::lease_renew_many(connection, &params).await?;
            let renewed =
                rows.into_iter().map(|row| (place(row.turn), LeaseRenewRow { lease_event_id: row.lease_event_id }));
            Ok(renewed.collect())
        })
    }
}

impl Combines for ExecutionCreateParams {
    type Row = ExecutionCreateRow;
    type Group = ();
    type Key = (i16, Uuid);

    /// A key may name an execution that is created at the same moment under another id.
    fn group(&self) -> Option<()> {
        self.idempotency_key.is_none().then_some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some((self.partition_key, self.execution_id))
    }

    fn line(lines: &Lines) -> &Line<Self> {
        &lines.creations
    }

    fn run_many<'a>(
        members: &'a [&'a Self],
        connection: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<Rows<Self>, sqlx::Error>> {
        Box::pin(async move {
            let params = ExecutionCreateManyParams {
                turns: turns(members),
                partition_keys: each(members, |member| i64::from(member.partition_key)),
                execution_ids: each(members, |member| member.execution_id),
                nows_ms: each(members, |member| member.now_ms),
                capabilities_json: each(members, |member| {
                    Value::from(member.required_capabilities.as_slice()).to_string()
                }),
                lane_ids: each(members, |member| member.lane_id.clone()),
                eligibility_states: each(members, |member| member.eligibility_state.to_string()),
                public_states: each(members, |member| member.public_state.to_string()),
                priorities: each(members, |member| i64::from(member.priority)),
                deadlines_at_ms: each(members, |member| {
                    member.deadline_at_ms.map_or_else(String::new, |at| at.to_string())
                }),
                payloads: each(members, |member| bytes_text(Some(&member.payload))),
                policies: each(members, |member| member.policy.as_ref().map_or_else(String::new, Value::to_string)),
                raw_fields_json: each(members, |member| member.raw_fields.to_string()),
            };
            let rows = pg_only::execution_create_many(connection, &params).await?;
            let created = rows.into_iter().filter_map(|row| {
                let member = members.get(place(row.turn))?;
                Some((place(row.turn), ExecutionCreateRow { execution_id: member.execution_id }))
            });
            Ok(created.collect())
        })
    }
}

/// Bytes as the server reads them from text; empty for none.
fn bytes_text(bytes: Option<&[u8]>) -> String {
    bytes.map_or_else(String::new, |bytes| format!("\\x{}", hex::encode(bytes)))
}
