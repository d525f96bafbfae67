//! Time that is over: leases that ran out, attempts and executions that took too long, delays that ended.
//!
//! ```text
//!   active --lease over--> runnable, same attempt            (mark_lease_expired_if_due)
//!                      `-> terminal, failed                  (the same, when that happened too often)
//!   active --attempt timed out--> runnable, next attempt     (expire_execution, retries left)
//!                             `-> terminal, expired          (expire_execution, none left)
//!   anything open --deadline passed--> terminal, expired     (expire_execution; not while it is delayed)
//!   delayed --time has come--> eligible                      (promote_delayed)
//! ```
//!
//! Each operation locks the execution, judges again whether it is due, and does nothing when it is not, so
//! repeating one is harmless and several processes may sweep one database. Asked for one execution it does
//! what its name says. The sweeps divide the leases that ran out among themselves: where the policy has a
//! retry policy or an attempt timeout the attempt ends, everywhere else the next worker continues it. They leave
//! executions that somebody holds to their next run.

use std::sync::Arc;

use ff_core::backend::ScannerFilter;
use ff_core::engine_backend::{ExpirePhase, ReconcileCounts};
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{ExecutionId, LaneId, TimestampMs};

use crate::column::{ExecutionUuid, PartitionNumber, StoredIndex};
use crate::db::error::Abort;
use crate::db::{Dialect, Wakes};
use crate::engine::policy::expiry::{ends_attempts, may_follow, wakes_at_ms};
use crate::engine::policy::filter::{Asked, passes};
use crate::engine::round::{PAGE_SIZE, Pages, Place, Report, Round};
use crate::engine::seize::{self, Seized, Taking};
use crate::engine::{Engine, Limit};
use crate::engine::{resume, waitpoint};
use crate::metric;
use crate::model::document;
use crate::model::id::{ExecKey, exec_key_in};
use crate::model::word::{CompletionWord, EligibilityWord, LeaseWord, OutcomeWord, PhaseWord};
use crate::statements::waitpoint as waitpoint_rows;
use crate::statements::{Statements, attempt, expiry, grant, suspension};

/// How many executions one page of a consistency check has.
const CHECK_PAGE: i64 = 500;

/// Takes the lease of an execution whose worker is gone, so that another one can claim it.
///
/// Precondition: a lease of the execution ran out by the backend's clock; otherwise nothing happens. Effect:
/// the attempt is `lease_expired_reclaimable`; if it was running, the execution is claimable and an `expired`
/// lease event is written. One whose workers are gone as often as the engine's limit allows ends as failed instead, with
/// a completion. Repeating it finds nothing.
pub(crate) async fn mark_lease_expired<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    id: &ExecutionId,
) -> Result<(), EngineError> {
    let due = Due { key: exec_key_in(partition, id)?, now_ms: engine.now_ms(), asked_by: Asker::Caller };
    release_lease(engine, due).await.map(drop)
}

/// Ends an attempt or an execution that took too long.
///
/// Precondition: for [`ExpirePhase::AttemptTimeout`] the execution is active and its lease ran out by the
/// backend's clock; for [`ExpirePhase::ExecutionDeadline`] it is open, not delayed, and its deadline is before
/// `now`. Otherwise nothing happens. Effect: the attempt ends and gets its next epoch; the execution is tried
/// again when its retry policy allows one more attempt after a timeout, else it ends as `expired` with a
/// completion. An `expired` lease event is written where there was a lease. Repeating it finds nothing.
pub(crate) async fn expire<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    id: &ExecutionId,
    phase: ExpirePhase,
    now: TimestampMs,
) -> Result<(), EngineError> {
    let key = exec_key_in(partition, id)?;
    let due = |now_ms| Due { key, now_ms, asked_by: Asker::Caller };
    match phase {
        ExpirePhase::AttemptTimeout => time_out(engine, due(engine.now_ms())).await.map(drop),
        ExpirePhase::ExecutionDeadline => pass_deadline(engine, due(engine.given(now).0)).await.map(drop),
    }
}

