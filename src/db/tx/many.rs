//! Which units Postgres does for many at once.

use serde_json::Value;
use sqlx::PgConnection;

use crate::column::{ExecKey, LaneName, StoredIndex};
use crate::db::dialect::{Combines, Ran};
use crate::statements::Statement as _;
use crate::statements::attempt::{
    AttemptCompleteManyGiven, AttemptCompleteParams, AttemptCompleteRow, AttemptFailManyGiven, AttemptFailParams,
    AttemptFailRow,
};
use crate::statements::execution::{
    ExecutionCreateManyGiven, ExecutionCreateParams, ExecutionCreateRow, ExecutionPromoteDueParams,
};
use crate::statements::lease::{
    LeaseClaimManyGiven, LeaseClaimParams, LeaseClaimRow, LeaseRenewManyGiven, LeaseRenewParams, LeaseRenewRow,
};
use crate::statements::pg_only;
use crate::statements::resume::{ResumeClaimManyGiven, ResumeClaimParams, ResumeClaimRow};
use crate::statements::signal::{SignalResumeManyGiven, SignalResumeParams, SignalResumeRow};
use crate::statements::stream::{StreamAppendManyGiven, StreamAppendParams, StreamAppendRow};
use crate::statements::suspension::{SuspensionEnterManyGiven, SuspensionEnterParams, SuspensionEnterRow};

impl Combines for LeaseClaimParams {
    type Answer = Option<LeaseClaimRow>;
    /// A lane that takes long to read keeps no other one waiting.
    type Group = LaneName;
    type Key = ();

    fn group(&self) -> Option<Self::Group> {
        Some(self.lane_id.clone())
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| {
                taken!(LeaseClaimManyGiven of member => mark_key, lane_id, lease_id, now_ms, worker_id,
                       worker_instance_id, lease_expires_at_ms)
            });
            let rows = pg_only::lease_claim_many(connection, &given.collect::<Vec<_>>()).await?;
            let claimed = rows.into_iter().map(|row| {
                row.map(|row| taken!(LeaseClaimRow of row => execution, attempt_index, lease_epoch, lease_event_id))
            });
            Ok(claimed.collect())
        })
    }
}

impl Combines for AttemptCompleteParams {
    type Answer = Option<AttemptCompleteRow>;
    type Group = ();
    type Key = ExecKey;

    fn group(&self) -> Option<Self::Group> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some(self.execution)
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| {
                taken!(AttemptCompleteManyGiven of member => execution, attempt_index, lease_epoch,
                       execution_text, lease_id, now_ms, result)
            });
            let rows = pg_only::attempt_complete_many(connection, &given.collect::<Vec<_>>()).await?;
            let done = rows.into_iter().map(|row| {
                row.map(|row| taken!(AttemptCompleteRow of row => completion_event_id, lease_event_id, flow_id))
            });
            Ok(done.collect())
        })
    }
}

impl Combines for AttemptFailParams {
    type Answer = Option<AttemptFailRow>;
    type Group = ();
    type Key = ExecKey;

    fn group(&self) -> Option<Self::Group> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some(self.execution)
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| {
                taken!(AttemptFailManyGiven of member => execution, attempt_index, lease_epoch,
                       execution_text, lease_id, now_ms, failure_message)
            });
            let rows = pg_only::attempt_fail_many(connection, &given.collect::<Vec<_>>()).await?;
            let done = rows.into_iter().map(|row| {
                row.map(|row| taken!(AttemptFailRow of row => completion_event_id, lease_event_id, flow_id))
            });
            Ok(done.collect())
        })
    }
}

impl Combines for LeaseRenewParams {
    type Answer = Option<LeaseRenewRow>;
    type Group = ();
    type Key = ExecKey;

    fn group(&self) -> Option<Self::Group> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some(self.execution)
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| {
                taken!(LeaseRenewManyGiven of member => execution, attempt_index, lease_epoch,
                       execution_text, lease_id, now_ms, lease_expires_at_ms)
            });
            let rows = pg_only::lease_renew_many(connection, &given.collect::<Vec<_>>()).await?;
            Ok(rows.into_iter().map(|row| row.map(|row| taken!(LeaseRenewRow of row => lease_event_id))).collect())
        })
    }
}

impl Combines for ExecutionCreateParams {
    type Answer = Option<ExecutionCreateRow>;
    type Group = ();
    type Key = ExecKey;

