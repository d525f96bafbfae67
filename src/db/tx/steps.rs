//! The steps that a statement with an event takes where the tables are spread.

use std::collections::BTreeMap;

use sqlx::{Error, PgConnection};

use crate::column::{ExecKey, ExecutionUuid, FlowUuid};
use crate::db::in_steps::{InSteps, Stepping};
use crate::model::word::{AttemptWord, CompletionWord, LeaseWord};
use crate::statements::attempt::*;
use crate::statements::budget::{
    BudgetDimensionEnsureParams, BudgetDimensionSpendParams, BudgetLedgerAddParams, BudgetUsageEnsureParams,
};
use crate::statements::dependency::{DependencyCompletionInsertParams, DependencyCompletionInsertRow};
use crate::statements::event::*;
use crate::statements::execution::*;
use crate::statements::grant::*;
use crate::statements::lease::*;
use crate::statements::operator::{OperatorEventInsertParams, OperatorEventInsertRow};
use crate::statements::pause::*;
use crate::statements::quota::{QuotaAdmitParams, QuotaAdmittedInsertParams, QuotaWindowInsertParams};
use crate::statements::resume::*;
use crate::statements::retry::*;
use crate::statements::signal::*;
use crate::statements::stream::StreamAppendParams;
use crate::statements::suspension::*;
use crate::statements::typed::*;
use crate::statements::waitpoint::{WaitpointCreateParams, WaitpointCreateRow, WaitpointInsertParams};
use crate::statements::{Statements as _, pg_only};

/// What an event says of its execution, and when it happened.
struct Source {
    key: ExecKey,
    now_ms: i64,
    namespace: Option<String>,
    instance_tag: Option<String>,
}

impl Source {
    /// What the execution's row says, and its flow.
    async fn read(connection: &mut PgConnection, key: ExecKey, now_ms: i64) -> Result<(Self, Option<FlowUuid>), Error> {
        let row = pg_only::event_source_read(connection, &EventSourceReadParams { execution: key }).await?;
        let source = Self { key, now_ms, namespace: row.namespace, instance_tag: row.instance_tag };
        Ok((source, row.flow_id))
    }

    /// What became of the lease; the event's id.
    async fn lease(
        &self,
        connection: &mut PgConnection,
        lease_id: Option<&str>,
        event_type: LeaseWord,
    ) -> Result<i64, Error> {
        let event = EventLeaseInsertParams {
            execution_text: self.key.text(),
            lease_id: lease_id.map(str::to_owned),
            event_type,
            now_ms: self.now_ms,
            partition_key: self.key.partition_key.into(),
            namespace: self.namespace.clone(),
            instance_tag: self.instance_tag.clone(),
        };
        Ok(pg_only::event_lease_insert(connection, &event).await?.event_id)
    }

    /// How the execution has ended; the event's id.
    async fn completion(
        &self,
        connection: &mut PgConnection,
        flow_id: Option<FlowUuid>,
        outcome: CompletionWord,
    ) -> Result<i64, Error> {
        let event = EventCompletionInsertParams {
            execution: self.key,
            flow_id,
            outcome,
            namespace: self.namespace.clone(),
            instance_tag: self.instance_tag.clone(),
            now_ms: self.now_ms,
        };
        Ok(pg_only::event_completion_insert(connection, &event).await?.event_id)
    }

    /// That a signal was delivered: its id, its waitpoint, who sent it; the event's id.
    async fn signal(&self, connection: &mut PgConnection, words: [&String; 3]) -> Result<i64, Error> {
        let [signal_id, waitpoint_text, source_identity] = words.map(Clone::clone);
        let event = EventSignalInsertParams {
            execution_text: self.key.text(),
            signal_id,
            waitpoint_text,
            source_identity,
            now_ms: self.now_ms,
            partition_key: self.key.partition_key.into(),
            namespace: self.namespace.clone(),
            instance_tag: self.instance_tag.clone(),
        };
        Ok(pg_only::event_signal_insert(connection, &event).await?.event_id)
    }
}

/// A unit's steps: the statement without events that has those of the unit's parameters, and what is told if it gives
/// a row: `steps!(Unit => statement(Params: field, ..), |unit, row, source, connection| Row { .. })`.
macro_rules! steps {
    (
        $unit:ident => $untold:ident($params:ident: $($field:ident),+),
        |$given:ident, $row:ident, $source:ident, $connection:ident| $answer:expr
    ) => {
        impl InSteps for $unit {
            fn in_steps<'a>(&'a self, $connection: &'a mut PgConnection) -> Stepping<'a, Self> {
                Box::pin(async move {
                    let $given = self;
                    let params = taken!($params of $given => $($field),+);
                    let Some($row) = pg_only::$untold($connection, &params).await? else { return Ok(None) };
                    let $source = Source {
                        key: $given.execution,
                        now_ms: $given.now_ms,
                        namespace: $row.namespace.clone(),
                        instance_tag: $row.instance_tag.clone(),
                    };
                    Ok(Some($answer))
                })
            }
        }
    };
}

