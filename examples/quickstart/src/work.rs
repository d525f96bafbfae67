//! The work of the tour, through the engine's trait alone.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{
    CapabilitySet, ClaimPolicy, FailOutcome, FailureClass, FailureReason, Frame, FrameKind, Handle, TailVisibility,
};
use ff_core::contracts::{
    CreateExecutionArgs, IssueReclaimGrantArgs, IssueReclaimGrantOutcome, ReclaimExecutionArgs,
    ReclaimExecutionOutcome, StreamCursor,
};
use ff_core::engine_backend::EngineBackend;
use ff_core::partition::PartitionConfig;
use ff_core::policy::{ExecutionPolicy, RoutingRequirements};
use ff_core::state::PublicState;
use ff_core::types::{
    AttemptId, AttemptIndex, ExecutionId, LaneId, LeaseId, Namespace, TimestampMs, WorkerId, WorkerInstanceId,
};

use crate::Failure;
use crate::story::Story;

type Backend = Arc<dyn EngineBackend>;

/// The executions of the tour.
pub(crate) struct Tasks {
    /// All, in the order of creation, with their names.
    pub(crate) all: Vec<(&'static str, ExecutionId)>,
    /// The one whose output is watched.
    pub(crate) training: ExecutionId,
}

fn lane(name: &str) -> LaneId {
    LaneId::new(name)
}

/// Creates the executions.
pub(crate) async fn submit(backend: &Backend, story: &Story) -> Result<Tasks, Failure> {
    story.title("Six executions");
    let plan: [(&str, &str, i32, &[&str]); 6] = [
        ("train model", "media", 10, &["gpu"]),
        ("make thumbnail 1", "media", 1, &[]),
        ("make thumbnail 2", "media", 5, &[]),
        ("import feed", "media", 3, &[]),
        ("parse bad file", "media", 2, &[]),
        ("render video", "render", 0, &[]),
    ];
    let mut all = Vec::new();
    for (name, lane_name, priority, capabilities) in plan {
        let id = ExecutionId::solo(&lane(lane_name), &PartitionConfig::default());
        let policy = ExecutionPolicy {
            routing_requirements: Some(RoutingRequirements {
                required_capabilities: capabilities.iter().map(|c| (*c).to_owned()).collect(),
                ..RoutingRequirements::default()
            }),
            ..ExecutionPolicy::default()
        };
        backend
            .create_execution(CreateExecutionArgs {
                execution_id: id.clone(),
                namespace: Namespace::new("quickstart"),
                lane_id: lane(lane_name),
                execution_kind: name.to_owned(),
                input_payload: name.as_bytes().to_vec(),
                payload_encoding: None,
                priority,
                creator_identity: "quickstart".to_owned(),
                idempotency_key: None,
                tags: HashMap::from([("demo.name".to_owned(), name.to_owned())]),
                policy: Some(policy),
                delay_until: None,
                execution_deadline_at: None,
                partition_id: id.partition(),
                now: TimestampMs::now(),
            })
            .await?;
        let needs =
            if capabilities.is_empty() { String::new() } else { format!(", needs {}", capabilities.join(", ")) };
        story.says("client", &format!("creates “{name}”, priority {priority}{needs}"));
        all.push((name, id));
    }
    let training = all[0].1.clone();
    Ok(Tasks { all, training })
}

/// A worker's identity.
pub(crate) struct Worker {
    name: &'static str,
    capabilities: Vec<&'static str>,
}

impl Worker {
    /// Takes anything without special needs.
    pub(crate) fn north() -> Self {
        Self { name: "north", capabilities: vec!["cpu"] }
    }

    /// Has a gpu too.
    pub(crate) fn south() -> Self {
        Self { name: "south", capabilities: vec!["cpu", "gpu"] }
    }

    fn policy(&self, lease_ttl_ms: u32) -> ClaimPolicy {
        ClaimPolicy::new(
            WorkerId::new(self.name),
            WorkerInstanceId::new(format!("{}-{}", self.name, std::process::id())),
            lease_ttl_ms,
            None,
        )
    }

