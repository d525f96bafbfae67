//! Budgets: what was used per dimension, the limits on it, and what each execution can give back.
//!
//! A report is checked in all its dimensions before any of them is counted; one that would exceed a hard
//! limit is counted in none. Only a value above its limit is a breach, and a limit of 0 is none. A counter
//! that reaches the end of its column stays there.
//!
//! On a database with row locks everyone takes them in one order: the key of the report, the counters by
//! name, the policy, and what an execution can give back. Limits never change through the trait, so a report
//! reads the policy without a lock.

use std::collections::{BTreeMap, HashMap};

use ff_core::contracts::{
    BudgetStatus, BudgetUsageAndLimits, CreateBudgetArgs, CreateBudgetResult, RecordSpendArgs, ReleaseBudgetArgs,
    ReportUsageAdminArgs, ReportUsageResult, ResetBudgetArgs, ResetBudgetResult,
};
use ff_core::engine_backend::ReconcileCounts;
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::partition::Partition;
use ff_core::types::{BudgetId, TimestampMs};
use serde_json::{Map, Value, json};

use crate::column::PartitionNumber;
use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::policy::budget::{BudgetPolicy, Finding, answer_document, kept_answer};
use crate::engine::round;
use crate::engine::seize::{self, Seized};
use crate::model::id::{corruption, exec_key, invalid_input, reject_nul};
use crate::model::limits;
use crate::statements::{Statements, budget};

/// How many budgets of a partition are reset in one run.
const RESET_BATCH: i64 = 20;
/// How many rows are read in one call.
const PAGE: i64 = 500;

/// How long the key of a report is kept at least.
const KEY_LIFE_MS: i64 = 86_400_000;

/// The counter that older writers made with the budget; it counts nothing.
const RESERVED_DIMENSION: &str = "_init";

/// Creates a budget; one that is there stays as it is, whatever its definition.
///
/// Safe to repeat.
///
/// # Errors
/// `Validation(InvalidInput)` when the lists of limits are not as long as that of dimensions, or a text holds
/// U+0000 or is too long.
pub(crate) async fn create<D: Dialect>(
    engine: &Engine<D>,
    args: &CreateBudgetArgs,
) -> Result<CreateBudgetResult, EngineError> {
    let count = args.dimensions.len();
    if args.hard_limits.len() != count || args.soft_limits.len() != count {
        return Err(invalid_input("create_budget: dimensions / hard_limits / soft_limits length mismatch"));
    }
    for (field, text) in [
        ("scope_type", &args.scope_type),
        ("scope_id", &args.scope_id),
        ("enforcement_mode", &args.enforcement_mode),
        ("on_hard_limit", &args.on_hard_limit),
        ("on_soft_limit", &args.on_soft_limit),
    ] {
        reject_nul(field, text)?;
    }
    args.dimensions.iter().try_for_each(|dimension| limits::DIMENSION.check("dimensions", dimension))?;
    let limits = |limits: &[u64]| -> Value {
        args.dimensions.iter().cloned().zip(limits.iter().copied().map(Value::from)).collect::<Map<_, _>>().into()
    };
    let next_reset_at_ms = i64::try_from(args.reset_interval_ms)
        .ok()
        .filter(|interval_ms| *interval_ms > 0)
        .map(|interval_ms| engine.given(args.now).0.saturating_add(interval_ms));
    let params = budget::BudgetCreateParams {
        partition_key: partition(engine, &args.budget_id),
        budget_id: args.budget_id.to_string(),
        policy_json: json!({
            "hard_limits": limits(&args.hard_limits),
            "soft_limits": limits(&args.soft_limits),
            "reset_interval_ms": args.reset_interval_ms,
            "on_hard_limit": args.on_hard_limit,
            "on_soft_limit": args.on_soft_limit,
        }),
        now_ms: engine.given(args.now).0,
        scope_type: args.scope_type.clone(),
        scope_id: args.scope_id.clone(),
        enforcement_mode: args.enforcement_mode.clone(),
        next_reset_at_ms,
    };
    let budget_id = args.budget_id.clone();
    Ok(match engine.db().unit(params).await? {
        0 => CreateBudgetResult::AlreadySatisfied { budget_id },
        _ => CreateBudgetResult::Created { budget_id },
    })
}