steps!(
    AttemptCompleteParams => attempt_complete_untold(AttemptCompleteUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, result),
    |unit, row, source, connection| AttemptCompleteRow {
        completion_event_id: source.completion(connection, row.flow_id, CompletionWord::Success).await?,
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Revoked).await?,
        flow_id: row.flow_id,
    }
);

steps!(
    AttemptFailParams => attempt_fail_untold(AttemptFailUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, failure_message),
    |unit, row, source, connection| AttemptFailRow {
        completion_event_id: source.completion(connection, row.flow_id, CompletionWord::Failed).await?,
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Revoked).await?,
        flow_id: row.flow_id,
    }
);

steps!(
    LeaseRenewParams => lease_renew_untold(LeaseRenewUntoldParams:
        execution, attempt_index, lease_epoch, lease_expires_at_ms),
    |unit, row, source, connection| LeaseRenewRow {
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Renewed).await?,
    }
);

steps!(
    AttemptCancelParams => attempt_cancel_untold(AttemptCancelUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, reason),
    |unit, row, source, connection| AttemptCancelRow {
        completion_event_id: source.completion(connection, row.flow_id, CompletionWord::Cancelled).await?,
        lease_event_id: match row.is_held {
            true => Some(source.lease(connection, Some(&unit.lease_id), LeaseWord::Revoked).await?),
            false => None,
        },
        flow_id: row.flow_id,
    }
);

steps!(
    LeaseReseatParams => lease_reseat_untold(LeaseReseatUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, worker_id, worker_instance_id, lease_expires_at_ms),
    |unit, row, source, connection| LeaseReseatRow {
        lease_epoch: row.lease_epoch,
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Reclaimed).await?,
    }
);

steps!(
    ResumeClaimParams => resume_claim_untold(ResumeClaimUntoldParams:
        execution, now_ms, worker_id, worker_instance_id, lease_expires_at_ms),
    |unit, row, source, connection| ResumeClaimRow {
        attempt_index: row.attempt_index,
        lease_epoch: row.lease_epoch,
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Acquired).await?,
    }
);

steps!(
    RetryNowParams => retry_now_untold(RetryNowUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, failure_message, retry_count),
    |unit, row, source, connection| RetryNowRow {
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Revoked).await?,
    }
);

steps!(
    RetryLaterParams => retry_later_untold(RetryLaterUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, retry_at_ms, failure_message, retry_count),
    |unit, row, source, connection| RetryLaterRow {
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Revoked).await?,
    }
);

steps!(
    PauseUntilParams => pause_until_untold(PauseUntilUntoldParams:
        execution, attempt_index, lease_epoch, delay_until_ms),
    |unit, row, source, connection| PauseUntilRow {
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Revoked).await?,
    }
);

steps!(
    PauseForChildrenParams => pause_for_children_untold(PauseForChildrenUntoldParams:
        execution, attempt_index, lease_epoch),
    |unit, row, source, connection| PauseForChildrenRow {
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Revoked).await?,
    }
);

steps!(
    TypedRenewParams => typed_renew_untold(TypedRenewUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, lease_expires_at_ms),
    |unit, row, source, connection| TypedRenewRow {
        lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Renewed).await?,
    }
);

steps!(
    TypedCompleteParams => typed_complete_untold(TypedCompleteUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, result),
    |unit, row, source, connection| TypedCompleteRow {
        completion_event_id: source.completion(connection, row.flow_id, CompletionWord::Success).await?,
        lease_event_id: source.lease(connection, unit.lease_id.as_deref(), LeaseWord::Revoked).await?,
    }
);

steps!(
    TypedFailParams => typed_fail_untold(TypedFailUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, failure_reason),
    |unit, row, source, connection| TypedFailRow {
        completion_event_id: source.completion(connection, row.flow_id, CompletionWord::Failed).await?,
        lease_event_id: source.lease(connection, unit.lease_id.as_deref(), LeaseWord::Revoked).await?,
    }
);

steps!(
    TypedRetryParams => typed_retry_untold(TypedRetryUntoldParams:
        execution, attempt_index, lease_epoch, now_ms, retry_at_ms, failure_reason, retry_count),
    |unit, row, source, connection| TypedRetryRow {
        lease_event_id: source.lease(connection, unit.lease_id.as_deref(), LeaseWord::Revoked).await?,
    }
);

