//! The operations, each called a number of times; the median is what counts.

use std::time::Instant;

use ff_core::backend::{
    CapabilitySet, ClaimPolicy, FailureClass, FailureReason, Frame, FrameKind, Handle, UsageDimensions,
};
use ff_core::contracts::{
    AddExecutionToFlowArgs, ApplyDependencyToChildArgs, CancelExecutionArgs, ClaimForWorkerArgs, CreateBudgetArgs,
    CreateExecutionArgs, CreateFlowArgs, EdgeDirection, HeartbeatWorkerArgs, ListExpiredLeasesArgs, ListWorkersArgs,
    RegisterWorkerArgs, ResumeCondition, ResumePolicy, ScanEligibleArgs, SeedWaitpointHmacSecretArgs, SignalMatcher,
    StageDependencyEdgeArgs, StreamCursor, SuspendArgs, SuspensionReasonCode, WaitpointBinding,
};
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily, PartitionKey, flow_partition};
use ff_core::types::{
    AttemptIndex, BudgetId, CancelSource, EdgeId, ExecutionId, FlowId, LaneId, Namespace, SuspensionId, TimestampMs,
    WaitpointId, WorkerId, WorkerInstanceId,
};

use crate::{Failure, Store, load};

/// How often each operation is called.
const CALLS: usize = 60;

/// How often each sweep is run.
const SWEEPS: usize = 9;

/// The sweeps. Retention forgets old executions, the others find nothing to do.
const SWEEP_NAMES: [&str; 12] = [
    "attempt_timeout",
    "budget_reset",
    "delayed_promoter",
    "dependency",
    "edge_cancel_dispatcher",
    "execution_deadline",
    "grant_expiry",
    "growth",
    "index_reconciler",
    "lease_expiry",
    "retention_trimmer",
    "suspension_timeout",
];

/// Creates the flows whose members are loaded; answers where their rows are.
pub(crate) async fn create_flows(backend: &dyn EngineBackend) -> Result<Vec<(FlowId, u16)>, Failure> {
    let mut flows = Vec::new();
    for _ in 0..10 {
        let flow_id = FlowId::new();
        backend.create_flow(flow(&flow_id)).await?;
        let partition = match backend.backend_label() {
            "sqlite" => 0,
            _ => flow_partition(&flow_id, &PartitionConfig::default()).index,
        };
        flows.push((flow_id, partition));
    }
    backend.seed_waitpoint_hmac_secret(SeedWaitpointHmacSecretArgs::new("k1", "00".repeat(32))).await?;
    Ok(flows)
}