/// Begins a new period of a budget: its counters are zero, its last breach is forgotten.
///
/// Precondition: the budget exists. What executions can give back stays, as do the counts of breaches and the
/// keys of reports. Safe to repeat.
///
/// # Errors
/// `NotFound` without such a budget; `Validation(Corruption)` when its policy cannot be read.
pub(crate) async fn reset<D: Dialect>(
    engine: &Engine<D>,
    args: &ResetBudgetArgs,
) -> Result<ResetBudgetResult, EngineError> {
    let reset = Reset {
        partition_key: partition(engine, &args.budget_id),
        budget_id: args.budget_id.to_string(),
        now_ms: engine.given(args.now).0,
        due_by_ms: None,
    };
    let next_reset_at_ms =
        match transaction!(engine, "budget_reset", [reset], |conn| { lock_and_reset_on::<D>(conn, reset).await })? {
            Turned::To(next_reset_at_ms) => next_reset_at_ms,
            Turned::NotDue => None,
        };
    // Callers read 0 as a budget that is never reset by itself.
    let next_reset_at_ms = next_reset_at_ms.unwrap_or(0); // tidy: a column that may be null
    Ok(ResetBudgetResult::Reset { next_reset_at: TimestampMs::from_millis(next_reset_at_ms) })
}

/// A budget to reset: at once, or, given `due_by_ms`, only if its period has ended by then.
pub(crate) struct Reset {
    pub(crate) partition_key: PartitionNumber,
    pub(crate) budget_id: String,
    pub(crate) now_ms: i64,
    pub(crate) due_by_ms: Option<i64>,
}

/// How a reset ended.
pub(crate) enum Turned {
    /// A new period began; when it ends.
    To(Option<i64>),
    /// The period that runs has not ended.
    NotDue,
}

/// Resets a budget inside a transaction, and waits for its counters before.
async fn lock_and_reset_on<D: Dialect>(conn: &mut D::Connection, reset: &Reset) -> Result<Turned, Abort> {
    let (partition_key, budget_id) = (reset.partition_key, reset.budget_id.clone());
    conn.budget_usage_lock(&budget::BudgetUsageLockParams { partition_key, budget_id }).await?;
    reset_on::<D>(conn, reset).await
}

/// Resets a budget inside a transaction that has locked its counters.
pub(crate) async fn reset_on<D: Dialect>(conn: &mut D::Connection, reset: &Reset) -> Result<Turned, Abort> {
    let (partition_key, budget_id, now_ms) = (reset.partition_key, reset.budget_id.clone(), reset.now_ms);
    let lock = budget::BudgetPolicyLockParams { partition_key, budget_id: budget_id.clone() };
    let Some(row) = conn.budget_policy_lock(&lock).await? else {
        return Err(Abort::from(EngineError::NotFound { entity: "budget" }));
    };
    if reset.due_by_ms.is_some_and(|due_by_ms| row.next_reset_at_ms.is_none_or(|next_ms| next_ms > due_by_ms)) {
        return Ok(Turned::NotDue);
    }
    let next_reset_at_ms = BudgetPolicy::parse("reset_budget", &row.policy_json)?.next_reset_ms(now_ms);
    let counters = budget::BudgetUsageResetParams { now_ms, partition_key, budget_id: budget_id.clone() };
    conn.budget_usage_reset(&counters).await?;
    let policy = budget::BudgetPolicyResetParams { next_reset_at_ms, now_ms, partition_key, budget_id };
    conn.budget_policy_reset(&policy).await?;
    Ok(Turned::To(next_reset_at_ms))
}

