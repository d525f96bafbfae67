//! A worker: creates, claims, takes over, streams, renews, completes, fails, forgets, and writes down what was
//! answered. As a process it works until it is killed or the driver is gone.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ff_backend_sql::testing::Clock;
use ff_core::backend::{
    CapabilitySet, ClaimPolicy, FailOutcome, FailureClass, FailureReason, Frame, FrameKind, Handle, ScannerFilter,
};
use ff_core::contracts::{
    IssueReclaimGrantArgs, IssueReclaimGrantOutcome, ListExpiredLeasesArgs, ReclaimExecutionArgs,
    ReclaimExecutionOutcome,
};
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::policy::{BackoffStrategy, ExecutionPolicy, RetryPolicy};
use ff_core::stream_events::LeaseHistoryEvent;
use ff_core::stream_subscribe::{StreamCursor, decode_postgres_event_cursor};
use ff_core::types::{AttemptId, AttemptIndex, ExecutionId, LaneId, LeaseId, TimestampMs, WorkerId, WorkerInstanceId};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::harness::{LEASE_MS, Place, Sweeps, creation, id_in, payload, uuid_of};
use crate::journal::{Journal, Lease, Line, Moment};
use crate::random::Random;

/// The variable that holds a worker's [`Orders`].
pub(crate) const ORDERS: &str = "FF_KILLS_ORDERS";

/// What a worker process prints after each line of its journal.
pub(crate) const TICK: &str = "+";

/// How many tasks work in a process, so that operations share commits and connections.
const TASKS: u64 = 3;

/// How many partitions the executions are in.
const PARTITIONS: u64 = 4;

/// What a worker process is told at its start. Later, a line on its input moves its clock.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) place: Place,
    pub(crate) journal: PathBuf,
    pub(crate) name: String,
    pub(crate) now_ms: i64,
    pub(crate) seed: u64,
}

/// Follows the orders in the environment; without any there is nothing to do.
pub(crate) async fn run_as_process() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let orders: Orders = serde_json::from_str(&orders).expect("the orders are JSON");
    let clock = Clock::frozen(orders.now_ms);
    tokio::spawn(follow_the_driver(clock.clone()));
    let backend = orders.place.open(&clock, Sweeps::Off).await;
    let journal = Arc::new(Journal::create(&orders.journal));
    let worker = Worker { backend, clock, journal, name: orders.name, ticks: true };
    tokio::spawn(worker.clone().watch());
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        tasks.spawn(worker.clone().work(Random::new(orders.seed.wrapping_add(task))));
    }
    tasks.join_all().await;
}

/// Sets the clock to what the driver says, and ends the process when the driver is gone.
async fn follow_the_driver(clock: Clock) {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        clock.set(line.parse().expect("a time"));
    }
    std::process::exit(0);
}

#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) backend: Arc<dyn EngineBackend>,
    pub(crate) clock: Clock,
    pub(crate) journal: Arc<Journal>,
    pub(crate) name: String,
    /// Whether somebody counts the lines.
    pub(crate) ticks: bool,
}

impl Worker {
    /// Writes a line and says so.
    fn note(&self, line: &Line) {
        self.journal.write(line);
        if self.ticks {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{TICK}").and_then(|()| out.flush()).expect("the driver counts");
        }
    }