/// Makes a delayed execution eligible.
///
/// Precondition: it waits for a time that is not after `now`; otherwise nothing happens. Effect: it is
/// claimable and has the deadline back that it had before the delay. Repeating it finds nothing.
pub(crate) async fn promote<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    id: &ExecutionId,
    now: TimestampMs,
) -> Result<(), EngineError> {
    let key = exec_key_in(partition, id)?;
    let now_ms = engine.given(now).0;
    transaction!(
        engine,
        "expiry_delay_end",
        [key, now_ms],
        |conn| {
            let Some(core) = lock::<D>(conn, *key).await? else { return Ok(false) };
            let waits = core.lifecycle_phase.waits() && core.eligibility_state == EligibilityWord::NotEligibleUntilTime;
            let wakes = wakes_at_ms(core.deadline_at_ms, &core.raw_fields).is_some_and(|at_ms| at_ms <= *now_ms);
            if waits && wakes {
                let ended = expiry::ExpiryDelayEndParams { execution: *key };
                conn.expiry_delay_end(&ended).await?;
            }
            Ok(waits && wakes)
        },
        |is_promoted, wakes| wakes.queued_if(*is_promoted)
    )
    .map(drop)
}

/// Counts the executions of a partition whose state words contradict each other, and names them in the log.
/// Changes nothing. No lanes means all lanes.
pub(crate) async fn check<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    lanes: &[LaneId],
    filter: &ScannerFilter,
) -> Result<ReconcileCounts, EngineError> {
    let partition_key = PartitionNumber::given(partition.index)?;
    let mut counts = ReconcileCounts::default();
    let mut after = ExecutionUuid::LEAST;
    loop {
        let params = expiry::ExpiryInconsistentListParams {
            partition_key,
            after,
            now_ms: engine.now_ms(),
            page_size: CHECK_PAGE,
        };
        let rows = engine.db().read(params).await?;
        let is_last = (rows.len() as i64) < CHECK_PAGE;
        for row in rows {
            after = row.execution_id;
            let is_meant = lanes.is_empty() || lanes.iter().any(|lane| row.lane_id == *lane);
            if is_meant && passes(filter, &row.raw_fields) {
                counts.processed = counts.processed.saturating_add(1);
                tracing::warn!(%partition_key, execution_id = %row.execution_id, "the state words contradict each other");
            }
        }
        if is_last {
            return Ok(counts);
        }
    }
}

/// One run of the sweep for leases that ran out.
pub(crate) async fn sweep_leases<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    sweep_expired(engine, round, |engine, due| Box::pin(release_lease(engine, due))).await
}

/// One run of the sweep for attempts that took too long.
pub(crate) async fn sweep_attempts<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    sweep_expired(engine, round, |engine, due| Box::pin(time_out(engine, due))).await
}

/// What a sweep does with one execution; true when there was something to do.
type Handling<D> = for<'a> fn(&'a Engine<D>, Due) -> futures_core::future::BoxFuture<'a, Result<bool, EngineError>>;

/// Goes through the leases that ran out, oldest first.
async fn sweep_expired<D: Dialect>(
    engine: &Engine<D>,
    round: &Round,
    handle: Handling<D>,
) -> Result<Report, EngineError> {
    let mut pages = Pages::new(round, engine.now_ms());
    while let Some(after) = pages.after() {
        let Asked { namespace, tag_key, tag_value } = Asked::of(&round.filter);
        let params = expiry::ExpiryLeaseDueListParams {
            now_ms: pages.now_ms,
            after_expires_at_ms: after.at_ms,
            after_partition_key: after.partition_key,
            after_execution_id: after.id.into(),
            namespace,
            tag_key,
            tag_value,
            page_size: PAGE_SIZE,
        };
        let rows = engine.db().read(params).await?;
        for row in pages.of(rows, |row| {
            Place::new(row.lease_expires_at_ms, row.execution.partition_key, row.execution.execution_id)
        }) {
            let key = row.execution;
            let due = Due { key, now_ms: pages.now_ms, asked_by: Asker::Sweep(round.filter.clone()) };
            pages.count(handle(engine, due).await);
        }
    }
    Ok(pages.report)
}

/// One run of the sweep for executions whose deadline has passed.
pub(crate) async fn sweep_deadlines<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let mut pages = Pages::new(round, engine.now_ms());
    while let Some(after) = pages.after() {
        let Asked { namespace, tag_key, tag_value } = Asked::of(&round.filter);
        let params = expiry::ExpiryDeadlineDueListParams {
            now_ms: pages.now_ms,
            after_deadline_at_ms: after.at_ms,
            after_partition_key: after.partition_key,
            after_execution_id: after.id.into(),
            namespace,
            tag_key,
            tag_value,
            page_size: PAGE_SIZE,
        };
        let rows = engine.db().read(params).await?;
        for row in pages
            .of(rows, |row| Place::new(row.deadline_at_ms, row.execution.partition_key, row.execution.execution_id))
        {
            let key = row.execution;
            let due = Due { key, now_ms: pages.now_ms, asked_by: Asker::Sweep(round.filter.clone()) };
            pages.count(pass_deadline(engine, due).await);
        }
    }
    Ok(pages.report)
}