/// What is measured at one size, in order.
struct Times {
    times: Vec<(&'static str, f64)>,
}

impl Times {
    /// Calls, and keeps the median in milliseconds.
    async fn of<T>(
        &mut self,
        operation: &'static str,
        calls: usize,
        mut call: impl AsyncFnMut(usize) -> Result<T, EngineError>,
    ) -> Result<Vec<T>, Failure> {
        let (mut answers, mut took) = (Vec::new(), Vec::new());
        for at in 0..calls {
            let begun = Instant::now();
            let answer = call(at).await.map_err(|error| format!("{operation}: {error}"))?;
            took.push(begun.elapsed().as_secs_f64() * 1_000.0);
            answers.push(answer);
        }
        took.sort_by(f64::total_cmp);
        self.times.push((operation, took[took.len() / 2]));
        Ok(answers)
    }
}

/// Measures every operation on a database of that many executions.
pub(crate) async fn measure(
    store: &Store,
    size: u64,
    flows: &[(FlowId, u16)],
) -> Result<Vec<(&'static str, f64)>, Failure> {
    let mut times = Times { times: Vec::new() };
    let backend = store.backend();
    let b = &*backend;
    // Connections and their plans are warm, as after a second of work.
    for _ in 0..2 {
        let mut unmeasured = Times { times: Vec::new() };
        one_execution(b, &mut unmeasured, 5).await?;
        reads(b, &mut unmeasured, size, flows, 5).await?;
    }
    one_execution(b, &mut times, CALLS).await?;
    reads(b, &mut times, size, flows, CALLS).await?;
    in_flows(b, &mut times, flows).await?;
    beside(b, &mut times).await?;
    for name in SWEEP_NAMES {
        times.of(name, SWEEPS, async |_| store.sweep(name).await).await?;
    }
    Ok(times.times)
}

/// From the creation of executions to their end.
async fn one_execution(b: &dyn EngineBackend, times: &mut Times, calls: usize) -> Result<(), Failure> {
    let ids: Vec<ExecutionId> =
        (0..calls).map(|_| ExecutionId::solo(&lane("hot"), &PartitionConfig::default())).collect();
    times.of("create_execution", calls, async |at| b.create_execution(creation(&ids[at], "hot")).await).await?;
    let held = times.of("claim", calls, async |_| claimed(b, "hot").await).await?;
    times.of("claim among many", calls, async |_| claimed(b, "waiting").await).await?;
    times.of("claim that finds nothing", calls, async |_| b.claim(&lane("empty"), &none(), policy()).await).await?;
    times.of("renew", calls, async |at| b.renew(&held[at]).await).await?;
    times.of("progress", calls, async |at| b.progress(&held[at], Some(5), None).await).await?;
    let frame = || Frame::new(b"x".to_vec(), FrameKind::Event);
    times.of("append_frame", calls, async |at| b.append_frame(&held[at], frame()).await).await?;
    times.of("set_execution_tag", calls, async |at| b.set_execution_tag(&ids[at], "team.color", "blue").await).await?;
    let reason = || FailureReason::new("broken");
    let third = calls / 3;
    times.of("fail and retry", third, async |at| b.fail(&held[at], reason(), FailureClass::Transient).await).await?;
    times.of("complete", third, async |at| b.complete(&held[third + at], None).await).await?;
    let waiting = |at: usize| suspension(at);
    times.of("suspend", third, async |at| b.suspend(&held[2 * third + at], waiting(at)).await).await?;
    times.of("cancel_execution", third, async |at| b.cancel_execution(cancelling(&ids[2 * third + at])).await).await?;
    let grants = async |_| b.claim_for_worker(wanting()).await;
    times.of("claim_for_worker", third, grants).await?;
    Ok(())
}

/// Reads of what was loaded.
async fn reads(
    b: &dyn EngineBackend,
    times: &mut Times,
    size: u64,
    flows: &[(FlowId, u16)],
    calls: usize,
) -> Result<(), Failure> {
    let partitions: Vec<u16> = flows.iter().map(|(_, partition)| *partition).collect();
    // Executions that were completed, from all over the half that was loaded last: the retention sweeps of a
    // smaller size have removed older ones.
    let done: Vec<ExecutionId> = (0..calls)
        .map(|at| {
            let number = size / 2 + size / 2 / u64::try_from(calls)? * u64::try_from(at)?;
            Ok(ExecutionId::parse(&load::id_of(number - number % 10 + 5, &partitions))?)
        })
        .collect::<Result<_, Failure>>()?;
    let found = times.of("describe_execution", calls, async |at| b.describe_execution(&done[at]).await).await?;
    if found.iter().any(Option::is_none) {
        return Err("a loaded execution is not there".into());
    }
    times.of("read_execution_state", calls, async |at| b.read_execution_state(&done[at]).await).await?;
    times.of("read_execution_context", calls, async |at| b.read_execution_context(&done[at]).await).await?;
    times.of("get_execution_result", calls, async |at| b.get_execution_result(&done[at]).await).await?;
    let first = AttemptIndex::new(0);
    let stream = async |at: usize| b.read_stream(&done[at], first, StreamCursor::Start, StreamCursor::End, 10).await;
    times.of("read_stream", calls, stream).await?;
    let page = async |at: usize| b.list_executions(key(at), None, 20).await;
    times.of("list_executions, a page", calls, page).await?;
    times.of("list_lanes", calls, async |_| b.list_lanes(None, 20).await).await?;
    let scan =
        async |at: usize| b.scan_eligible_executions(ScanEligibleArgs::new(lane("waiting"), partition(at), 20)).await;
    times.of("scan_eligible_executions", calls, scan).await?;
    let expired = async |_| {
        let mut args = ListExpiredLeasesArgs::new(now());
        args.limit = Some(20);
        b.list_expired_leases(args).await
    };
    times.of("list_expired_leases", calls, expired).await?;
    times.of("describe_flow", calls, async |at| b.describe_flow(&flows[at % 10].0).await).await?;
    Ok(())
}

/// What concerns flows with many members.
async fn in_flows(b: &dyn EngineBackend, times: &mut Times, flows: &[(FlowId, u16)]) -> Result<(), Failure> {
    let mut members = Vec::new();
    for at in 0..CALLS {
        let id = ExecutionId::parse(&format!("{{fp:{}}}:{}", flows[at % 10].1, uuid::Uuid::new_v4()))?;
        b.create_execution(creation(&id, "flow")).await?;
        members.push(id);
    }
    let adding = async |at: usize| {
        let (flow_id, execution_id) = (flows[at % 10].0.clone(), members[at].clone());
        b.add_execution_to_flow(AddExecutionToFlowArgs { flow_id, execution_id, now: now() }).await
    };
    times.of("add_execution_to_flow", CALLS, adding).await?;
    // Member at + 10 waits for member at, in the same flow.
    let mut revisions = Vec::new();
    for (flow_id, _) in flows {
        revisions.push(b.describe_flow(flow_id).await?.ok_or("a flow is not there")?.graph_revision);
    }
    let staging = async |at: usize| {
        let revision = &mut revisions[at % 10];
        let edge_id = EdgeId::new();
        let args = StageDependencyEdgeArgs {
            flow_id: flows[at % 10].0.clone(),
            edge_id: edge_id.clone(),
            upstream_execution_id: members[at].clone(),
            downstream_execution_id: members[at + 10].clone(),
            dependency_kind: "success_only".to_owned(),
            data_passing_ref: None,
            expected_graph_revision: *revision,
            now: now(),
        };
        b.stage_dependency_edge(args).await?;
        *revision += 1;
        Ok(edge_id)
    };
    let staged = times.of("stage_dependency_edge", CALLS - 10, staging).await?;
    let applying = async |at: usize| {
        let args = ApplyDependencyToChildArgs {
            flow_id: flows[at % 10].0.clone(),
            edge_id: staged[at].clone(),
            downstream_execution_id: members[at + 10].clone(),
            upstream_execution_id: members[at].clone(),
            graph_revision: 0,
            dependency_kind: "success_only".to_owned(),
            data_passing_ref: None,
            now: now(),
        };
        b.apply_dependency_to_child(args).await
    };
    times.of("apply_dependency_to_child", CALLS - 10, applying).await?;
    let listing = async |at: usize| {
        let from_node = members[at].clone();
        b.list_edges(&flows[at % 10].0, EdgeDirection::Outgoing { from_node }).await
    };
    times.of("list_edges", CALLS - 10, listing).await?;
    let mut held = Vec::new();
    while let Some(handle) = b.claim(&lane("flow"), &none(), policy()).await? {
        held.push(handle);
    }
    times.of("complete a member", held.len(), async |at| b.complete(&held[at], None).await).await?;
    Ok(())
}

/// Workers and budgets.
async fn beside(b: &dyn EngineBackend, times: &mut Times) -> Result<(), Failure> {
    let space = || Namespace::new("scale");
    let instance = |at: usize| WorkerInstanceId::new(format!("w-{at}"));
    let registering = async |at: usize| {
        let lanes = [lane("hot")].into();
        let args = RegisterWorkerArgs::new(
            WorkerId::new("w"),
            instance(at),
            lanes,
            Default::default(),
            60_000,
            space(),
            now(),
        );
        b.register_worker(args).await
    };
    times.of("register_worker", CALLS, registering).await?;
    let beating = async |at: usize| b.heartbeat_worker(HeartbeatWorkerArgs::new(instance(at), space(), now())).await;
    times.of("heartbeat_worker", CALLS, beating).await?;
    let listing = async |_| {
        let mut args = ListWorkersArgs::new();
        args.namespace = Some(space());
        b.list_workers(args).await
    };
    times.of("list_workers", CALLS, listing).await?;
    let budget = BudgetId::new();
    b.create_budget(limits(&budget)).await?;
    let handle = claimed(b, "waiting").await?;
    let spending = async |at: usize| {
        let mut usage = UsageDimensions::new();
        usage.custom = [("tokens".to_owned(), 1)].into();
        usage.dedup_key = Some(format!("{}-{at}", budget.0));
        b.report_usage(&handle, &budget, usage).await
    };
    times.of("report_usage", CALLS, spending).await?;
    Ok(())
}

fn now() -> TimestampMs {
    TimestampMs::now()
}

fn lane(name: &str) -> LaneId {
    LaneId::new(name)
}

fn none() -> CapabilitySet {
    CapabilitySet::new(std::iter::empty::<&str>())
}

fn policy() -> ClaimPolicy {
    ClaimPolicy::new(WorkerId::new("w"), WorkerInstanceId::new("w-1"), 3_600_000, None)
}

async fn claimed(b: &dyn EngineBackend, name: &str) -> Result<Handle, EngineError> {
    let handle = b.claim(&lane(name), &none(), policy()).await?;
    handle.ok_or(EngineError::NotFound { entity: "anything to claim" })
}

fn partition(at: usize) -> Partition {
    Partition { family: PartitionFamily::Flow, index: u16::try_from(at % 256).unwrap_or_default() }
}

fn key(at: usize) -> PartitionKey {
    PartitionKey::from(partition(at))
}

fn flow(flow_id: &FlowId) -> CreateFlowArgs {
    let (flow_kind, namespace) = ("kind".to_owned(), Namespace::new("scale"));
    CreateFlowArgs { flow_id: flow_id.clone(), flow_kind, namespace, now: now() }
}

fn wanting() -> ClaimForWorkerArgs {
    let (worker, instance) = (WorkerId::new("w"), WorkerInstanceId::new("w-1"));
    ClaimForWorkerArgs::new(lane("waiting"), worker, instance, Default::default(), 60_000)
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

fn creation(id: &ExecutionId, name: &str) -> CreateExecutionArgs {
    CreateExecutionArgs {
        execution_id: id.clone(),
        partition_id: id.partition(),
        namespace: Namespace::new("scale"),
        lane_id: lane(name),
        execution_kind: "kind".to_owned(),
        input_payload: b"input".to_vec(),
        payload_encoding: None,
        priority: 0,
        creator_identity: "scale".to_owned(),
        idempotency_key: None,
        tags: Default::default(),
        policy: None,
        delay_until: None,
        execution_deadline_at: None,
        now: now(),
    }
}
