//! What is submitted, and what the workers do with it.

use std::collections::BTreeSet;
use std::time::Duration;

use ff_core::backend::FailOutcome;
use ff_core::contracts::{
    IssueReclaimGrantArgs, IssueReclaimGrantOutcome, ReclaimExecutionArgs, ReclaimExecutionOutcome, ReclaimGrant,
    ResumeCondition, ResumePolicy, SignalMatcher, StreamCursor, SuspensionReasonCode,
};
use ff_core::partition::{Partition, PartitionFamily, PartitionKey};
use ff_core::policy::{BackoffStrategy, ExecutionPolicy, RetryPolicy};
use ff_core::state::PublicState;
use ff_core::types::{AttemptId, AttemptIndex, ExecutionId, LeaseId, TimestampMs, WorkerInstanceId};
use ff_sdk::signal_bridge::verify_and_deliver_arc;
use ff_sdk::task::{ClaimedTask, Signal, SignalOutcome};
use ff_sdk::{FlowFabricWorker, ResumeGrant};

use crate::shared::{Failure, LEASE_MS, Patience, Store, execution, lane, tell, worker};

/// Creates an execution of that kind.
async fn submit(backend: &Store, kind: &str, retry_policy: Option<RetryPolicy>) -> Result<ExecutionId, Failure> {
    let mut args = execution(kind);
    args.policy = retry_policy.map(|retry| ExecutionPolicy { retry_policy: Some(retry), ..Default::default() });
    let id = args.execution_id.clone();
    backend.create_execution(args).await?;
    tell("", &format!("submitted {kind} as {id}"));
    Ok(id)
}

fn one_retry() -> Option<RetryPolicy> {
    let backoff = BackoffStrategy::Fixed { delay_ms: 200 };
    Some(RetryPolicy { max_retries: 1, backoff, ..RetryPolicy::default() })
}

/// Polls until there is a task. Each poll looks at some of the partitions.
async fn next_task(worker: &FlowFabricWorker) -> Result<ClaimedTask, Failure> {
    let waiting = Patience::begin();
    loop {
        if let Some(task) = worker.claim_next_via_backend().await? {
            let who = worker.config().worker_id.as_str();
            tell(who, &format!("claims {}, attempt {}", task.execution_kind(), task.attempt_index()));
            return Ok(task);
        }
        waiting.more(|| "no task came".to_owned()).await?;
    }
}

/// Waits until an execution is in that state.
async fn until(backend: &Store, id: &ExecutionId, expected: PublicState) -> Result<(), Failure> {
    let waiting = Patience::begin();
    loop {
        let state = backend.read_execution_state(id).await?.ok_or("it is gone")?;
        if state == expected {
            tell("", &format!("it is {}", state.as_str()));
            return Ok(());
        }
        waiting.more(|| format!("{id} is {}, not {}", state.as_str(), expected.as_str())).await?;
    }
}

/// Works until the lease that the claim gave is long over; the client renews it in the background.
pub(crate) async fn convert(backend: &Store, north: &FlowFabricWorker) -> Result<(), Failure> {
    let id = submit(backend, "convert", None).await?;
    let task = next_task(north).await?;
    assert_eq!(task.execution_id(), &id);
    assert_eq!(task.input_payload(), b"report.txt");
    let first_end = lease_end(backend, &id).await?;
    let mut page = 0;
    let waiting = Patience::begin();
    while lease_end(backend, &id).await? <= first_end || i64::try_from(backend.server_time_ms().await?)? <= first_end {
        page = (page + 1).min(100);
        task.update_progress(page, &format!("page {page}")).await?;
        task.append_frame("line", format!("page {page} of {}", task.tags()["document"]).as_bytes(), None).await?;
        tokio::time::sleep(Duration::from_millis(LEASE_MS / 5)).await;
        waiting.more(|| "the lease was not renewed".to_owned()).await?;
    }
    assert!(task.is_lease_healthy(), "the renewals succeed");
    tell("north", "still holds the lease after its first end");
    let output = backend.read_stream(&id, task.attempt_index(), StreamCursor::Start, StreamCursor::End, 1_000).await?;
    assert_eq!(output.frames.len(), usize::from(page), "every line is there");
    tell("north", &format!("wrote {page} lines"));
    task.complete(Some(b"report.pdf".to_vec())).await?;
    until(backend, &id, PublicState::Completed).await?;
    assert_eq!(backend.get_execution_result(&id).await?.as_deref(), Some(&b"report.pdf"[..]));
    Ok(())
}

async fn lease_end(backend: &Store, id: &ExecutionId) -> Result<i64, Failure> {
    let described = backend.describe_execution(id).await?.ok_or("it is gone")?;
    Ok(described.current_lease.ok_or("nobody holds it")?.expires_at.0)
}

/// Fails at first and succeeds in the next attempt.
pub(crate) async fn upload(backend: &Store, north: &FlowFabricWorker) -> Result<(), Failure> {
    let id = submit(backend, "upload", one_retry()).await?;
    let first = next_task(north).await?;
    assert_eq!(first.attempt_index(), AttemptIndex::new(0));
    match first.fail("the connection broke", "transient").await? {
        FailOutcome::RetryScheduled { .. } => tell("north", "fails; another attempt will follow"),
        other => return Err(format!("{other:?}").into()),
    }
    let second = next_task(north).await?;
    assert_eq!(second.attempt_index(), AttemptIndex::new(1));
    second.complete(None).await?;
    until(backend, &id, PublicState::Completed).await
}