    fn capabilities(&self) -> CapabilitySet {
        CapabilitySet::new(self.capabilities.iter().copied())
    }
}

fn execution_of(handle: &Handle) -> Result<ExecutionId, Failure> {
    Ok(ff_core::handle_codec::decode(&handle.opaque)?.payload.execution_id)
}

/// Claims and works until the lane is empty.
pub(crate) async fn run_worker(backend: Backend, story: Arc<Story>, worker: Worker) -> Result<(), Failure> {
    while let Some(handle) = backend.claim(&lane("media"), &worker.capabilities(), worker.policy(30_000)).await? {
        let context = backend.read_execution_context(&execution_of(&handle)?).await?;
        let name = context.execution_kind.as_str();
        story.says(worker.name, &format!("claims “{name}”"));
        match name {
            "train model" => train(&backend, &story, worker.name, &handle).await?,
            "parse bad file" => {
                let reason = FailureReason::new("line 3 is not JSON");
                backend.fail(&handle, reason, FailureClass::Permanent).await?;
                story.says(worker.name, "fails “parse bad file” for good: line 3 is not JSON");
                continue;
            }
            "import feed" => {
                let attempt = backend.read_current_attempt_index(&execution_of(&handle)?).await?;
                if attempt.0 == 0 {
                    let reason = FailureReason::new("the server hung up");
                    let outcome = backend.fail(&handle, reason, FailureClass::Transient).await?;
                    let again = matches!(outcome, FailOutcome::RetryScheduled { .. });
                    story.says(
                        worker.name,
                        &format!("“import feed” fails in transit{}", if again { ", a retry is scheduled" } else { "" }),
                    );
                    continue;
                }
            }
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
        backend.complete(&handle, Some(format!("done by {}", worker.name).into_bytes())).await?;
        story.says(worker.name, &format!("completes “{name}”"));
    }
    Ok(())
}

async fn train(backend: &Backend, story: &Story, who: &str, handle: &Handle) -> Result<(), Failure> {
    for epoch in 1..=4_u8 {
        tokio::time::sleep(Duration::from_millis(60)).await;
        let line = format!("epoch {epoch} of 4, loss {:.2}", 1.0 / f64::from(epoch));
        backend.append_frame(handle, Frame::new(line.into_bytes(), FrameKind::Stdout)).await?;
        backend.progress(handle, Some(epoch * 25), None).await?;
        if epoch == 2 {
            let renewal = backend.renew(handle).await?;
            story.says(who, &format!("renews its lease, epoch {}", renewal.lease_epoch));
        }
    }
    Ok(())
}

/// Follows the output of an execution's first attempt until four frames came.
pub(crate) async fn watch(backend: Backend, story: Arc<Story>, id: ExecutionId) -> Result<(), Failure> {
    let mut after = "0-0".to_owned();
    let mut seen = 0;
    while seen < 4 {
        let frames = backend
            .tail_stream(&id, AttemptIndex::new(0), StreamCursor::At(after.clone()), 5_000, 100, TailVisibility::All)
            .await?;
        if frames.frames.is_empty() {
            return Err("no output for five seconds".into());
        }
        for frame in frames.frames {
            story.says("tail", &format!("“train model” prints: {}", frame.fields.get("payload").map_or("", |p| p)));
            after = frame.id;
            seen += 1;
        }
    }
    Ok(())
}

/// A worker dies with a task in its hands; another one takes the task over.
pub(crate) async fn crash_and_recover(backend: &Backend, story: &Story, tasks: &Tasks) -> Result<(), Failure> {
    const LEASE_MS: u32 = 300;
    let id = &tasks.all[5].1;
    let east = Worker { name: "east", capabilities: vec!["cpu"] };
    let lost = backend
        .claim(&lane("render"), &east.capabilities(), east.policy(LEASE_MS))
        .await?
        .ok_or("nothing to claim on the lane render")?;
    story.says("east", &format!("claims “render video” for {LEASE_MS} ms and crashes"));
    tokio::time::sleep(Duration::from_millis(u64::from(LEASE_MS) + 50)).await;

    let north = WorkerInstanceId::new(format!("north-{}", std::process::id()));
    let granted = backend
        .issue_reclaim_grant(IssueReclaimGrantArgs::new(
            id.clone(),
            WorkerId::new("north"),
            north.clone(),
            lane("render"),
            None,
            10_000,
            None,
            None,
            BTreeSet::new(),
            TimestampMs::now(),
        ))
        .await?;
    if !matches!(granted, IssueReclaimGrantOutcome::Granted(_)) {
        return Err(format!("no grant for the crashed execution: {granted:?}").into());
    }
    let outcome = backend
        .reclaim_execution(ReclaimExecutionArgs::new(
            id.clone(),
            WorkerId::new("north"),
            north,
            lane("render"),
            None,
            LeaseId::new(),
            30_000,
            AttemptId::new(),
            String::new(),
            None,
            WorkerInstanceId::new(format!("east-{}", std::process::id())),
            AttemptIndex::new(0),
        ))
        .await?;
    let ReclaimExecutionOutcome::Claimed(handle) = outcome else {
        return Err(format!("the crashed execution could not be reclaimed: {outcome:?}").into());
    };
    story.says("north", "reclaims “render video”");
    if let Err(refused) = backend.complete(&lost, None).await {
        story.says("east", &format!("comes back and is fenced off: {refused}"));
    } else {
        return Err("a worker without a lease completed an execution".into());
    }
    backend.complete(&handle, Some(b"done by north".to_vec())).await?;
    story.says("north", "completes “render video”");
    Ok(())
}

/// Reads everything back.
pub(crate) async fn print_table(backend: &Backend, story: &Story, tasks: &Tasks) -> Result<(), Failure> {
    story.row(&["execution", "state", "priority", "attempts", "frames", "result"], true);
    for (name, id) in &tasks.all {
        let info = backend.read_execution_info(id).await?.ok_or("an execution is gone")?;
        let attempts = backend.read_total_attempt_count(id).await?;
        let frames =
            backend.read_stream(id, AttemptIndex::new(0), StreamCursor::Start, StreamCursor::End, 1_000).await?;
        let result = backend.get_execution_result(id).await?;
        let state = match info.public_state {
            PublicState::Completed => "completed",
            PublicState::Failed => "failed",
            _ => "unfinished",
        };
        story.row(
            &[
                name,
                state,
                &info.priority.to_string(),
                &attempts.0.to_string(),
                &frames.frames.len().to_string(),
                &result.map_or("-".to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned()),
            ],
            false,
        );
    }
    Ok(())
}
