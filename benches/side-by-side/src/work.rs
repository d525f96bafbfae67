//! The work itself, through the trait, so that every contender runs the same code.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::backend::{CapabilitySet, ClaimPolicy, Frame, FrameKind, Handle};
use ff_core::contracts::CreateExecutionArgs;
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::types::{ExecutionId, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use tokio::task::JoinSet;

type Backend = Arc<dyn EngineBackend>;

/// What a run measured.
#[derive(Debug, Default, Clone)]
pub struct Measured {
    /// Operations (or pairs) done.
    pub count: usize,
    /// Wall time.
    pub elapsed: Duration,
    /// Each call's own time, where it was taken.
    pub latencies: Vec<Duration>,
}

impl Measured {
    /// Operations per second.
    pub fn rate(&self) -> f64 {
        self.count as f64 / self.elapsed.as_secs_f64()
    }

    /// The time below which `share` of the calls stayed, in milliseconds.
    pub fn percentile_ms(&self, share: f64) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort();
        let index = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
        sorted.get(index).map_or(f64::NAN, |d| d.as_secs_f64() * 1e3)
    }
}

/// Claims on the lane `bench` with a lease of one minute.
pub async fn claim(backend: &Backend, worker: usize) -> Result<Option<Handle>, EngineError> {
    claim_on(backend, "bench", worker, None).await
}

/// Claims on a lane with a lease of one minute, and waits so long for work.
pub async fn claim_on(
    backend: &Backend,
    lane: &str,
    worker: usize,
    wait: Option<Duration>,
) -> Result<Option<Handle>, EngineError> {
    let instance = WorkerInstanceId::new(format!("bench-{worker}"));
    let policy = ClaimPolicy::new(WorkerId::new("bench"), instance, 60_000, wait);
    backend.claim(&LaneId::new(lane), &CapabilitySet::new(Vec::<String>::new()), policy).await
}

/// Runs `work(worker)` on `workers` tasks; each returns how many operations it did and their latencies.
pub async fn parallel<F, Fut>(workers: usize, work: F) -> Result<Measured, EngineError>
where
    F: Fn(usize) -> Fut,
    Fut: Future<Output = Result<(usize, Vec<Duration>), EngineError>> + Send + 'static,
{
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for worker in 0..workers {
        tasks.spawn(work(worker));
    }
    let mut measured = Measured::default();
    while let Some(done) = tasks.join_next().await {
        let (count, latencies) = done.expect("a worker task ends by itself")?;
        measured.count += count;
        measured.latencies.extend(latencies);
    }
    measured.elapsed = start.elapsed();
    Ok(measured)
}

/// Claims and completes until nothing is waiting. Latencies are those of the claims.
pub async fn drain(backend: &Backend, workers: usize, most: usize) -> Result<Measured, EngineError> {
    let share = most.div_ceil(workers);
    parallel(workers, |worker| {
        let backend = backend.clone();
        async move {
            let mut latencies = Vec::new();
            for _ in 0..share {
                let start = Instant::now();
                let Some(handle) = again(|| claim(&backend, worker)).await? else { break };
                latencies.push(start.elapsed());
                again(|| backend.complete(&handle, None)).await?;
            }
            Ok((latencies.len(), latencies))
        }
    })
    .await
}

/// Calls until it is not given up for contention, as a worker would.
async fn again<T, F: Future<Output = Result<T, EngineError>>>(call: impl Fn() -> F) -> Result<T, EngineError> {
    loop {
        match call().await {
            Err(EngineError::Contention(ContentionKind::RetryExhausted)) => {}
            ended => return ended,
        }
    }
}

/// Claims only, without completing.
pub async fn claims(backend: &Backend, workers: usize, each: usize) -> Result<Measured, EngineError> {
    parallel(workers, |worker| {
        let backend = backend.clone();
        async move {
            let mut latencies = Vec::new();
            for _ in 0..each {
                let start = Instant::now();
                claim(&backend, worker).await?;
                latencies.push(start.elapsed());
            }
            Ok((latencies.len(), latencies))
        }
    })
    .await
}

/// Renews one held lease per worker.
pub async fn renew(backend: &Backend, handles: &[Handle], each: usize) -> Result<Measured, EngineError> {
    parallel(handles.len(), |worker| {
        let (backend, handle) = (backend.clone(), handles[worker].clone());
        async move {
            for _ in 0..each {
                backend.renew(&handle).await?;
            }
            Ok((each, Vec::new()))
        }
    })
    .await
}

/// Appends durable frames of 200 bytes to one stream per worker.
pub async fn append(backend: &Backend, handles: &[Handle], each: usize) -> Result<Measured, EngineError> {
    parallel(handles.len(), |worker| {
        let (backend, handle) = (backend.clone(), handles[worker].clone());
        async move {
            let mut latencies = Vec::new();
            for _ in 0..each {
                let start = Instant::now();
                backend.append_frame(&handle, Frame::new(vec![b'x'; 200], FrameKind::Stdout)).await?;
                latencies.push(start.elapsed());
            }
            Ok((each, latencies))
        }
    })
    .await
}

/// Creates executions on the lane `created`.
pub async fn create(backend: &Backend, workers: usize, each: usize) -> Result<Measured, EngineError> {
    parallel(workers, |_| {
        let backend = backend.clone();
        async move {
            for _ in 0..each {
                backend.create_execution(new_execution()).await?;
            }
            Ok((each, Vec::new()))
        }
    })
    .await
}

/// Reads state, info and result of known executions in turn.
pub async fn read(
    backend: &Backend,
    ids: &[ExecutionId],
    workers: usize,
    each: usize,
) -> Result<Measured, EngineError> {
    parallel(workers, |worker| {
        let backend = backend.clone();
        let id = ids[worker % ids.len()].clone();
        async move {
            for _ in 0..each {
                backend.read_execution_state(&id).await?;
                backend.read_execution_info(&id).await?;
                backend.get_execution_result(&id).await?;
            }
            Ok((each * 3, Vec::new()))
        }
    })
    .await
}

/// Arguments of a fresh execution in partition 0.
pub fn new_execution() -> CreateExecutionArgs {
    new_execution_in(0)
}

/// Arguments of a fresh execution in a partition.
pub fn new_execution_in(partition_id: u16) -> CreateExecutionArgs {
    let id = format!("{{fp:{partition_id}}}:{}", uuid::Uuid::new_v4());
    CreateExecutionArgs {
        execution_id: ExecutionId::parse(&id).expect("the id is well formed"),
        namespace: Namespace::new("bench"),
        lane_id: LaneId::new("created"),
        execution_kind: "bench".into(),
        input_payload: vec![b'x'; 200],
        payload_encoding: None,
        priority: 0,
        creator_identity: "bench".into(),
        idempotency_key: None,
        tags: std::collections::HashMap::new(),
        policy: None,
        delay_until: None,
        execution_deadline_at: None,
        partition_id,
        now: TimestampMs::now(),
    }
}