steps!(
    TypedClaimParams => typed_claim_untold(TypedClaimUntoldParams:
        execution, worker_id, now_ms, lease_id, attempt_index, worker_instance_id, attempt_id, deadline_at_ms),
    |unit, row, source, connection| {
        let attempt_type = match row.attempt_state {
            AttemptWord::PendingRetryAttempt => "retry",
            AttemptWord::PendingReplayAttempt => "replay",
            _ => "initial",
        };
        let attempt = TypedClaimAttemptInsertParams {
            execution: unit.execution,
            attempt_index: unit.attempt_index,
            worker_id: unit.worker_id.clone(),
            worker_instance_id: unit.worker_instance_id.clone(),
            lease_expires_at_ms: unit.lease_expires_at_ms,
            now_ms: unit.now_ms,
            policy: unit.policy.clone(),
            attempt_fields: serde_json::json!({
                "attempt_type": attempt_type,
                "attempt_id": unit.attempt_id,
                "lease_id": unit.lease_id,
            }),
        };
        TypedClaimRow {
            lease_epoch: pg_only::typed_claim_attempt_insert(connection, &attempt).await?.lease_epoch,
            attempt_type: attempt_type.to_owned(),
            lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Acquired).await?,
        }
    }
);

steps!(
    SignalAppendParams => signal_append_untold(SignalAppendUntoldParams:
        execution, suspension_id, seen_members, members),
    |unit, row, source, connection| SignalAppendRow {
        signal_event_id: source.signal(connection, [&unit.signal_id, &unit.waitpoint_text, &unit.source_identity]).await?,
    }
);

steps!(
    SignalResumeParams => signal_resume_untold(SignalResumeUntoldParams:
        execution, suspension_id, seen_members, members),
    |unit, row, source, connection| SignalResumeRow {
        signal_event_id: source.signal(connection, [&unit.signal_id, &unit.waitpoint_text, &unit.source_identity]).await?,
        completion_event_id: source.completion(connection, None, CompletionWord::Resumable).await?,
    }
);

steps!(
    SuspensionEnterParams => suspension_enter_untold(SuspensionEnterUntoldParams:
        execution, attempt_index, lease_epoch, token_kid, idempotency_key, bare_key),
    |unit, row, source, connection| {
        let suspension = taken!(SuspensionInsertParams of unit => execution, suspension_id, now_ms, timeout_at_ms,
                                reason_code, condition, timeout_behavior);
        pg_only::suspension_insert(connection, &suspension).await?;
        let waitpoint = taken!(SuspensionWaitpointInsertParams of unit => execution, waitpoint_id, token_kid, token,
                               now_ms, timeout_at_ms, waitpoint_key, required_signal_names);
        pg_only::suspension_waitpoint_insert(connection, &waitpoint).await?;
        SuspensionEnterRow {
            lease_event_id: source.lease(connection, Some(&unit.lease_id), LeaseWord::Revoked).await?,
        }
    }
);

/// An event whose words are those of the execution's row: `event!(Params => Row, |event, connection, source, flow_id| id)`.
macro_rules! event {
    ($event:ident => $row:ident, |$given:ident, $connection:ident, $source:ident, $flow_id:ident| $event_id:expr) => {
        impl InSteps for $event {
            fn in_steps<'a>(&'a self, $connection: &'a mut PgConnection) -> Stepping<'a, Self> {
                Box::pin(async move {
                    let $given = self;
                    let ($source, $flow_id) = Source::read($connection, $given.execution, $given.now_ms).await?;
                    Ok($row { event_id: $event_id })
                })
            }
        }
    };
}

event!(GrantLeaseEventInsertParams => GrantLeaseEventInsertRow, |event, connection, source, _flow_id| {
    source.lease(connection, event.lease_id.as_deref(), event.event_type.clone()).await?
});

event!(GrantCompletionEventInsertParams => GrantCompletionEventInsertRow, |event, connection, source, flow_id| {
    source.completion(connection, flow_id, event.outcome.clone()).await?
});

event!(DependencyCompletionInsertParams => DependencyCompletionInsertRow, |event, connection, source, _flow_id| {
    source.completion(connection, Some(event.flow_id), event.outcome.clone()).await?
});

event!(SuspensionResumableEventInsertParams => SuspensionResumableEventInsertRow, |event, connection, source, _flow_id| {
    source.completion(connection, None, CompletionWord::Resumable).await?
});

event!(OperatorEventInsertParams => OperatorEventInsertRow, |event, connection, source, _flow_id| {
    let told = EventOperatorInsertParams {
        execution_text: event.execution_text.clone(),
        event_type: event.event_type.clone(),
        details: event.details.clone(),
        now_ms: event.now_ms,
        partition_key: event.execution.partition_key.into(),
        namespace: source.namespace.clone(),
        instance_tag: source.instance_tag.clone(),
    };
    pg_only::event_operator_insert(connection, &told).await?.event_id
});