/// One run of the sweep for suspensions whose time is over.
pub(crate) async fn sweep_suspensions<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let mut pages = Pages::new(round, engine.now_ms());
    while let Some(after) = pages.after() {
        let Asked { namespace, tag_key, tag_value } = Asked::of(&round.filter);
        let params = suspension::SuspensionDueListParams {
            now_ms: pages.now_ms,
            after_timeout_at_ms: after.at_ms,
            after_partition_key: after.partition_key,
            after_execution_id: after.id.into(),
            namespace,
            tag_key,
            tag_value,
            page_size: PAGE_SIZE,
        };
        let rows = engine.db().read(params).await?;
        for row in
            pages.of(rows, |row| Place::new(row.timeout_at_ms, row.execution.partition_key, row.execution.execution_id))
        {
            if passes(&round.filter, &row.raw_fields) {
                let key = row.execution;
                pages.count(resume::expire_due(engine, key, Taking::Seizes).await);
            }
        }
    }
    Ok(pages.report)
}

/// One run of the sweep for waitpoints whose time is over.
pub(crate) async fn sweep_waitpoints<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let mut pages = Pages::new(round, engine.now_ms());
    while let Some(after) = pages.after() {
        let Asked { namespace, tag_key, tag_value } = Asked::of(&round.filter);
        let params = waitpoint_rows::WaitpointDueListParams {
            now_ms: pages.now_ms,
            after_expires_at_ms: after.at_ms,
            after_partition_key: after.partition_key,
            after_waitpoint_id: after.id,
            namespace,
            tag_key,
            tag_value,
            page_size: PAGE_SIZE,
        };
        let rows = engine.db().read(params).await?;
        for row in pages.of(rows, |row| Place::new(row.expires_at_ms, row.partition_key, row.waitpoint_id)) {
            if passes(&round.filter, &row.raw_fields) {
                let (partition_key, id, now_ms) = (row.partition_key, row.waitpoint_id, pages.now_ms);
                pages.count(waitpoint::close_due(engine, partition_key, id, now_ms, Taking::Seizes).await);
            }
        }
    }
    Ok(pages.report)
}

/// One run of the consistency check over all partitions.
pub(crate) async fn sweep_checks<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    let mut report = Report::default();
    for index in 0..engine.partitions().num_flow_partitions {
        let partition = Partition { family: PartitionFamily::Execution, index };
        let counts = check(engine, &partition, &[], &round.filter).await?;
        report.processed = report.processed.saturating_add(counts.processed);
    }
    Ok(report)
}

/// Who wants it.
enum Asker {
    /// Somebody, for this execution.
    Caller,
    /// A sweep, for those that pass the filter.
    Sweep(ScannerFilter),
}

/// An execution whose time may be over.
struct Due {
    key: ExecKey,
    now_ms: i64,
    asked_by: Asker,
}

impl Due {
    /// Whether the asker means an execution with this document.
    fn is_meant(&self, core: &expiry::ExpiryExecutionLockRow) -> bool {
        match &self.asked_by {
            Asker::Caller => true,
            Asker::Sweep(filter) => passes(filter, &core.raw_fields),
        }
    }

    fn is_swept(&self) -> bool {
        matches!(self.asked_by, Asker::Sweep(_))
    }

    /// Locks the execution, if the asker means it. A sweep leaves one alone that somebody else holds.
    async fn lock<D: Dialect>(
        &self,
        conn: &mut D::Connection,
    ) -> Result<Option<expiry::ExpiryExecutionLockRow>, Abort> {
        if self.is_swept() && seize::whole::<D>(conn, self.key).await? != Seized::Taken {
            return Ok(None);
        }
        Ok(lock::<D>(conn, self.key).await?.filter(|core| self.is_meant(core)))
    }
}

/// What was written.
#[derive(Default)]
struct Written {
    anything: bool,
    completion_event_id: Option<i64>,
    lease_event_id: Option<i64>,
    /// Whether the execution may be claimed again.
    is_released: bool,
}

impl Written {
    fn tell(&self, partition_key: PartitionNumber, wakes: &mut Wakes) {
        if let Some(event_id) = self.completion_event_id {
            wakes.completion(event_id, partition_key);
        }
        if let Some(event_id) = self.lease_event_id {
            wakes.lease(event_id, partition_key);
        }
        wakes.queued_if(self.is_released);
    }
}

