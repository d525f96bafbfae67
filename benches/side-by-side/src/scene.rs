//! Work of several operations: a suspension, a flow, budgets, subscribers. What a backend cannot do is an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ff_core::backend::{Handle, ScannerFilter, UsageDimensions};
use ff_core::contracts::{
    AddExecutionToFlowArgs, ApplyDependencyToChildArgs, ClaimResumedExecutionArgs, ClaimResumedExecutionResult,
    CreateBudgetArgs, CreateFlowArgs, DeliverSignalArgs, ResumeCondition, ResumePolicy, SeedWaitpointHmacSecretArgs,
    SignalMatcher, StageDependencyEdgeArgs, StageDependencyEdgeResult, SuspendArgs, SuspendOutcome,
    SuspensionReasonCode, WaitpointBinding,
};
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::partition::{PartitionConfig, flow_partition};
use ff_core::stream_subscribe::StreamCursor;
use ff_core::types::{
    AttemptIndex, BudgetId, EdgeId, ExecutionId, FlowId, LaneId, LeaseId, Namespace, SignalId, SuspensionId,
    TimestampMs, WaitpointId, WorkerId, WorkerInstanceId,
};
use futures_util::StreamExt as _;
use tokio::task::JoinSet;

use crate::work::{self, Measured, parallel};

type Backend = Arc<dyn EngineBackend>;
type Failure = Box<dyn std::error::Error>;

/// How long a step may take to become claimable, or an event to come, before a backend counts as unable.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a worker waits that found nothing to claim. Real ones wait longer; without a pause the row would tell how
/// fast a backend finds nothing.
const PAUSE: Duration = Duration::from_millis(5);

/// How many steps a flow has, one after the other.
const STEPS: usize = 10;

/// Suspends, signals and resumes one execution per turn and worker, from its creation to its completion.
pub async fn suspensions(backend: &Backend, workers: usize, each: usize) -> Result<Measured, Failure> {
    let secret = SeedWaitpointHmacSecretArgs::new("bench", "5b".repeat(32));
    backend.seed_waitpoint_hmac_secret(secret).await?;
    let measured = parallel(workers, |worker| {
        let backend = backend.clone();
        async move {
            for _ in 0..each {
                suspension(&backend, worker).await?;
            }
            Ok((each, Vec::new()))
        }
    });
    Ok(measured.await?)
}

async fn suspension(backend: &Backend, worker: usize) -> Result<(), EngineError> {
    let lane = format!("suspended-{worker}");
    let mut created = work::new_execution();
    created.lane_id = LaneId::new(&lane);
    let id = created.execution_id.clone();
    backend.create_execution(created).await?;
    let handle = work::claim_on(backend, &lane, worker, None).await?.ok_or_else(missing)?;
    let args = SuspendArgs::new(
        SuspensionId::new(),
        WaitpointBinding::Fresh { waitpoint_id: WaitpointId::new(), waitpoint_key: "approval".into() },
        ResumeCondition::Single { waitpoint_key: "approval".into(), matcher: SignalMatcher::ByName("go".into()) },
        ResumePolicy::normal(),
        SuspensionReasonCode::WaitingForApproval,
        TimestampMs::now(),
    );
    let SuspendOutcome::Suspended { details, .. } = backend.suspend(&handle, args).await? else {
        return Err(missing());
    };
    let signal = DeliverSignalArgs {
        execution_id: id.clone(),
        waitpoint_id: details.waitpoint_id.clone(),
        signal_id: SignalId::new(),
        signal_name: "go".into(),
        signal_category: "external".into(),
        source_type: "user".into(),
        source_identity: "bench".into(),
        payload: None,
        payload_encoding: None,
        correlation_id: None,
        idempotency_key: None,
        target_scope: "waitpoint".into(),
        created_at: None,
        dedup_ttl_ms: None,
        resume_delay_ms: None,
        max_signals_per_execution: None,
        signal_maxlen: None,
        waitpoint_token: details.waitpoint_token.token().clone(),
        now: TimestampMs::now(),
    };
    backend.deliver_signal(signal).await?;
    let claim = ClaimResumedExecutionArgs {
        execution_id: id,
        worker_id: WorkerId::new("bench"),
        worker_instance_id: WorkerInstanceId::new(format!("bench-{worker}")),
        lane_id: LaneId::new(&lane),
        lease_id: LeaseId::new(),
        lease_ttl_ms: 60_000,
        current_attempt_index: AttemptIndex::new(0),
        remaining_attempt_timeout_ms: None,
        now: TimestampMs::now(),
    };
    let ClaimResumedExecutionResult::Claimed(resumed) = backend.claim_resumed_execution(claim).await?;
    backend.complete(&resumed.handle, None).await
}

