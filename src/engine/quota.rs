//! Quotas: how many executions are admitted in a sliding window, and how many hold a place at once.
//!
//! Admissions under one policy happen one after the other: each locks the policy's row, also where only the
//! caller knows the limits and there is no policy. The window and the places are not scoped by dimension.
//!
//! The window is common to all callers, so no clock that is ahead moves it: an admission is judged, and noted, at the
//! caller's time, or at the backend's or the database's where that is earlier.

use ff_core::contracts::{
    CheckAdmissionArgs, CheckAdmissionResult, CreateQuotaPolicyArgs, CreateQuotaPolicyResult, QuotaPolicyLimits,
    ReleaseAdmissionArgs, ReleaseAdmissionResult,
};
use ff_core::engine_backend::ReconcileCounts;
use ff_core::engine_error::EngineError;
use ff_core::partition::Partition;
use ff_core::types::{ExecutionId, QuotaPolicyId, TimestampMs};

use crate::column::PartitionNumber;
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::policy::admission::{QuotaSeen, refusal, window_ms};
use crate::engine::round::Report;
use crate::model::id::{corruption, invalid_input};
use crate::statements::{Statements, quota};

/// How many policies are read in one call.
const PAGE: i64 = 500;

/// Over how long a policy without a window of its own counts.
const DEFAULT_WINDOW_SECONDS: u64 = 60;

/// Creates a quota policy; one that is there stays as it is.
///
/// Safe to repeat.
///
/// # Errors
/// `Validation(InvalidInput)` when a number exceeds the column.
pub(crate) async fn create<D: Dialect>(
    engine: &Engine<D>,
    args: &CreateQuotaPolicyArgs,
) -> Result<CreateQuotaPolicyResult, EngineError> {
    let params = quota::QuotaCreateParams {
        partition_key: partition(engine, &args.quota_policy_id),
        quota_policy_id: args.quota_policy_id.to_string(),
        window_seconds: stored("window_seconds", args.window_seconds)?,
        max_requests: stored("max_requests_per_window", args.max_requests_per_window)?,
        max_concurrent: stored("max_concurrent", args.max_concurrent)?,
        now_ms: engine.given(args.now).0,
    };
    let quota_policy_id = args.quota_policy_id.clone();
    Ok(match engine.db().unit(params).await? {
        0 => CreateQuotaPolicyResult::AlreadySatisfied { quota_policy_id },
        _ => CreateQuotaPolicyResult::Created { quota_policy_id },
    })
}

fn stored(field: &str, value: u64) -> Result<i64, EngineError> {
    i64::try_from(value).map_err(|_| invalid_input(format!("create_quota_policy: {field} exceeds i64::MAX ({value})")))
}

/// The limits of a quota policy, if there is one. Changes nothing.
///
/// # Errors
/// `Validation(Corruption)` when a stored number is negative.
pub(crate) async fn read_limits<D: Dialect>(
    engine: &Engine<D>,
    id: &QuotaPolicyId,
) -> Result<Option<QuotaPolicyLimits>, EngineError> {
    let params = quota::QuotaLimitsReadParams { partition_key: partition(engine, id), quota_policy_id: id.to_string() };
    let Some(row) = engine.db().read(params).await? else {
        return Ok(None);
    };
    let limit = |field: &str, value: i64| {
        u64::try_from(value).map_err(|_| {
            let place = format!("read_quota_policy_limits: quota_policy={id} field={field}");
            corruption(format!("{place} value={value} (negative)"))
        })
    };
    Ok(Some(QuotaPolicyLimits::new(
        limit("max_requests_per_window", row.max_requests_per_window)?,
        limit("requests_per_window_seconds", row.requests_per_window_seconds)?,
        limit("active_concurrency_cap", row.active_concurrency_cap)?,
        0,
    )))
}

/// Admits an execution under the limits that the caller gives, or says what it must wait for.
///
/// The policy need not exist; a place that is held under a cap makes it one without limits. Admissions that
/// left the window are forgotten, also when this one is refused. An execution whose admission still holds is
/// `AlreadyAdmitted`, so repeating it changes nothing; admitted again later it keeps its place.
pub(crate) async fn admit<D: Dialect>(
    engine: &Engine<D>,
    id: &QuotaPolicyId,
    args: &CheckAdmissionArgs,
) -> Result<CheckAdmissionResult, EngineError> {
    let args = CheckAdmissionArgs { now: engine.given(args.now), ..args.clone() };
    let asked = Asked::new(partition(engine, id), id, &args, engine.now_ms());
    transaction!(engine, "quota_admit", [asked], |conn| {
        let (policy, made) = lock_or_make::<D>(conn, asked).await?;
        let answer = admit_on::<D>(conn, asked, policy.active_concurrency).await?;
        if made && !(answer == CheckAdmissionResult::Admitted && asked.args.concurrency_cap > 0) {
            conn.quota_policy_delete(&asked.policy_delete()).await?;
        }
        Ok(answer)
    })
}