    /// A key may name an execution that is created at the same moment under another id.
    fn group(&self) -> Option<Self::Group> {
        self.idempotency_key.is_none().then_some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some(self.execution)
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| {
                let member = Self::clone(member);
                ExecutionCreateManyGiven {
                    execution: member.execution,
                    now_ms: member.now_ms,
                    required_capabilities: Value::from(member.required_capabilities),
                    lane_id: member.lane_id,
                    eligibility_state: member.eligibility_state,
                    public_state: member.public_state,
                    priority: member.priority,
                    deadline_at_ms: member.deadline_at_ms,
                    payload: member.payload,
                    policy: member.policy,
                    raw_fields: member.raw_fields,
                }
            });
            let rows = pg_only::execution_create_many(connection, &given.collect::<Vec<_>>()).await?;
            Ok(rows.into_iter().map(|row| row.map(|row| taken!(ExecutionCreateRow of row => execution_id))).collect())
        })
    }
}

impl Combines for StreamAppendParams {
    type Answer = Option<StreamAppendRow>;
    type Group = ();
    type Key = (ExecKey, StoredIndex);

    fn group(&self) -> Option<Self::Group> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some((self.execution, self.attempt_index))
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| {
                taken!(StreamAppendManyGiven of member => execution, attempt_index,
                       lease_epoch, now_ms, fields, mode)
            });
            let rows = pg_only::stream_append_many(connection, &given.collect::<Vec<_>>()).await?;
            let appended = rows
                .into_iter()
                .map(|row| row.map(|row| taken!(StreamAppendRow of row => last_ms, last_seq, frame_count)));
            Ok(appended.collect())
        })
    }
}

impl Combines for SuspensionEnterParams {
    type Answer = Option<SuspensionEnterRow>;
    type Group = ();
    type Key = ExecKey;

    /// Who came first with a key has its outcome there, and only the statement for one looks for it.
    fn group(&self) -> Option<Self::Group> {
        (self.idempotency_key.is_none() && self.bare_key.is_none()).then_some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some(self.execution)
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| {
                let member = Self::clone(member);
                SuspensionEnterManyGiven {
                    execution: member.execution,
                    attempt_index: member.attempt_index,
                    lease_epoch: member.lease_epoch,
                    execution_text: member.execution_text,
                    lease_id: member.lease_id,
                    now_ms: member.now_ms,
                    token_kid: member.token_kid,
                    suspension_id: member.suspension_id,
                    timeout_at_ms: member.timeout_at_ms,
                    reason_code: member.reason_code,
                    condition: member.condition,
                    timeout_behavior: member.timeout_behavior,
                    waitpoint_id: member.waitpoint_id,
                    token: member.token,
                    waitpoint_key: member.waitpoint_key,
                    required_signal_names: Value::from(member.required_signal_names),
                }
            });
            let rows = pg_only::suspension_enter_many(connection, &given.collect::<Vec<_>>()).await?;
            Ok(rows.into_iter().map(|row| row.map(|row| taken!(SuspensionEnterRow of row => lease_event_id))).collect())
        })
    }
}

impl Combines for SignalResumeParams {
    type Answer = Option<SignalResumeRow>;
    type Group = ();
    type Key = ExecKey;

    fn group(&self) -> Option<Self::Group> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some(self.execution)
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| {
                taken!(SignalResumeManyGiven of member => execution, suspension_id, seen_members, execution_text,
                       signal_id, waitpoint_text, source_identity, now_ms, members)
            });
            let rows = pg_only::signal_resume_many(connection, &given.collect::<Vec<_>>()).await?;
            let resumed = rows
                .into_iter()
                .map(|row| row.map(|row| taken!(SignalResumeRow of row => signal_event_id, completion_event_id)));
            Ok(resumed.collect())
        })
    }
}

impl Combines for ResumeClaimParams {
    type Answer = Option<ResumeClaimRow>;
    type Group = ();
    type Key = ExecKey;

    fn group(&self) -> Option<Self::Group> {
        Some(())
    }

    fn key(&self) -> Option<Self::Key> {
        Some(self.execution)
    }

    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let given = members.iter().map(|member| {
                taken!(ResumeClaimManyGiven of member => execution, execution_text, lease_id, now_ms, worker_id,
                       worker_instance_id, lease_expires_at_ms)
            });
            let rows = pg_only::resume_claim_many(connection, &given.collect::<Vec<_>>()).await?;
            let claimed = rows
                .into_iter()
                .map(|row| row.map(|row| taken!(ResumeClaimRow of row => attempt_index, lease_epoch, lease_event_id)));
            Ok(claimed.collect())
        })
    }
}

impl Combines for ExecutionPromoteDueParams {
    type Answer = u64;
    type Group = LaneName;
    type Key = ();

    fn group(&self) -> Option<Self::Group> {
        Some(self.lane_id.clone())
    }

    /// Whoever looks at a lane at the same moment needs one look.
    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self> {
        Box::pin(async move {
            let Some(latest) = members.iter().max_by_key(|member| member.now_ms) else { return Ok(Vec::new()) };
            let promoted = latest.run(connection).await?;
            Ok(vec![promoted; members.len()])
        })
    }
}
