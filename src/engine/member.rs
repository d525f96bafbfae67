//! A flow's member that others decide about: it is released when what it waits for has come, skipped when that cannot
//! come any more, and loses its lease when it ends without its worker.
//!
//! Everything happens in the transaction of the caller, which has locked the member.

use crate::column::{FlowUuid, PartitionNumber, StoredIndex};
use crate::db::error::{Abort, unreadable};
use crate::db::{Dialect, Wakes};
use crate::engine::policy::dependency::{Release, release};
use crate::model::document;
use crate::model::id::ExecKey;
use crate::model::word::{AttemptWord, CompletionWord, LeaseWord, OwnershipWord, PhaseWord};
use crate::statements::{Statements, attempt, dependency, grant};

/// Locks the execution that waits.
pub(crate) async fn lock_child<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
) -> Result<Option<dependency::DependencyChildLockRow>, Abort> {
    let params = dependency::DependencyChildLockParams { execution: key };
    let child = conn.dependency_child_lock(&params).await;
    child.map_err(|error| unreadable("exec_core: raw_fields not valid JSON", error))
}

/// The events that ending a member wrote, or its release.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Events {
    pub(crate) completion: Option<i64>,
    pub(crate) lease: Option<i64>,
    /// Whether a member may be claimed now.
    pub(crate) is_released: bool,
}

impl Events {
    pub(crate) fn tell(self, partition_key: PartitionNumber, flow_id: FlowUuid, wakes: &mut Wakes) {
        if let Some(event_id) = self.completion {
            wakes.member_completion(event_id, partition_key, Some(flow_id));
        }
        if let Some(event_id) = self.lease {
            wakes.lease(event_id, partition_key);
        }
        wakes.queued_if(self.is_released);
    }
}

/// Lets an execution be claimed whose dependencies are met, unless something else holds it back. Says whether it may be now.
pub(crate) async fn release_on<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
    child: &dependency::DependencyChildLockRow,
    now_ms: i64,
) -> Result<bool, Abort> {
    let delay_until_ms = document::integer(&child.raw_fields, "delay_until");
    let phase = &child.lifecycle_phase;
    let released = release(phase, &child.ownership_state, &child.eligibility_state, delay_until_ms, now_ms);
    let lifecycle_phase = if *phase == PhaseWord::Blocked { PhaseWord::Runnable } else { phase.clone() };
    let attempt_state = match &child.attempt_state {
        stored if *stored == AttemptWord::None || stored.as_str().is_empty() => AttemptWord::PendingFirstAttempt,
        stored => stored.clone(),
    };
    let is_released = released == Some(Release::Now);
    match released {
        None => {}
        Some(Release::Now) => {
            let params = dependency::DependencyChildReleaseParams { lifecycle_phase, attempt_state, execution: key };
            conn.dependency_child_release(&params).await?;
        }
        Some(Release::AtMs(wake_at_ms)) => {
            let params =
                dependency::DependencyChildDelayParams { lifecycle_phase, attempt_state, wake_at_ms, execution: key };
            conn.dependency_child_delay(&params).await?;
        }
    }
    Ok(is_released)
}

/// A member of a flow that ends without its worker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) key: ExecKey,
    pub(crate) flow_id: FlowUuid,
    pub(crate) now_ms: i64,
}

/// Ends an execution whose dependencies can no longer be met.
pub(crate) async fn skip_on<D: Dialect>(
    conn: &mut D::Connection,
    ending: &Ending,
    ownership_state: &OwnershipWord,
) -> Result<Events, Abort> {
    let Ending { now_ms, .. } = *ending;
    conn.dependency_child_skip(&dependency::DependencyChildSkipParams { now_ms, execution: ending.key }).await?;
    let current = attempt::AttemptRunningReadParams { execution: ending.key };
    let current = conn.attempt_running_read(&current).await?.map(|attempt| attempt.attempt_index);
    if let Some(attempt_index) = current {
        let params = dependency::DependencyAttemptSkipParams { now_ms, execution: ending.key, attempt_index };
        conn.dependency_attempt_skip(&params).await?;
    }
    let lease = revoke_on::<D>(conn, ending, current, ownership_state).await?;
    let completion = announce_on::<D>(conn, ending, CompletionWord::Skipped).await?;
    Ok(Events { completion: Some(completion), lease, is_released: false })
}

/// Takes the lease away from the worker that holds one, and answers the event that says so.
pub(crate) async fn revoke_on<D: Dialect>(
    conn: &mut D::Connection,
    ending: &Ending,
    attempt_index: Option<StoredIndex>,
    ownership_state: &OwnershipWord,
) -> Result<Option<i64>, Abort> {
    let Some(attempt_index) = attempt_index.filter(|_| *ownership_state == OwnershipWord::Leased) else {
        return Ok(None);
    };
    let Ending { key, now_ms, .. } = *ending;
    let params = dependency::DependencyLeaseRevokeParams { execution: key, attempt_index };
    conn.dependency_lease_revoke(&params).await?;
    let params = grant::GrantLeaseEventInsertParams {
        execution_text: key.text(),
        lease_id: None,
        event_type: LeaseWord::Revoked,
        now_ms,
        execution: key,
    };
    Ok(Some(in_steps!(D: conn.grant_lease_event_insert(&params)).await?.event_id))
}

/// Forgets the timers and grants of an execution that ended, and writes its completion.
pub(crate) async fn announce_on<D: Dialect>(
    conn: &mut D::Connection,
    ending: &Ending,
    outcome: CompletionWord,
) -> Result<i64, Abort> {
    let Ending { flow_id, now_ms, .. } = *ending;
    let params = dependency::DependencySuspensionDeleteParams { execution: ending.key };
    conn.dependency_suspension_delete(&params).await?;
    let params = dependency::DependencyWaitpointDeleteParams { execution: ending.key };
    conn.dependency_waitpoint_delete(&params).await?;
    conn.dependency_grant_delete(&dependency::DependencyGrantDeleteParams { execution: ending.key }).await?;
    let params = dependency::DependencyCompletionInsertParams { flow_id, outcome, now_ms, execution: ending.key };
    Ok(in_steps!(D: conn.dependency_completion_insert(&params)).await?.event_id)
}