    /// Writes down what a subscription yields.
    async fn watch(self) {
        loop {
            let events = self.backend.subscribe_lease_history(StreamCursor::empty(), &ScannerFilter::new()).await;
            let Ok(mut events) = events else {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            while let Some(event) = events.next().await {
                if let Ok(event) = event {
                    self.journal.write(&seen(&event));
                }
            }
        }
    }

    async fn work(self, mut random: Random) {
        loop {
            if let Err(error) = self.turn(&mut random).await
                && matches!(error, EngineError::Transport { .. })
            {
                // The database is away or busy. Whether the operation took effect, nobody knows.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    /// One thing of many. A refusal is an answer too: somebody else took the lease meanwhile.
    async fn turn(&self, random: &mut Random) -> Result<(), EngineError> {
        let held = match random.below(8) {
            0 | 1 => return self.create(random).await,
            2 | 3 => self.take_over(random).await?,
            _ => self.claim().await?,
        };
        match held {
            Some(handle) => self.run(&handle, random).await,
            None => self.create(random).await,
        }
    }

    async fn create(&self, random: &mut Random) -> Result<(), EngineError> {
        let execution_id = id_in(u16::try_from(random.below(PARTITIONS)).expect("a small number"));
        let execution = hex_of(&execution_id);
        let mut args = creation(execution_id, self.clock.now_ms());
        let backoff = BackoffStrategy::Fixed { delay_ms: 0 };
        let retry_policy = Some(RetryPolicy { max_retries: 1_000_000, backoff, retryable_categories: Vec::new() });
        args.policy = Some(ExecutionPolicy { retry_policy, ..Default::default() });
        self.backend.create_execution(args).await?;
        self.note(&Line::Created { execution });
        Ok(())
    }

    /// Claims what waits.
    pub(crate) async fn claim(&self) -> Result<Option<Handle>, EngineError> {
        let from_ms = self.clock.now_ms();
        let ttl_ms = u32::try_from(LEASE_MS).expect("a short lease");
        let policy = ClaimPolicy::new(WorkerId::new(&self.name), self.instance(), ttl_ms, None);
        let claimed = self.backend.claim(&lane(), &CapabilitySet::new(std::iter::empty::<&str>()), policy).await?;
        Ok(claimed.inspect(|handle| self.holds(handle, from_ms)))
    }

    /// Takes over an execution whose lease ran out.
    pub(crate) async fn take_over(&self, random: &mut Random) -> Result<Option<Handle>, EngineError> {
        let mut asked = ListExpiredLeasesArgs::new(TimestampMs::from_millis(self.clock.now_ms()));
        asked.max_partitions_per_call = Some(256);
        let entries = self.backend.list_expired_leases(asked).await?.entries;
        let Some(count) = u64::try_from(entries.len()).ok().filter(|count| *count > 0) else { return Ok(None) };
        let chosen = &entries[usize::try_from(random.below(count)).expect("an index")];
        let id = &chosen.execution_id;
        let from_ms = self.clock.now_ms();
        let grant = IssueReclaimGrantArgs::new(
            id.clone(),
            WorkerId::new(&self.name),
            self.instance(),
            lane(),
            None,
            60_000,
            None,
            None,
            BTreeSet::new(),
            TimestampMs::from_millis(from_ms),
        );
        let IssueReclaimGrantOutcome::Granted(_) = self.backend.issue_reclaim_grant(grant).await? else {
            return Ok(None);
        };
        let using = ReclaimExecutionArgs::new(
            id.clone(),
            WorkerId::new(&self.name),
            self.instance(),
            lane(),
            None,
            LeaseId::new(),
            u64::try_from(LEASE_MS).expect("a short lease"),
            AttemptId::new(),
            String::new(),
            Some(1_000_000),
            chosen.worker_instance_id.clone(),
            AttemptIndex::new(chosen.attempt_index.0),
        );
        match self.backend.reclaim_execution(using).await? {
            ReclaimExecutionOutcome::Claimed(handle) => {
                self.holds(&handle, from_ms);
                Ok(Some(handle))
            }
            _ => Ok(None),
        }
    }

    fn instance(&self) -> WorkerInstanceId {
        WorkerInstanceId::new(format!("{}-1", self.name))
    }

    fn holds(&self, handle: &Handle, from_ms: i64) {
        let (lease, at_ms) = (lease_of(handle), self.clock.now_ms());
        self.note(&Line::Held { lease, at_ms, until_ms: from_ms + LEASE_MS, written: Moment::now() });
    }

    /// Does the work of an execution, and ends it one way or another.
    async fn run(&self, handle: &Handle, random: &mut Random) -> Result<(), EngineError> {
        let lease = lease_of(handle);
        for _ in 0..random.below(3) {
            if random.below(2) == 0 {
                let frame = Frame::new(self.name.clone().into_bytes(), FrameKind::Event);
                let frame = self.backend.append_frame(handle, frame).await?.stream_id;
                self.note(&Line::Framed { lease: lease.clone(), frame });
            } else {
                let renewed = self.backend.renew(handle).await?;
                let until_ms = i64::try_from(renewed.expires_at_ms).expect("a time");
                self.note(&Line::Renewed { lease: lease.clone(), until_ms });
            }
        }
        match random.below(8) {
            // Forgotten, as by a worker that hangs.
            0 => Ok(()),
            1 | 2 => {
                self.note(&Line::Ending { lease: lease.clone(), written: Moment::now() });
                let failed = self.backend.fail(handle, FailureReason::new("broken"), FailureClass::Transient).await?;
                assert!(matches!(failed, FailOutcome::RetryScheduled { .. }), "there are retries left");
                self.note(&Line::Retried { lease });
                Ok(())
            }
            _ => self.complete(handle, random).await,
        }
    }

    pub(crate) async fn complete(&self, handle: &Handle, random: &mut Random) -> Result<(), EngineError> {
        let (lease, result) = (lease_of(handle), random.next().to_be_bytes());
        self.note(&Line::Ending { lease: lease.clone(), written: Moment::now() });
        self.backend.complete(handle, Some(result.to_vec())).await?;
        self.note(&Line::Completed { lease, result: result.iter().map(|byte| format!("{byte:02x}")).collect() });
        Ok(())
    }
}

fn lane() -> LaneId {
    LaneId::new("lane")
}

/// The uuid of an execution in hex.
fn hex_of(id: &ExecutionId) -> String {
    uuid_of(id).replace('-', "")
}

fn lease_of(handle: &Handle) -> Lease {
    let held = payload(handle);
    let execution = hex_of(&held.execution_id);
    Lease { execution, attempt: held.attempt_index.0, epoch: held.lease_epoch.0 }
}

/// The line of an event, with what its row says.
fn seen(event: &LeaseHistoryEvent) -> Line {
    let kind = match event {
        LeaseHistoryEvent::Acquired { .. } => "acquired",
        LeaseHistoryEvent::Renewed { .. } => "renewed",
        LeaseHistoryEvent::Expired { .. } => "expired",
        LeaseHistoryEvent::Reclaimed { .. } => "reclaimed",
        LeaseHistoryEvent::Revoked { .. } => "revoked",
        other => panic!("an event of a new kind: {other:?}"),
    };
    let event_id = decode_postgres_event_cursor(event.cursor()).expect("a cursor").expect("a place");
    Line::Seen { event_id, event: format!("{kind} {}", hex_of(event.execution_id())) }
}