/// Half of the workers create pairs and make the second wait for the first, half claim and complete on the same lane
/// for as long. Counts operations, and apart from them those that failed.
pub async fn blockers(backend: &Backend, workers: usize, each: usize) -> Result<(Measured, usize), Failure> {
    let creators = workers / 2;
    let (at_work, failures) = (Arc::new(AtomicUsize::new(creators)), Arc::new(AtomicUsize::new(0)));
    let measured = parallel(workers, |worker| {
        let (backend, at_work, failures) = (backend.clone(), at_work.clone(), failures.clone());
        async move {
            let mut count = 0;
            let mut judge = |done: Result<usize, EngineError>| match done {
                Ok(operations) => count += operations,
                Err(failed) => {
                    eprintln!("an operation failed: {failed}");
                    failures.fetch_add(1, Ordering::SeqCst);
                }
            };
            if worker < creators {
                for _ in 0..each {
                    judge(blocked_pair(&backend).await);
                }
                at_work.fetch_sub(1, Ordering::SeqCst);
            } else {
                while at_work.load(Ordering::SeqCst) > 0 {
                    judge(claimed_and_completed(&backend, worker).await);
                }
            }
            Ok((count, Vec::new()))
        }
    });
    Ok((measured.await?, failures.load(Ordering::SeqCst)))
}

/// Creates two members of a flow and makes the second wait for the first: seven operations.
async fn blocked_pair(backend: &Backend) -> Result<usize, EngineError> {
    let now = TimestampMs::now();
    let flow_id = FlowId::new();
    let partition = flow_partition(&flow_id, &PartitionConfig::default()).index;
    let flow_args =
        CreateFlowArgs { flow_id: flow_id.clone(), flow_kind: "bench".into(), namespace: Namespace::new("bench"), now };
    backend.create_flow(flow_args).await?;
    let mut members = Vec::new();
    for _ in 0..2 {
        let member = work::new_execution_in(partition);
        let execution_id = member.execution_id.clone();
        members.push(execution_id.clone());
        backend.create_execution(member).await?;
        backend.add_execution_to_flow(AddExecutionToFlowArgs { flow_id: flow_id.clone(), execution_id, now }).await?;
    }
    let graph_revision = backend.describe_flow(&flow_id).await?.ok_or_else(missing)?.graph_revision;
    depend(backend, &flow_id, &members, graph_revision, now).await?;
    Ok(7)
}

async fn claimed_and_completed(backend: &Backend, worker: usize) -> Result<usize, EngineError> {
    let Some(handle) = work::claim_on(backend, "created", worker, None).await? else {
        tokio::time::sleep(PAUSE).await;
        return Ok(0);
    };
    backend.complete(&handle, None).await?;
    Ok(2)
}

/// Builds and runs flows of ten steps in a row, one per turn and worker.
pub async fn flows(backend: &Backend, is_sqlite: bool, workers: usize, each: usize) -> Result<Measured, Failure> {
    let measured = parallel(workers, |worker| {
        let backend = backend.clone();
        async move {
            for _ in 0..each {
                flow(&backend, is_sqlite, worker).await?;
            }
            Ok((each, Vec::new()))
        }
    });
    Ok(measured.await?)
}

async fn flow(backend: &Backend, is_sqlite: bool, worker: usize) -> Result<(), EngineError> {
    let now = TimestampMs::now();
    let flow_id = FlowId::new();
    let partition = if is_sqlite { 0 } else { flow_partition(&flow_id, &PartitionConfig::default()).index };
    let lane = format!("flow-{worker}");
    let flow_args =
        CreateFlowArgs { flow_id: flow_id.clone(), flow_kind: "bench".into(), namespace: Namespace::new("bench"), now };
    backend.create_flow(flow_args).await?;
    let mut members: Vec<ExecutionId> = Vec::new();
    for _ in 0..STEPS {
        let mut member = work::new_execution_in(partition);
        member.lane_id = LaneId::new(&lane);
        let execution_id = member.execution_id.clone();
        members.push(execution_id.clone());
        backend.create_execution(member).await?;
        backend.add_execution_to_flow(AddExecutionToFlowArgs { flow_id: flow_id.clone(), execution_id, now }).await?;
    }
    let mut graph_revision = backend.describe_flow(&flow_id).await?.ok_or_else(missing)?.graph_revision;
    for pair in members.windows(2) {
        graph_revision = depend(backend, &flow_id, pair, graph_revision, now).await?;
    }
    for _ in &members {
        let handle = step(backend, &lane, worker).await?;
        backend.complete(&handle, None).await?;
    }
    Ok(())
}