async fn release_lease<D: Dialect>(engine: &Engine<D>, due: Due) -> Result<bool, EngineError> {
    let (partition_key, limit) = (due.key.partition_key, Arc::clone(engine.limit()));
    let written = transaction!(
        engine,
        "expiry_lease",
        [due, limit],
        |conn| { release_on::<D>(conn, due, limit).await },
        |written, wakes| { written.tell(partition_key, wakes) }
    )?;
    if written.lease_event_id.is_some() {
        metric::lease_expired(!written.is_released);
    }
    Ok(written.anything)
}

async fn release_on<D: Dialect>(conn: &mut D::Connection, due: &Due, limit: &Limit) -> Result<Written, Abort> {
    let key = due.key;
    let Some((core, attempt_index)) = expired::<D>(conn, due).await? else { return Ok(Written::default()) };
    let is_running = core.lifecycle_phase == PhaseWord::Active
        && running::<D>(conn, key).await?.is_some_and(|running| running.attempt_index == attempt_index);
    if is_running && due.is_swept() && ends_attempts(core.policy.as_ref()) {
        return Ok(Written::default());
    }
    let crashes = document::counter(&core.raw_fields, document::CRASH_COUNT).saturating_add(1);
    let is_over = is_running && limit.is_reached(crashes);
    let mut completion_event_id = None;
    if is_over {
        end_attempt::<D>(conn, due, attempt_index, OutcomeWord::Failed).await?;
        let fail =
            expiry::ExpiryExecutionFailParams { now_ms: due.now_ms, crash_count: crashes.to_string(), execution: key };
        conn.expiry_execution_fail(&fail).await?;
        completion_event_id = Some(completion::<D>(conn, due, CompletionWord::Failed).await?);
    } else {
        let release = expiry::ExpiryAttemptReleaseParams { execution: key, attempt_index };
        conn.expiry_attempt_release(&release).await?;
    }
    // An attempt that is not the running one only left its lease behind.
    if !is_running {
        return Ok(Written { anything: true, ..Written::default() });
    }
    if !is_over {
        let release = expiry::ExpiryExecutionReleaseParams {
            now_ms: due.now_ms,
            crash_count: crashes.to_string(),
            execution: key,
        };
        conn.expiry_execution_release(&release).await?;
    }
    let lease_event_id = Some(lease_event::<D>(conn, due).await?);
    Ok(Written { anything: true, completion_event_id, lease_event_id, is_released: !is_over })
}

async fn time_out<D: Dialect>(engine: &Engine<D>, due: Due) -> Result<bool, EngineError> {
    let partition_key = due.key.partition_key;
    let written = transaction!(
        engine,
        "expiry_attempt",
        [due],
        |conn| { time_out_on::<D>(conn, due).await },
        |written, wakes| { written.tell(partition_key, wakes) }
    )?;
    Ok(written.anything)
}

async fn time_out_on<D: Dialect>(conn: &mut D::Connection, due: &Due) -> Result<Written, Abort> {
    let key = due.key;
    let Some((core, attempt_index)) = expired::<D>(conn, due).await? else { return Ok(Written::default()) };
    let is_running = core.lifecycle_phase == PhaseWord::Active
        && running::<D>(conn, key).await?.is_some_and(|running| running.attempt_index == attempt_index);
    if !is_running || (due.is_swept() && !ends_attempts(core.policy.as_ref())) {
        return Ok(Written::default());
    }
    let completion_event_id = if may_follow(core.policy.as_ref(), attempt_index) {
        end_attempt::<D>(conn, due, attempt_index, OutcomeWord::Interrupted).await?;
        let retries = document::counter(&core.raw_fields, "retry_count").saturating_add(1);
        conn.expiry_execution_retry(&expiry::ExpiryExecutionRetryParams {
            next_attempt_index: attempt_index.next_or_last(),
            retry_count: retries.to_string(),
            execution: key,
        })
        .await?;
        None
    } else {
        end_attempt::<D>(conn, due, attempt_index, OutcomeWord::Expired).await?;
        Some(end_execution::<D>(conn, due, "attempt_timeout").await?)
    };
    let lease_event_id = Some(lease_event::<D>(conn, due).await?);
    Ok(Written { anything: true, is_released: completion_event_id.is_none(), completion_event_id, lease_event_id })
}

async fn pass_deadline<D: Dialect>(engine: &Engine<D>, due: Due) -> Result<bool, EngineError> {
    let partition_key = due.key.partition_key;
    let written = transaction!(
        engine,
        "expiry_deadline",
        [due],
        |conn| { pass_deadline_on::<D>(conn, due).await },
        |written, wakes| { written.tell(partition_key, wakes) }
    )?;
    Ok(written.anything)
}