/// What an operator sees of a budget. Changes nothing. A policy that cannot be read shows no limits.
///
/// # Errors
/// `NotFound` without such a budget.
pub(crate) async fn status<D: Dialect>(engine: &Engine<D>, id: &BudgetId) -> Result<BudgetStatus, EngineError> {
    let partition_key = partition(engine, id);
    let params = budget::BudgetPolicyReadParams { partition_key, budget_id: id.to_string() };
    let Some(row) = engine.db().read(params).await? else {
        return Err(EngineError::NotFound { entity: "budget" });
    };
    let policy = BudgetPolicy::parse("get_budget_status", &row.policy_json).ok();
    let (hard, soft) = policy.map(|policy| (policy.hard, policy.soft)).unwrap_or_default(); // tidy: shown without limits
    Ok(BudgetStatus {
        budget_id: id.to_string(),
        scope_type: row.scope_type,
        scope_id: row.scope_id,
        enforcement_mode: row.enforcement_mode,
        usage: usage(engine, partition_key, id.to_string()).await?,
        hard_limits: hard.into_iter().collect(),
        soft_limits: soft.into_iter().collect(),
        breach_count: row.breach_count.max(0).unsigned_abs(),
        soft_breach_count: row.soft_breach_count.max(0).unsigned_abs(),
        last_breach_at: row.last_breach_at_ms.map(|at_ms| at_ms.to_string()),
        last_breach_dim: row.last_breach_dim,
        next_reset_at: row.next_reset_at_ms.map(|at_ms| at_ms.to_string()),
        created_at: Some(row.created_at_ms.to_string()),
    })
}

/// What a scheduler compares: the limits under `hard:<dimension>` and `soft:<dimension>`, and what was used of
/// every dimension with a hard limit. Empty when there is no budget or no limit. Changes nothing.
///
/// # Errors
/// `Validation(Corruption)` when the policy cannot be read.
pub(crate) async fn read_usage_and_limits<D: Dialect>(
    engine: &Engine<D>,
    id: &BudgetId,
) -> Result<BudgetUsageAndLimits, EngineError> {
    let partition_key = partition(engine, id);
    let params = budget::BudgetPolicyReadParams { partition_key, budget_id: id.to_string() };
    let Some(row) = engine.db().read(params).await? else {
        return Ok(BudgetUsageAndLimits::empty());
    };
    let policy = BudgetPolicy::parse("read_budget_usage_and_limits", &row.policy_json)?;
    if policy.hard.is_empty() && policy.soft.is_empty() {
        return Ok(BudgetUsageAndLimits::empty());
    }
    let counted = usage(engine, partition_key, id.to_string()).await?;
    let of = |dimension: &String| counted.get(dimension).copied().unwrap_or(0); // tidy: what was never counted is 0
    let used = policy.hard.keys().map(|dimension| (dimension.clone(), of(dimension))).collect();
    let named = |kind: &'static str, limits: BTreeMap<String, u64>| {
        limits.into_iter().map(move |(dimension, limit)| (format!("{kind}:{dimension}"), limit.to_string()))
    };
    Ok(BudgetUsageAndLimits::new(named("hard", policy.hard).chain(named("soft", policy.soft)).collect(), used))
}

/// What was counted per dimension; a negative counter reads as 0.
pub(crate) async fn usage<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    budget_id: String,
) -> Result<HashMap<String, u64>, EngineError> {
    let rows = engine.db().read(budget::BudgetUsageListParams { partition_key, budget_id }).await?;
    let counted = rows.into_iter().filter(|row| row.dimensions_key != RESERVED_DIMENSION);
    Ok(counted.map(|row| (row.dimensions_key, row.current_value.max(0).unsigned_abs())).collect())
}