/// An execution that asks to be admitted.
struct Asked {
    partition_key: PartitionNumber,
    quota_policy_id: String,
    execution_id: String,
    args: CheckAdmissionArgs,
}

impl Asked {
    /// The time is the caller's, but not later than the backend's.
    fn new(partition_key: PartitionNumber, id: &QuotaPolicyId, args: &CheckAdmissionArgs, now_ms: i64) -> Self {
        let args = CheckAdmissionArgs { now: TimestampMs::from_millis(args.now.0.min(now_ms)), ..args.clone() };
        Self { partition_key, quota_policy_id: id.to_string(), execution_id: args.execution_id.to_string(), args }
    }

    fn policy_delete(&self) -> quota::QuotaPolicyDeleteParams {
        let (partition_key, quota_policy_id) = (self.partition_key, self.quota_policy_id.clone());
        quota::QuotaPolicyDeleteParams { partition_key, quota_policy_id }
    }
}

/// Locks the policy's row, making one where there is none; says whether it did.
async fn lock_or_make<D: Dialect>(
    conn: &mut D::Connection,
    asked: &Asked,
) -> Result<(quota::QuotaPolicyLockRow, bool), Abort> {
    let (partition_key, quota_policy_id) = (asked.partition_key, asked.quota_policy_id.clone());
    let lock = quota::QuotaPolicyLockParams { partition_key, quota_policy_id: quota_policy_id.clone() };
    if let Some(policy) = conn.quota_policy_lock(&lock).await? {
        return Ok((policy, false));
    }
    let unlimited = quota::QuotaCreateParams {
        partition_key,
        quota_policy_id,
        window_seconds: 0,
        max_requests: 0,
        max_concurrent: 0,
        now_ms: asked.args.now.0,
    };
    let made = conn.quota_create(&unlimited).await? > 0;
    match conn.quota_policy_lock(&lock).await? {
        Some(policy) => Ok((policy, made)),
        None => Err(Abort::from(corruption(format!("quota policy {} cannot be locked", asked.quota_policy_id)))),
    }
}

/// A time, or the database's when that is earlier.
async fn by_all_clocks<D: Dialect>(conn: &mut D::Connection, now_ms: i64) -> Result<i64, Abort> {
    Ok(conn.server_time().await?.now_ms.min(now_ms))
}

async fn admit_on<D: Dialect>(
    conn: &mut D::Connection,
    asked: &Asked,
    active: i64,
) -> Result<CheckAdmissionResult, Abort> {
    let (partition_key, quota_policy_id) = (asked.partition_key, asked.quota_policy_id.clone());
    let now_ms = by_all_clocks::<D>(conn, asked.args.now.0).await?;
    let args = CheckAdmissionArgs { now: TimestampMs::from_millis(now_ms), ..asked.args.clone() };
    let window_ms = window_ms(&args);
    let admitted = conn
        .quota_admitted_read(&quota::QuotaAdmittedReadParams {
            partition_key,
            quota_policy_id: quota_policy_id.clone(),
            execution_id: asked.execution_id.clone(),
        })
        .await?;
    if admitted.as_ref().is_some_and(|admitted| admitted.expires_at_ms > now_ms) {
        return Ok(CheckAdmissionResult::AlreadyAdmitted);
    }
    let trim = quota::QuotaWindowTrimParams {
        partition_key,
        quota_policy_id: quota_policy_id.clone(),
        cutoff_ms: now_ms.saturating_sub(window_ms),
    };
    conn.quota_window_trim(&trim).await?;
    let window = quota::QuotaWindowReadParams { partition_key, quota_policy_id: quota_policy_id.clone() };
    let window = conn.quota_window_read(&window).await?;
    let seen = QuotaSeen { active, admitted: window.admitted_count, oldest_at_ms: window.oldest_at_ms };
    if let Some(refusal) = refusal(&args, seen) {
        return Ok(refusal);
    }
    let admit = quota::QuotaAdmitParams {
        partition_key,
        quota_policy_id: quota_policy_id.clone(),
        now_ms,
        execution_id: asked.execution_id.clone(),
        expires_at_ms: now_ms.saturating_add(window_ms),
    };
    in_steps!(D: conn.quota_admit(&admit)).await?;
    if args.concurrency_cap > 0 && admitted.is_none() {
        let active_concurrency = active.saturating_add(1);
        conn.quota_active_set(&quota::QuotaActiveSetParams {
            active_concurrency,
            now_ms,
            partition_key,
            quota_policy_id,
        })
        .await?;
    }
    Ok(CheckAdmissionResult::Admitted)
}