async fn pass_deadline_on<D: Dialect>(conn: &mut D::Connection, due: &Due) -> Result<Written, Abort> {
    let key = due.key;
    let Some(core) = due.lock::<D>(conn).await? else { return Ok(Written::default()) };
    // While an execution is delayed its deadline column says when it wakes up.
    let is_open = !core.lifecycle_phase.has_ended() && core.eligibility_state != EligibilityWord::NotEligibleUntilTime;
    if !is_open || core.deadline_at_ms.is_none_or(|deadline_ms| deadline_ms >= due.now_ms) {
        return Ok(Written::default());
    }
    let is_active = core.lifecycle_phase == PhaseWord::Active;
    // The attempt of an execution that waits for its next one has ended already.
    if (is_active || core.lifecycle_phase == PhaseWord::Suspended)
        && let Some(running) = running::<D>(conn, key).await?
    {
        end_attempt::<D>(conn, due, running.attempt_index, OutcomeWord::Expired).await?;
    }
    let suspension = expiry::ExpirySuspensionDeleteParams { execution: key };
    conn.expiry_suspension_delete(&suspension).await?;
    let waitpoints = expiry::ExpiryWaitpointDeleteAllParams { execution: key };
    conn.expiry_waitpoint_delete_all(&waitpoints).await?;
    let completion_event_id = Some(end_execution::<D>(conn, due, "execution_deadline").await?);
    let lease_event_id = if is_active { Some(lease_event::<D>(conn, due).await?) } else { None };
    Ok(Written { anything: true, completion_event_id, lease_event_id, is_released: false })
}

async fn lock<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
) -> Result<Option<expiry::ExpiryExecutionLockRow>, Abort> {
    let params = expiry::ExpiryExecutionLockParams { execution: key };
    Ok(conn.expiry_execution_lock(&params).await?)
}

/// An execution that is meant, locked, and its attempt whose lease ran out first.
async fn expired<D: Dialect>(
    conn: &mut D::Connection,
    due: &Due,
) -> Result<Option<(expiry::ExpiryExecutionLockRow, StoredIndex)>, Abort> {
    let Some(core) = due.lock::<D>(conn).await? else { return Ok(None) };
    let params = expiry::ExpiryAttemptDueParams { execution: due.key, now_ms: due.now_ms };
    Ok(conn.expiry_attempt_due(&params).await?.map(|attempt| (core, attempt.attempt_index)))
}

async fn running<D: Dialect>(
    conn: &mut D::Connection,
    key: ExecKey,
) -> Result<Option<attempt::AttemptRunningReadRow>, Abort> {
    let params = attempt::AttemptRunningReadParams { execution: key };
    Ok(conn.attempt_running_read(&params).await?)
}

async fn end_attempt<D: Dialect>(
    conn: &mut D::Connection,
    due: &Due,
    attempt_index: StoredIndex,
    outcome: OutcomeWord,
) -> Result<(), Abort> {
    let params = expiry::ExpiryAttemptEndParams { outcome, now_ms: due.now_ms, execution: due.key, attempt_index };
    conn.expiry_attempt_end(&params).await?;
    Ok(())
}

/// Ends the execution and answers its completion's event id.
async fn end_execution<D: Dialect>(conn: &mut D::Connection, due: &Due, message: &str) -> Result<i64, Abort> {
    let params = expiry::ExpiryExecutionEndParams {
        now_ms: due.now_ms,
        failure_message: message.to_owned(),
        execution: due.key,
    };
    conn.expiry_execution_end(&params).await?;
    completion::<D>(conn, due, CompletionWord::Expired).await
}

/// Writes a completion down and answers its event id.
async fn completion<D: Dialect>(conn: &mut D::Connection, due: &Due, outcome: CompletionWord) -> Result<i64, Abort> {
    let completion = grant::GrantCompletionEventInsertParams { outcome, now_ms: due.now_ms, execution: due.key };
    Ok(in_steps!(D: conn.grant_completion_event_insert(&completion)).await?.event_id)
}

async fn lease_event<D: Dialect>(conn: &mut D::Connection, due: &Due) -> Result<i64, Abort> {
    let params = grant::GrantLeaseEventInsertParams {
        execution_text: due.key.text(),
        lease_id: None,
        event_type: LeaseWord::Expired,
        now_ms: due.now_ms,
        execution: due.key,
    };
    Ok(in_steps!(D: conn.grant_lease_event_insert(&params)).await?.event_id)
}