/// Counts what a worker used, and says which limit that exceeds.
///
/// The budget need not exist; without one there are no limits. A report with a key that was used before
/// changes nothing and gets the first answer again, so such a report is safe to repeat.
///
/// # Errors
/// `Validation(InvalidInput)` when a number exceeds the column, or a text holds U+0000 or is too long;
/// `Validation(Corruption)` when the policy or a kept answer cannot be read.
pub(crate) async fn report<D: Dialect>(
    engine: &Engine<D>,
    op: &'static str,
    id: &BudgetId,
    deltas: &BTreeMap<String, u64>,
    dedup_key: Option<&str>,
) -> Result<ReportUsageResult, EngineError> {
    let report = Report::new(engine, op, id, deltas, dedup_key)?;
    let ended =
        if report.claim.is_some() { report_whole(engine, report).await? } else { report_alone(engine, report).await? };
    match ended {
        Reported::Now(answer) => Ok(answer),
        Reported::Before(kept) => kept.map_or(Ok(ReportUsageResult::AlreadyApplied), |text| kept_answer(&text)),
    }
}

/// Counts what an operator reports, as [`report`] does. Of a dimension that is named twice the last number counts.
///
/// # Errors
/// As [`report`], and `Validation(InvalidInput)` when the lists differ in length.
pub(crate) async fn report_admin<D: Dialect>(
    engine: &Engine<D>,
    id: &BudgetId,
    args: &ReportUsageAdminArgs,
) -> Result<ReportUsageResult, EngineError> {
    if args.dimensions.len() != args.deltas.len() {
        return Err(invalid_input("report_usage_admin: dimensions and deltas length mismatch"));
    }
    let deltas = args.dimensions.iter().cloned().zip(args.deltas.iter().copied()).collect();
    report(engine, "report_usage_admin", id, &deltas, args.dedup_key.as_deref()).await
}

/// Counts what an execution spent, and keeps it as what that execution can give back.
///
/// As [`report`], except that a key that was used before is answered with `AlreadyApplied`. The execution need
/// not exist.
///
/// # Errors
/// As [`report`], and `Validation(InvalidInput)` when the execution's id does not parse.
pub(crate) async fn record_spend<D: Dialect>(
    engine: &Engine<D>,
    args: &RecordSpendArgs,
) -> Result<ReportUsageResult, EngineError> {
    let execution_text = exec_key(&args.execution_id)?.text();
    let key = Some(args.idempotency_key.as_str());
    let mut report = Report::new(engine, "record_spend", &args.budget_id, &args.deltas, key)?;
    report.ledger = Some(budget::BudgetLedgerAddParams {
        partition_key: report.counters.partition_key,
        budget_id: report.counters.budget_id.clone(),
        execution_text,
        now_ms: report.counters.now_ms,
        deltas: report.counters.deltas.clone(),
    });
    match report_whole(engine, report).await? {
        Reported::Now(answer) => Ok(answer),
        Reported::Before(_) => Ok(ReportUsageResult::AlreadyApplied),
    }
}

/// Gives back what an execution spent; no counter falls below zero, also when it was reset meanwhile.
///
/// What other executions spent stays. Safe to repeat: the second time there is nothing to give back.
///
/// # Errors
/// `Validation(InvalidInput)` when the execution's id does not parse.
pub(crate) async fn release<D: Dialect>(engine: &Engine<D>, args: &ReleaseBudgetArgs) -> Result<(), EngineError> {
    let execution_text = exec_key(&args.execution_id)?.text();
    let (partition_key, budget_id) = (partition(engine, &args.budget_id), args.budget_id.to_string());
    let lock = budget::BudgetUsageLockParams { partition_key, budget_id: budget_id.clone() };
    let now_ms = engine.now_ms();
    let release = budget::BudgetLedgerReleaseParams { now_ms, partition_key, budget_id, execution_text };
    transaction!(engine, "budget_release", [lock, release], |conn| {
        conn.budget_usage_lock(lock).await?;
        conn.budget_ledger_release(release).await?;
        Ok(())
    })
}