/// Admits an execution under the limits that its policy stores, in a transaction of the caller's; says whether it
/// may go on. Where there is no policy, or one without limits, everything may.
pub(crate) async fn admit_by_policy<D: Dialect>(
    conn: &mut D::Connection,
    partition_key: PartitionNumber,
    id: &QuotaPolicyId,
    execution_id: ExecutionId,
    now_ms: i64,
) -> Result<bool, Abort> {
    let params = quota::QuotaLimitsReadParams { partition_key, quota_policy_id: id.to_string() };
    let limits = conn.quota_limits_read(&params).await?;
    let Some(args) = limits.and_then(|limits| by_limits(&limits, execution_id, now_ms)) else {
        return Ok(true);
    };
    let asked = Asked::new(partition_key, id, &args, now_ms);
    let (policy, _) = lock_or_make::<D>(conn, &asked).await?;
    let answer = admit_on::<D>(conn, &asked, policy.active_concurrency).await?;
    Ok(matches!(answer, CheckAdmissionResult::Admitted | CheckAdmissionResult::AlreadyAdmitted))
}

/// Whether a policy would admit an execution now, by the limits that it stores. Changes nothing.
pub(crate) async fn has_room<D: Dialect>(
    engine: &Engine<D>,
    id: &QuotaPolicyId,
    execution_id: ExecutionId,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let (partition_key, quota_policy_id) = (partition(engine, id), id.to_string());
    let params = quota::QuotaLimitsReadParams { partition_key, quota_policy_id: quota_policy_id.clone() };
    let limits = engine.db().read(params).await?;
    let Some(args) = limits.and_then(|limits| by_limits(&limits, execution_id, now_ms)) else {
        return Ok(true);
    };
    let cutoff_ms = now_ms.saturating_sub(window_ms(&args));
    let params = quota::QuotaUseReadParams { partition_key, quota_policy_id, cutoff_ms, now_ms };
    let in_use = engine.db().read(params).await?;
    let seen = QuotaSeen { active: in_use.held_count, admitted: in_use.admitted_count, oldest_at_ms: None };
    Ok(refusal(&args, seen).is_none())
}

/// What an execution asks for under the limits of a policy; nothing when the policy limits nothing. A policy
/// without a window counts over a minute.
fn by_limits(limits: &quota::QuotaLimitsReadRow, execution_id: ExecutionId, now_ms: i64) -> Option<CheckAdmissionArgs> {
    let is_limited = limits.max_requests_per_window > 0 || limits.active_concurrency_cap > 0;
    let window_seconds = limits.requests_per_window_seconds.max(0).unsigned_abs();
    is_limited.then(|| CheckAdmissionArgs {
        execution_id,
        now: TimestampMs::from_millis(now_ms),
        window_seconds: if window_seconds == 0 { DEFAULT_WINDOW_SECONDS } else { window_seconds },
        rate_limit: limits.max_requests_per_window.max(0).unsigned_abs(),
        concurrency_cap: limits.active_concurrency_cap.max(0).unsigned_abs(),
        jitter_ms: None,
    })
}

/// Gives the place of an execution back; its use of the rate stays.
///
/// Safe to repeat: the second time there is no place to give back.
pub(crate) async fn release<D: Dialect>(
    engine: &Engine<D>,
    args: &ReleaseAdmissionArgs,
) -> Result<ReleaseAdmissionResult, EngineError> {
    let (partition_key, quota_policy_id) = (partition(engine, &args.quota_policy_id), args.quota_policy_id.to_string());
    let lock = quota::QuotaPolicyLockParams { partition_key, quota_policy_id: quota_policy_id.clone() };
    let execution_id = args.execution_id.to_string();
    let delete = quota::QuotaAdmittedDeleteParams { partition_key, quota_policy_id, execution_id };
    let now_ms = engine.now_ms();
    transaction!(engine, "quota_release", [lock, delete], |conn| {
        let policy = conn.quota_policy_lock(lock).await?;
        if conn.quota_admitted_delete(delete).await? > 0
            && let Some(policy) = policy.filter(|policy| policy.active_concurrency > 0)
        {
            conn.quota_active_set(&quota::QuotaActiveSetParams {
                active_concurrency: policy.active_concurrency - 1,
                now_ms,
                partition_key,
                quota_policy_id: lock.quota_policy_id.clone(),
            })
            .await?;
        }
        Ok(ReleaseAdmissionResult::Released)
    })
}