/// Suspends until the reviewer approves, and goes on in the same attempt.
pub(crate) async fn publish(backend: &Store, north: &FlowFabricWorker) -> Result<(), Failure> {
    let id = submit(backend, "publish", None).await?;
    let task = next_task(north).await?;
    let approval = ResumeCondition::Single {
        waitpoint_key: "approval".to_owned(),
        matcher: SignalMatcher::ByName("approved".to_owned()),
    };
    let suspended =
        task.suspend(SuspensionReasonCode::WaitingForApproval, approval, None, ResumePolicy::normal()).await?;
    tell("north", "suspends until it is approved");
    until(backend, &id, PublicState::Suspended).await?;

    let token = suspended.details.waitpoint_token.token();
    let signal = Signal {
        signal_name: "approved".to_owned(),
        signal_category: "approval".to_owned(),
        payload: Some(b"looks good".to_vec()),
        source_type: "human".to_owned(),
        source_identity: "reviewer".to_owned(),
        idempotency_key: None,
        waitpoint_token: token.clone(),
    };
    let outcome = verify_and_deliver_arc(backend, north, &id, &suspended.details.waitpoint_id, token, signal).await?;
    assert!(matches!(outcome, SignalOutcome::TriggeredResume { .. }), "{outcome:?}");
    tell("", "the reviewer approves");

    let partition = PartitionKey::from(Partition { family: PartitionFamily::Execution, index: id.partition() });
    let until_ms = u64::try_from(TimestampMs::now().0)? + 60_000;
    let grant = ResumeGrant::new(id.clone(), partition, String::new(), until_ms, lane());
    let resumed = north.claim_from_resume_grant(grant).await?;
    assert_eq!(resumed.attempt_index(), AttemptIndex::new(0));
    let signals = resumed.resume_signals().await?;
    assert_eq!(signals.len(), 1);
    assert_eq!(signals[0].payload.as_deref(), Some(&b"looks good"[..]));
    tell("north", &format!("resumes; {} approved", signals[0].source_identity));
    resumed.complete(Some(b"https://example.org/report".to_vec())).await?;
    until(backend, &id, PublicState::Completed).await
}

/// Claims as a worker that is never heard of again: nothing renews its lease any more.
async fn die_with(backend: &Store, id: &ExecutionId) -> Result<(), Failure> {
    let east = worker("east", backend).await?;
    let lost = next_task(&east).await?;
    assert_eq!(lost.execution_id(), id);
    tell("east", "dies");
    Ok(())
}

/// The sweep ends the attempt of the worker that died, and the next attempt is claimed like any other.
pub(crate) async fn index(backend: &Store, north: &FlowFabricWorker) -> Result<(), Failure> {
    let id = submit(backend, "index", one_retry()).await?;
    die_with(backend, &id).await?;
    let next = next_task(north).await?;
    assert_eq!(next.execution_id(), &id);
    assert_eq!(next.attempt_index(), AttemptIndex::new(1));
    next.complete(None).await?;
    until(backend, &id, PublicState::Completed).await
}

/// Another worker asks for the execution of the one that died, and gets it once the lease is over.
pub(crate) async fn archive(backend: &Store, north: &FlowFabricWorker) -> Result<(), Failure> {
    let id = submit(backend, "archive", None).await?;
    die_with(backend, &id).await?;
    let waiting = Patience::begin();
    let grant = loop {
        match backend.issue_reclaim_grant(asking(north, &id)).await? {
            IssueReclaimGrantOutcome::Granted(grant) => break grant,
            IssueReclaimGrantOutcome::NotReclaimable { detail, .. } => waiting.more(|| detail).await?,
            other => return Err(format!("{other:?}").into()),
        }
    };
    match north.claim_from_reclaim_grant(grant.clone(), using(north, &grant)).await? {
        ReclaimExecutionOutcome::Claimed(handle) => {
            tell("north", "takes it over");
            backend.progress(&handle, Some(100), None).await?;
            backend.complete(&handle, Some(b"archived".to_vec())).await?;
        }
        other => return Err(format!("{other:?}").into()),
    }
    until(backend, &id, PublicState::Completed).await
}

fn asking(north: &FlowFabricWorker, id: &ExecutionId) -> IssueReclaimGrantArgs {
    let config = north.config();
    IssueReclaimGrantArgs::new(
        id.clone(),
        config.worker_id.clone(),
        config.worker_instance_id.clone(),
        lane(),
        None,
        60_000,
        None,
        None,
        BTreeSet::new(),
        TimestampMs::now(),
    )
}

fn using(north: &FlowFabricWorker, grant: &ReclaimGrant) -> ReclaimExecutionArgs {
    let config = north.config();
    ReclaimExecutionArgs::new(
        grant.execution_id.clone(),
        config.worker_id.clone(),
        config.worker_instance_id.clone(),
        grant.lane_id.clone(),
        None,
        LeaseId::new(),
        LEASE_MS,
        AttemptId::new(),
        String::new(),
        None,
        WorkerInstanceId::new(format!("east-{}", std::process::id())),
        AttemptIndex::new(0),
    )
}