/// The partition of a budget's rows.
pub(crate) fn partition<D: Dialect>(engine: &Engine<D>, id: &BudgetId) -> PartitionNumber {
    D::budget_partition(id, engine.partitions())
}

/// A report and all that may have to be written for it.
#[derive(Clone)]
struct Report {
    op: &'static str,
    counters: budget::BudgetReportParams,
    missing: budget::BudgetUsageEnsureParams,
    /// Whether counters that are missing are added first.
    adds_counters: bool,
    claim: Option<budget::BudgetDedupClaimParams>,
    ledger: Option<budget::BudgetLedgerAddParams>,
}

/// How a report ended.
enum Reported {
    /// It was counted, or refused.
    Now(ReportUsageResult),
    /// Its key was used before; the answer that was kept then, if it is still there.
    Before(Option<String>),
}

impl Report {
    fn new<D: Dialect>(
        engine: &Engine<D>,
        op: &'static str,
        id: &BudgetId,
        deltas: &BTreeMap<String, u64>,
        dedup_key: Option<&str>,
    ) -> Result<Self, EngineError> {
        let mut added = Map::new();
        for (dimension, delta) in deltas {
            limits::DIMENSION.check("dimension", dimension)?;
            let delta = i64::try_from(*delta)
                .map_err(|_| invalid_input(format!("{op}: delta for dim={dimension} exceeds i64::MAX ({delta})")))?;
            added.insert(dimension.clone(), delta.into());
        }
        let dedup_key = dedup_key.filter(|key| !key.is_empty());
        dedup_key.map_or(Ok(()), |key| limits::REPORT_KEY.check("dedup_key", key))?;
        let (partition_key, budget_id, now_ms) = (partition(engine, id), id.to_string(), engine.now_ms());
        let claim = dedup_key.map(|key| budget::BudgetDedupClaimParams {
            partition_key,
            dedup_key: key.to_owned(),
            // Most reports end so; the others write their answer over it.
            outcome_json: answer_document(&ReportUsageResult::Ok),
            now_ms,
            expires_at_ms: now_ms.saturating_add(KEY_LIFE_MS),
        });
        let missing = budget::BudgetUsageEnsureParams {
            partition_key,
            budget_id: budget_id.clone(),
            now_ms,
            dimensions: deltas.keys().cloned().collect(),
        };
        let counters = budget::BudgetReportParams { deltas: Value::Object(added), partition_key, budget_id, now_ms };
        Ok(Self { op, counters, missing, adds_counters: false, claim, ledger: None })
    }

    /// The same report for the statement that only counts.
    fn fine(&self) -> budget::BudgetAddParams {
        budget::BudgetAddParams {
            deltas: self.counters.deltas.clone(),
            partition_key: self.counters.partition_key,
            budget_id: self.counters.budget_id.clone(),
            now_ms: self.counters.now_ms,
            dimension_count: i64::try_from(self.missing.dimensions.len()).unwrap_or(i64::MAX), // tidy: no map has that many
        }
    }

    fn policy(&self) -> budget::BudgetPolicyReadParams {
        budget::BudgetPolicyReadParams {
            partition_key: self.counters.partition_key,
            budget_id: self.counters.budget_id.clone(),
        }
    }

    /// The error about a policy that the statement could not read.
    fn unreadable(&self, policy: Option<budget::BudgetPolicyReadRow>) -> EngineError {
        match policy.map(|row| BudgetPolicy::parse(self.op, &row.policy_json)) {
            Some(Err(error)) => error,
            _ => corruption(format!("{}: ff_budget_policy.policy_json changed while it was read", self.op)),
        }
    }
}

fn found(row: budget::BudgetReportRow) -> Result<Finding, EngineError> {
    Finding::new(&row.kind, row.dimension, row.current_usage, row.limit_value)
}