/// Sets one policy of a partition right: forgets what has left the window, gives places back whose time is
/// over, and counts the places that are held. Says whether anything changed. A policy that somebody holds is left
/// for the next time.
///
/// Without a cap the count knows only of places that callers took under caps of their own, so it is never raised.
async fn reconcile_one<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    quota_policy_id: String,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let seize = quota::QuotaPolicyTryLockParams { partition_key, quota_policy_id: quota_policy_id.clone() };
    let lock = quota::QuotaPolicyLockParams { partition_key, quota_policy_id };
    transaction!(engine, "quota_reconcile", [seize, lock], |conn| {
        if conn.quota_policy_try_lock(seize).await?.is_none() {
            return Ok(false);
        }
        let Some(policy) = conn.quota_policy_lock(lock).await? else {
            return Ok(false);
        };
        let now_ms = by_all_clocks::<D>(conn, now_ms).await?;
        let quota_policy_id = || lock.quota_policy_id.clone();
        let mut changed = false;
        if policy.requests_per_window_seconds > 0 {
            let window_ms = policy.requests_per_window_seconds.saturating_mul(1_000);
            let cutoff_ms = now_ms.saturating_sub(window_ms);
            let trim = quota::QuotaWindowTrimParams { partition_key, quota_policy_id: quota_policy_id(), cutoff_ms };
            changed |= conn.quota_window_trim(&trim).await? > 0;
        }
        let prune = quota::QuotaAdmittedPruneParams { partition_key, quota_policy_id: quota_policy_id(), now_ms };
        changed |= conn.quota_admitted_prune(&prune).await? > 0;
        let count = quota::QuotaAdmittedCountParams { partition_key, quota_policy_id: quota_policy_id() };
        let held = conn.quota_admitted_count(&count).await?.admitted_count;
        let is_capped = policy.active_concurrency_cap > 0;
        let active_concurrency = if is_capped { held } else { held.min(policy.active_concurrency) };
        if active_concurrency != policy.active_concurrency {
            changed = true;
            conn.quota_active_set(&quota::QuotaActiveSetParams {
                active_concurrency,
                now_ms,
                partition_key,
                quota_policy_id: quota_policy_id(),
            })
            .await?;
        }
        Ok(changed)
    })
}

/// The partition of a quota policy's rows.
fn partition<D: Dialect>(engine: &Engine<D>, id: &QuotaPolicyId) -> PartitionNumber {
    D::quota_partition(id, engine.partitions())
}

/// Sets the quota policies of a partition right, one after the other.
///
/// # Errors
/// `Validation(InvalidInput)` when the partition exceeds the column.
pub(crate) async fn reconcile<D: Dialect>(
    engine: &Engine<D>,
    partition: &Partition,
    now: TimestampMs,
) -> Result<ReconcileCounts, EngineError> {
    let partition_key = D::counter_partition(PartitionNumber::given(partition.index)?);
    let report = reconcile_in(engine, partition_key, engine.given(now).0.min(engine.now_ms())).await?;
    Ok(report.into())
}

/// The same in all partitions.
pub(crate) async fn reconcile_all<D: Dialect>(engine: &Engine<D>) -> Result<Report, EngineError> {
    let mut all = Report::default();
    for partition_key in D::counter_partitions(engine.partitions().num_quota_partitions) {
        all.add(reconcile_in(engine, partition_key, engine.now_ms()).await?);
    }
    Ok(all)
}

async fn reconcile_in<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    now_ms: i64,
) -> Result<Report, EngineError> {
    let mut report = Report::default();
    let mut after = String::new();
    loop {
        let page = quota::QuotaPolicyListParams { partition_key, after, page_size: PAGE };
        let rows = engine.db().read(page).await?;
        let Some(last) = rows.last() else { return Ok(report) };
        after = last.quota_policy_id.clone();
        for row in rows {
            report.count(reconcile_one(engine, partition_key, row.quota_policy_id, now_ms).await);
        }
    }
}
