//! Makes calls of one operation of the backend on a SQLite file, with one worker: `operations complete 100`.
//!
//! `scripts/cost --operations` counts the instructions of each. What an operation needs is there for as many as there can
//! be, however often it is called, so that what two runs differ in are the calls alone.

use std::sync::Arc;

use ff_backend_sql::SqliteBackend;
use ff_core::backend::{
    CapabilitySet, ClaimPolicy, FailureClass, FailureReason, Frame, FrameKind, Handle, UsageDimensions,
};
use ff_core::contracts::{
    CancelExecutionArgs, CreateBudgetArgs, CreateExecutionArgs, ResumeCondition, ResumePolicy,
    SeedWaitpointHmacSecretArgs, SignalMatcher, SuspendArgs, SuspensionReasonCode, WaitpointBinding,
};
use ff_core::engine_backend::EngineBackend as _;
use ff_core::partition::PartitionConfig;
use ff_core::types::{
    BudgetId, CancelSource, ExecutionId, LaneId, Namespace, SuspensionId, TimestampMs, WaitpointId, WorkerId,
    WorkerInstanceId,
};

type Failure = Box<dyn std::error::Error>;

/// How many executions there are, and so how many calls there can be.
const EXECUTIONS: usize = 200;

/// What can be called.
const OPERATIONS: [&str; 12] = [
    "create", "claim", "renew", "progress", "append", "describe", "report", "complete", "fail", "retry", "suspend",
    "cancel",
];

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [operation, calls] = arguments.as_slice() else {
        println!("{}", OPERATIONS.join("\n"));
        return Ok(());
    };
    let calls: usize = calls.parse()?;
    if calls > EXECUTIONS {
        return Err(format!("at most {EXECUTIONS} calls").into());
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("flow.db").display().to_string();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let backend = SqliteBackend::new(&path).await?;
        call(&backend, operation, calls).await
    })
}

async fn call(b: &Arc<SqliteBackend>, operation: &str, calls: usize) -> Result<(), Failure> {
    let ids: Vec<ExecutionId> =
        (0..EXECUTIONS).map(|_| ExecutionId::solo(&lane(), &PartitionConfig::default())).collect();
    if operation == "create" {
        for id in &ids[..calls] {
            b.create_execution(creation(id)).await?;
        }
        return Ok(());
    }
    for id in &ids {
        b.create_execution(creation(id)).await?;
    }
    if operation == "claim" {
        for _ in 0..calls {
            claimed(b).await?;
        }
        return Ok(());
    }
    b.seed_waitpoint_hmac_secret(SeedWaitpointHmacSecretArgs::new("k1", "00".repeat(32))).await?;
    let budget = BudgetId::new();
    b.create_budget(limits(&budget)).await?;
    let mut held = Vec::new();
    for _ in &ids {
        held.push(claimed(b).await?);
    }
    for (at, handle) in held[..calls].iter().enumerate() {
        match operation {
            "renew" => drop(b.renew(handle).await?),
            "progress" => b.progress(handle, Some(5), None).await?,
            "append" => drop(b.append_frame(handle, Frame::new(b"x".to_vec(), FrameKind::Event)).await?),
            "describe" => drop(b.describe_execution(&ids[at]).await?),
            "report" => drop(b.report_usage(handle, &budget, usage()).await?),
            "complete" => b.complete(handle, None).await?,
            "fail" => drop(b.fail(handle, FailureReason::new("broken"), FailureClass::Permanent).await?),
            "retry" => drop(b.fail(handle, FailureReason::new("broken"), FailureClass::Transient).await?),
            "suspend" => drop(b.suspend(handle, suspension(at)).await?),
            "cancel" => drop(b.cancel_execution(cancelling(&ids[at])).await?),
            _ => return Err(format!("there is no operation `{operation}`").into()),
        }
    }
    Ok(())
}

fn now() -> TimestampMs {
    TimestampMs::now()
}

fn lane() -> LaneId {
    LaneId::new("hot")
}

async fn claimed(b: &SqliteBackend) -> Result<Handle, Failure> {
    let policy = ClaimPolicy::new(WorkerId::new("w"), WorkerInstanceId::new("w-1"), 3_600_000, None);
    let none = CapabilitySet::new(std::iter::empty::<&str>());
    b.claim(&lane(), &none, policy).await?.ok_or_else(|| "nothing to claim".into())
}

fn usage() -> UsageDimensions {
    let mut usage = UsageDimensions::new();
    usage.custom = [("tokens".to_owned(), 1)].into();
    usage
}

fn cancelling(id: &ExecutionId) -> CancelExecutionArgs {
    CancelExecutionArgs {
        execution_id: id.clone(),
        reason: "measured".to_owned(),
        source: CancelSource::OperatorOverride,
        lease_id: None,
        lease_epoch: None,
        attempt_id: None,
        now: now(),
    }
}

fn suspension(at: usize) -> SuspendArgs {
    let waitpoint_key = format!("key-{at}");
    let matcher = SignalMatcher::ByName("go".to_owned());
    let condition = ResumeCondition::Single { waitpoint_key: waitpoint_key.clone(), matcher };
    let binding = WaitpointBinding::Fresh { waitpoint_id: WaitpointId::new(), waitpoint_key };
    let reason = SuspensionReasonCode::WaitingForApproval;
    SuspendArgs::new(SuspensionId::new(), binding, condition, ResumePolicy::normal(), reason, now())
}

fn limits(budget_id: &BudgetId) -> CreateBudgetArgs {
    CreateBudgetArgs {
        budget_id: budget_id.clone(),
        scope_type: "tenant".to_owned(),
        scope_id: "one".to_owned(),
        enforcement_mode: "strict".to_owned(),
        on_hard_limit: "fail".to_owned(),
        on_soft_limit: "warn".to_owned(),
        reset_interval_ms: 0,
        dimensions: vec!["tokens".to_owned()],
        hard_limits: vec![1_000_000],
        soft_limits: vec![1_000_000],
        now: now(),
    }
}

fn creation(id: &ExecutionId) -> CreateExecutionArgs {
    CreateExecutionArgs {
        execution_id: id.clone(),
        partition_id: id.partition(),
        namespace: Namespace::new("cost"),
        lane_id: lane(),
        execution_kind: "kind".to_owned(),
        input_payload: b"input".to_vec(),
        payload_encoding: None,
        priority: 0,
        creator_identity: "cost".to_owned(),
        idempotency_key: None,
        tags: Default::default(),
        policy: None,
        delay_until: None,
        execution_deadline_at: None,
        now: now(),
    }
}