/// A dimension has no counter. Counters are never deleted, so after they were added this is a foreign writer at work.
fn no_counters() -> EngineError {
    EngineError::Contention(ContentionKind::RetryExhausted)
}

/// Makes a report without a key: one call, unless it passes a limit or is the first about one of its dimensions.
async fn report_alone<D: Dialect>(engine: &Engine<D>, report: Report) -> Result<Reported, EngineError> {
    if engine.db().unit::<budget::BudgetAddParams>(report.fine()).await? > 0 {
        return Ok(Reported::Now(ReportUsageResult::Ok));
    }
    match found(engine.db().unit::<budget::BudgetReportParams>(report.counters.clone()).await?)? {
        Finding::Answer(answer) => Ok(Reported::Now(answer)),
        Finding::Missing => report_first(engine, report).await,
        Finding::Unreadable => Err(report.unreadable(engine.db().read(report.policy()).await?)),
    }
}

/// Makes a report in one transaction, and once more if it found that a counter is missing.
async fn report_whole<D: Dialect>(engine: &Engine<D>, report: Report) -> Result<Reported, EngineError> {
    match report_once(engine, report.clone()).await {
        // Also what a busy server leaves behind; then another try does no harm.
        Err(EngineError::Contention(ContentionKind::RetryExhausted)) => report_first(engine, report).await,
        ended => ended,
    }
}

/// Makes a report that may be the first about one of its dimensions, and adds the counters that it lacks before it locks any:
/// one that waited for a counter that somebody else adds would meanwhile keep those that it holds from everybody, and circles
/// come of that. In the same transaction, so that a reset comes before the report with its counters or after it.
async fn report_first<D: Dialect>(engine: &Engine<D>, report: Report) -> Result<Reported, EngineError> {
    report_once(engine, Report { adds_counters: true, ..report }).await
}

async fn report_once<D: Dialect>(engine: &Engine<D>, report: Report) -> Result<Reported, EngineError> {
    transaction!(engine, "budget_report_whole", [report], |conn| { report_on::<D>(conn, report).await })
}

/// Makes a report inside a transaction. A counter that is not there is an error, which nothing is left of.
async fn report_on<D: Dialect>(conn: &mut D::Connection, report: &Report) -> Result<Reported, Abort> {
    if let Some(claim) = &report.claim
        && conn.budget_dedup_claim(claim).await? == 0
    {
        let (partition_key, dedup_key) = (claim.partition_key, claim.dedup_key.clone());
        let kept = conn.budget_dedup_read(&budget::BudgetDedupReadParams { partition_key, dedup_key }).await?;
        return Ok(Reported::Before(kept.map(|row| row.outcome_json)));
    }
    if report.adds_counters {
        in_steps!(D: conn.budget_usage_ensure(&report.missing)).await?;
    }
    let answer = match conn.budget_add(&report.fine()).await? {
        0 => judge_on::<D>(conn, report).await?,
        _ => ReportUsageResult::Ok,
    };
    if let Some(ledger) = &report.ledger
        && !matches!(answer, ReportUsageResult::HardBreach { .. })
    {
        in_steps!(D: conn.budget_ledger_add(ledger)).await?;
    }
    if let Some(claim) = &report.claim
        && answer != ReportUsageResult::Ok
    {
        conn.budget_dedup_finish(&budget::BudgetDedupFinishParams {
            outcome_json: answer_document(&answer),
            partition_key: claim.partition_key,
            dedup_key: claim.dedup_key.clone(),
        })
        .await?;
    }
    Ok(Reported::Now(answer))
}

/// Judges a report that passes a limit or is about a dimension without a counter.
async fn judge_on<D: Dialect>(conn: &mut D::Connection, report: &Report) -> Result<ReportUsageResult, Abort> {
    match found(conn.budget_report(&report.counters).await?)? {
        Finding::Answer(answer) => Ok(answer),
        Finding::Missing => Err(Abort::from(no_counters())),
        Finding::Unreadable => {
            let policy = conn.budget_policy_read(&report.policy()).await?;
            Err(Abort::from(report.unreadable(policy)))
        }
    }
}