/// What is not run where the tables are spread: see [`crate::engine::spread`].
impl InSteps for LeaseClaimParams {}
impl InSteps for StreamAppendParams {}

/// The key and the lane are on the coordinator.
impl InSteps for ExecutionCreateParams {
    fn in_steps<'a>(&'a self, connection: &'a mut PgConnection) -> Stepping<'a, Self> {
        Box::pin(async move {
            let lane = taken!(ExecutionLaneInsertParams of self => lane_id, now_ms);
            let mut is_free = true;
            if let Some(idempotency_key) = self.idempotency_key.clone() {
                let (namespace, execution) = (self.namespace.clone(), self.execution);
                let (now_ms, expired_before_ms) = (self.now_ms, self.expired_before_ms);
                let key = ExecutionKeyInsertParams { namespace, idempotency_key, execution, now_ms, expired_before_ms };
                let there = ExecutionPresentReadParams { execution };
                is_free = pg_only::execution_present_read(connection, &there).await?.is_none()
                    && pg_only::execution_key_insert(connection, &key).await?.is_some();
            }
            let mut created = None;
            if is_free {
                let core = taken!(ExecutionInsertParams of self => execution, lane_id, required_capabilities,
                                  eligibility_state, public_state, priority, now_ms, deadline_at_ms, payload, policy,
                                  raw_fields);
                created = pg_only::execution_insert(connection, &core).await?;
            }
            pg_only::execution_lane_insert(connection, &lane).await?;
            Ok(created.map(|row| ExecutionCreateRow { execution_id: row.execution_id }))
        })
    }
}

impl InSteps for WaitpointCreateParams {
    fn in_steps<'a>(&'a self, connection: &'a mut PgConnection) -> Stepping<'a, Self> {
        Box::pin(async move {
            let signing = connection.secret_active_read().await?;
            if signing.is_none_or(|signing| signing.kid != self.token_kid) {
                return Ok(None);
            }
            let waitpoint = taken!(WaitpointInsertParams of self => execution, waitpoint_id, token_kid, token, now_ms,
                                   expires_at_ms, waitpoint_key, required_signal_names);
            let waitpoint_id = pg_only::waitpoint_insert(connection, &waitpoint).await?.waitpoint_id;
            Ok(Some(WaitpointCreateRow { waitpoint_id }))
        })
    }
}

impl InSteps for QuotaAdmitParams {
    fn in_steps<'a>(&'a self, connection: &'a mut PgConnection) -> Stepping<'a, Self> {
        Box::pin(async move {
            let entry = taken!(QuotaWindowInsertParams of self => partition_key, quota_policy_id, now_ms, execution_id);
            pg_only::quota_window_insert(connection, &entry).await?;
            let admitted = taken!(QuotaAdmittedInsertParams of self => partition_key, quota_policy_id, now_ms,
                                  execution_id, expires_at_ms);
            pg_only::quota_admitted_insert(connection, &admitted).await
        })
    }
}

impl InSteps for BudgetUsageEnsureParams {
    fn in_steps<'a>(&'a self, connection: &'a mut PgConnection) -> Stepping<'a, Self> {
        Box::pin(async move {
            // All who add counters do it in one order.
            let mut dimensions = self.dimensions.clone();
            dimensions.sort_unstable();
            for dimensions_key in dimensions {
                let (partition_key, budget_id, now_ms) = (self.partition_key, self.budget_id.clone(), self.now_ms);
                let counter = BudgetDimensionEnsureParams { partition_key, budget_id, dimensions_key, now_ms };
                pg_only::budget_dimension_ensure(connection, &counter).await?;
            }
            Ok(())
        })
    }
}

impl InSteps for BudgetLedgerAddParams {
    fn in_steps<'a>(&'a self, connection: &'a mut PgConnection) -> Stepping<'a, Self> {
        Box::pin(async move {
            let deltas: BTreeMap<String, i64> =
                serde_json::from_value(self.deltas.clone()).map_err(|error| Error::Encode(error.into()))?;
            let execution_id =
                ExecutionUuid::parse(&self.execution_text).map_err(|error| Error::Encode(Box::new(error)))?;
            // All who add to what one execution spent do it in one order, which is the map's.
            for (dimensions_key, delta) in deltas {
                let spent = BudgetDimensionSpendParams {
                    execution: ExecKey { partition_key: self.partition_key, execution_id },
                    budget_id: self.budget_id.clone(),
                    dimensions_key,
                    delta,
                    now_ms: self.now_ms,
                };
                pg_only::budget_dimension_spend(connection, &spent).await?;
            }
            Ok(())
        })
    }
}