/// Makes the second of two members wait for the first; answers the flow's revision after that.
async fn depend(
    backend: &Backend,
    flow_id: &FlowId,
    pair: &[ExecutionId],
    graph_revision: u64,
    now: TimestampMs,
) -> Result<u64, EngineError> {
    let [upstream, downstream] = pair else { return Err(missing()) };
    let staging = StageDependencyEdgeArgs {
        flow_id: flow_id.clone(),
        edge_id: EdgeId::new(),
        upstream_execution_id: upstream.clone(),
        downstream_execution_id: downstream.clone(),
        dependency_kind: "success_only".into(),
        data_passing_ref: None,
        expected_graph_revision: graph_revision,
        now,
    };
    let edge_id = staging.edge_id.clone();
    let StageDependencyEdgeResult::Staged { new_graph_revision, .. } = backend.stage_dependency_edge(staging).await?;
    let applying = ApplyDependencyToChildArgs {
        flow_id: flow_id.clone(),
        edge_id,
        downstream_execution_id: downstream.clone(),
        upstream_execution_id: upstream.clone(),
        graph_revision: new_graph_revision,
        dependency_kind: "success_only".into(),
        data_passing_ref: None,
        now,
    };
    backend.apply_dependency_to_child(applying).await?;
    Ok(new_graph_revision)
}

/// Claims the next step as soon as it may be claimed. Ours waits for it; of a backend that does not, it is asked again.
async fn step(backend: &Backend, lane: &str, worker: usize) -> Result<Handle, EngineError> {
    let start = Instant::now();
    loop {
        if let Some(handle) = work::claim_on(backend, lane, worker, Some(PATIENCE)).await? {
            return Ok(handle);
        }
        if start.elapsed() > PATIENCE {
            return Err(missing());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Reports usage under one handle, every worker to a budget of its own.
pub async fn budgets(backend: &Backend, handle: &Handle, workers: usize, each: usize) -> Result<Measured, Failure> {
    let mut budgets = Vec::new();
    for _ in 0..workers {
        let budget_id = BudgetId::new();
        let args = CreateBudgetArgs {
            budget_id: budget_id.clone(),
            scope_type: "tenant".into(),
            scope_id: "bench".into(),
            enforcement_mode: "strict".into(),
            on_hard_limit: "fail".into(),
            on_soft_limit: "warn".into(),
            reset_interval_ms: 0,
            dimensions: vec!["tokens".into(), "calls".into()],
            hard_limits: vec![u64::from(u32::MAX); 2],
            soft_limits: vec![u64::from(u32::MAX); 2],
            now: TimestampMs::now(),
        };
        backend.create_budget(args).await?;
        budgets.push(budget_id);
    }
    let measured = parallel(workers, |worker| {
        let (backend, handle, budget) = (backend.clone(), handle.clone(), budgets[worker].clone());
        async move {
            for _ in 0..each {
                let mut usage = UsageDimensions::new();
                usage.custom = [("tokens".into(), 3), ("calls".into(), 1)].into();
                backend.report_usage(&handle, &budget, usage).await?;
            }
            Ok((each, Vec::new()))
        }
    });
    Ok(measured.await?)
}

/// Follows completions with as many subscribers as there are workers, while the workers claim and complete what
/// waits; counts what was delivered.
pub async fn deliveries(backend: &Backend, workers: usize, completions: usize) -> Result<Measured, Failure> {
    let start = Instant::now();
    let mut subscribers = JoinSet::new();
    for _ in 0..workers {
        let mut events = backend.subscribe_completion(StreamCursor::empty(), &ScannerFilter::new()).await?;
        subscribers.spawn(async move {
            let mut count = 0;
            while count < completions {
                match tokio::time::timeout(PATIENCE, events.next()).await {
                    Ok(Some(event)) => event.map(|_| count += 1)?,
                    Ok(None) | Err(_) => return Err(missing()),
                }
            }
            Ok(count)
        });
    }
    work::drain(backend, workers, completions).await?;
    let mut measured = Measured::default();
    while let Some(delivered) = subscribers.join_next().await {
        measured.count += delivered??;
    }
    measured.elapsed = start.elapsed();
    Ok(measured)
}

/// What is said of a backend that does not do what the scene needs.
fn missing() -> EngineError {
    EngineError::Unavailable { op: "the scene" }
}