/// Begins the next period of budgets whose period ended by a time. What is never reset by itself is left alone.
pub(crate) async fn reset_due_at<D: Dialect>(
    engine: &Engine<D>,
    round: &round::Round,
    now_ms: i64,
) -> Result<round::Report, EngineError> {
    let (mut all, time) = (round::Report::default(), round.time());
    for partition_key in D::counter_partitions(engine.partitions().num_budget_partitions) {
        let mut goes_on = true;
        while goes_on {
            let page = reset_due_in(engine, partition_key, now_ms).await?;
            all.add(page);
            goes_on = time.allows_next(i64::from(page.total()) == RESET_BATCH, page);
        }
    }
    Ok(all)
}

/// The same for 20 budgets of one partition, the longest overdue.
pub(crate) async fn reset_due_in<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    now_ms: i64,
) -> Result<round::Report, EngineError> {
    let mut report = round::Report::default();
    for row in engine.db().read(budget::BudgetResetDueParams { partition_key, now_ms, page_size: RESET_BATCH }).await? {
        let reset = Reset { partition_key, budget_id: row.budget_id, now_ms, due_by_ms: Some(now_ms) };
        let turned = transaction!(engine, "budget_reset_due", [reset], |conn| {
            match seize::budget::<D>(conn, reset.partition_key, &reset.budget_id).await? {
                Seized::Taken => reset_on::<D>(conn, reset).await,
                Seized::Gone | Seized::Held => Ok(Turned::NotDue),
            }
        });
        report.count(turned.map(|turned| matches!(turned, Turned::To(_))));
    }
    Ok(report)
}

/// Notes breaches of hard limits that no report noted: the limits were lowered, or somebody else counted. Budgets
/// that are reset by themselves are left to that, and a breach that was noted stays noted until a reset.
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
pub(crate) async fn reconcile_all<D: Dialect>(engine: &Engine<D>) -> Result<round::Report, EngineError> {
    let mut all = round::Report::default();
    for partition_key in D::counter_partitions(engine.partitions().num_budget_partitions) {
        all.add(reconcile_in(engine, partition_key, engine.now_ms()).await?);
    }
    Ok(all)
}

async fn reconcile_in<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    now_ms: i64,
) -> Result<round::Report, EngineError> {
    let mut report = round::Report::default();
    let mut after = String::new();
    loop {
        let page = budget::BudgetPolicyListParams { partition_key, after, page_size: PAGE };
        let rows = engine.db().read(page).await?;
        let Some(last) = rows.last() else { return Ok(report) };
        after = last.budget_id.clone();
        for row in rows {
            report.count(note_breach(engine, partition_key, row, now_ms).await);
        }
    }
}

async fn note_breach<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    row: budget::BudgetPolicyListRow,
    now_ms: i64,
) -> Result<bool, EngineError> {
    let policy = BudgetPolicy::parse("reconcile_budget_counters", &row.policy_json)?;
    if policy.reset_interval_ms > 0 || row.last_breach_at_ms.is_some() || policy.hard.is_empty() {
        return Ok(false);
    }
    let usage: HashMap<String, u64> = usage(engine, partition_key, row.budget_id.clone()).await?;
    let Some(dimension) = policy.exceeded(&usage) else { return Ok(false) };
    let params = budget::BudgetBreachNoteParams {
        now_ms,
        dimension: dimension.to_owned(),
        partition_key,
        budget_id: row.budget_id,
    };
    transaction!(engine, "budget_breach_note", [params], |conn| {
        if seize::budget::<D>(conn, params.partition_key, &params.budget_id).await? != Seized::Taken {
            return Ok(false);
        }
        Ok(conn.budget_breach_note(params).await? > 0)
    })
}
