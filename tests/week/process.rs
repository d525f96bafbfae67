//! A process of the deployment. It does nothing but what the driver orders, a tick of the clock at a time, and says what it
//! did; so the time that passes is not the machine's.

use std::sync::Arc;
use std::time::Duration;

use ff_backend_sql::testing::Clock;
use ff_backend_sql::{FullScannerConfig, PostgresBackend, SqliteBackend};
use ff_core::backend::{CapabilitySet, ClaimPolicy, FailureClass, FailureReason, Frame, FrameKind, Handle};
use ff_core::contracts::{
    ClaimResumedExecutionArgs, ClaimResumedExecutionResult, DeliverSignalArgs, ResumeCondition, ResumePolicy,
    SeedWaitpointHmacSecretArgs, SignalMatcher, SuspendArgs, SuspendOutcome, SuspensionReasonCode, TimeoutBehavior,
    WaitpointBinding,
};
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::policy::{BackoffStrategy, ExecutionPolicy, RetryPolicy};
use ff_core::types::{
    AttemptIndex, ExecutionId, LeaseId, SignalId, SuspensionId, TimestampMs, WaitpointId, WorkerId, WorkerInstanceId,
};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::bounds::SWEEPS;
use crate::harness::{Harness, LEASE_MS, Place, Sweeps, creation, id_in, payload, uuid_of};
use crate::kind::{Kind, LANES, lane, lane_of};

/// The variable that holds a process's [`Setting`].
pub(crate) const SETTING: &str = "FF_WEEK_SETTING";

/// What stands before a report on the output.
pub(crate) const MARK: &str = "report ";

/// How often a worker may be lost.
const CRASH_LIMIT: u32 = 5;

/// How many ticks a long execution runs; each is two thirds of a lease.
const LONG_TICKS: u32 = 5;

/// The sweeps that run every tick; all of them run every few.
const OFTEN: [&str; 4] = ["attempt_timeout", "delayed_promoter", "grant_expiry", "lease_expiry"];

/// How often an answer that was lost is asked for again.
const TRIES: u32 = 20;

const SECOND_MS: i64 = 1_000;

/// What a process is told at its start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Setting {
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) now_ms: i64,
    /// How far its host's clock is ahead.
    pub(crate) host_is_ahead_ms: i64,
    pub(crate) retention_ms: u64,
}

/// What it is to do next.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Order {
    Tick {
        now_ms: i64,
        creations: u64,
        sweeping: Sweeping,
    },
    /// To end what it has, and itself.
    Leave,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sweeping {
    Not,
    Often,
    All,
}

/// What it did.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) created: u64,
    pub(crate) renewed: u64,
    pub(crate) signalled: u64,
    pub(crate) swept: u64,
}

/// Follows the driver; without one there is nothing to do.
pub(crate) async fn run_as_process() {
    let Ok(setting) = std::env::var(SETTING) else { return };
    let setting: Setting = serde_json::from_str(&setting).expect("the setting is JSON");
    let clock = Clock::frozen_on_host(setting.now_ms, setting.host_is_ahead_ms);
    let backend = setting.place.open(&clock, Sweeps::Off).await;
    limit_crashes(backend.as_ref());
    let mut process = Process { backend, clock, setting, held: Vec::new(), waiting: Vec::new() };
    let mut orders = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(order)) = orders.next_line().await {
        let report = match serde_json::from_str(&order).expect("an order is JSON") {
            Order::Tick { now_ms, creations, sweeping } => process.tick(now_ms, creations, sweeping).await,
            Order::Leave => return process.leave().await,
        };
        println!("{MARK}{}", serde_json::to_string(&report).expect("a report is JSON"));
    }
    // The driver is gone.
    std::process::exit(0);
}

fn limit_crashes(backend: &dyn EngineBackend) {
    match backend.as_any().downcast_ref::<SqliteBackend>() {
        Some(sqlite) => sqlite.set_crash_limit(CRASH_LIMIT),
        None => postgres(backend).set_crash_limit(CRASH_LIMIT),
    }
}

fn postgres(backend: &dyn EngineBackend) -> &PostgresBackend {
    backend.as_any().downcast_ref::<PostgresBackend>().expect("one of the two")
}

/// Asks until the answer is known; who stands between loses some.
async fn known<T, F>(ask: impl Fn() -> F) -> Result<T, EngineError>
where
    F: Future<Output = Result<T, EngineError>>,
{
    for _ in 1..TRIES {
        match ask().await {
            Err(EngineError::Transport { .. }) => tokio::time::sleep(Duration::from_millis(5)).await,
            answer => return answer,
        }
    }
    ask().await
}

/// The same for what cannot be done twice: nothing where an answer was lost and what was asked for had been done.
async fn once<T, F>(ask: impl Fn() -> F) -> Option<T>
where
    F: Future<Output = Result<T, EngineError>>,
{
    match ask().await {
        Err(EngineError::Transport { .. }) => known(ask).await.ok(),
        answer => Some(answer.expect("it is done")),
    }
}

/// An execution that runs on.
struct Held {
    handle: Handle,
    ticks_left: u32,
}

/// An execution that waits for a signal.
type Waiting = DeliverSignalArgs;

/// What became of a claimed execution.
enum After {
    Done,
    Runs(Handle),
    Waits(Box<Waiting>),
}

struct Process {
    backend: Arc<dyn EngineBackend>,
    clock: Clock,
    setting: Setting,
    held: Vec<Held>,
    waiting: Vec<Waiting>,
}

impl Process {
    async fn tick(&mut self, now_ms: i64, creations: u64, sweeping: Sweeping) -> Report {
        self.clock.set(now_ms);
        let renewed = self.renew().await;
        let signalled = self.signal().await;
        join_all((0..creations).map(|_| self.create())).await;
        let worked = join_all((0..LANES).map(|number| self.work_on(number))).await;
        for after in worked.into_iter().flatten() {
            match after {
                After::Done => {}
                After::Runs(handle) => self.held.push(Held { handle, ticks_left: LONG_TICKS }),
                After::Waits(signal) => self.waiting.push(*signal),
            }
        }
        let swept = self.sweep(sweeping).await;
        Report { created: creations, renewed, signalled, swept }
    }

    /// What the host's clock shows.
    fn shown(&self) -> TimestampMs {
        TimestampMs::from_millis(self.clock.now_ms() + self.setting.host_is_ahead_ms)
    }

    fn after(&self, ms: i64) -> TimestampMs {
        TimestampMs::from_millis(self.clock.now_ms() + ms)
    }

    /// Nobody has taken what was renewed in time.
    async fn renew(&mut self) -> u64 {
        let mut renewed = 0;
        for mut held in std::mem::take(&mut self.held) {
            known(|| self.backend.renew(&held.handle)).await.expect("the lease is held");
            renewed += 1;
            held.ticks_left -= 1;
            if held.ticks_left == 0 {
                self.complete(&held.handle).await;
            } else {
                self.held.push(held);
            }
        }
        renewed
    }

    async fn complete(&self, handle: &Handle) {
        known(|| self.backend.complete(handle, Some(b"result".to_vec()))).await.expect("the lease is held");
    }

    /// Sends the signals that are waited for, and goes on with what they resume.
    async fn signal(&mut self) -> u64 {
        let mut signalled = 0;
        for mut signal in std::mem::take(&mut self.waiting) {
            signal.now = self.shown();
            once(|| self.backend.deliver_signal(signal.clone())).await;
            let claim = || self.backend.claim_resumed_execution(self.resuming(&signal.execution_id));
            // Somebody else may have claimed it meanwhile; where the answer was lost, the lease that nobody knows of runs out.
            if let Ok(ClaimResumedExecutionResult::Claimed(claimed)) = known(claim).await {
                self.complete(&claimed.handle).await;
            }
            signalled += 1;
        }
        signalled
    }

    fn resuming(&self, id: &ExecutionId) -> ClaimResumedExecutionArgs {
        ClaimResumedExecutionArgs {
            execution_id: id.clone(),
            worker_id: WorkerId::new(&self.setting.name),
            worker_instance_id: self.instance(),
            lane_id: lane(0),
            lease_id: LeaseId::new(),
            lease_ttl_ms: LEASE_MS.unsigned_abs(),
            current_attempt_index: AttemptIndex::new(0),
            remaining_attempt_timeout_ms: None,
            now: self.shown(),
        }
    }

    fn instance(&self) -> WorkerInstanceId {
        WorkerInstanceId::new(format!("{}-1", self.setting.name))
    }

    async fn create(&self) {
        let partition = u16::from(uuid::Uuid::new_v4().as_bytes()[0]);
        let id = id_in(partition);
        let kind = Kind::of(&id);
        let mut args = creation(id.clone(), self.shown().0);
        args.lane_id = lane_of(&uuid::Uuid::parse_str(&uuid_of(&id)).expect("a uuid"));
        match kind {
            Kind::Delayed => args.delay_until = Some(self.after(200 * SECOND_MS)),
            Kind::Retried => {
                let backoff = BackoffStrategy::Fixed { delay_ms: 30_000 };
                let retry_policy = Some(RetryPolicy { max_retries: 5, backoff, retryable_categories: Vec::new() });
                args.policy = Some(ExecutionPolicy { retry_policy, ..Default::default() });
            }
            Kind::Keyed => args.idempotency_key = Some(id.to_string()),
            _ => {}
        }
        known(|| self.backend.create_execution(args.clone())).await.expect("it is created");
    }

    /// Does what waits on a lane.
    async fn work_on(&self, number: u64) -> Vec<After> {
        let (lane, none) = (lane(number), CapabilitySet::new([""; 0]));
        let ttl_ms = u32::try_from(LEASE_MS).expect("a short lease");
        let policy = || ClaimPolicy::new(WorkerId::new(&self.setting.name), self.instance(), ttl_ms, None);
        let mut all = Vec::new();
        while let Some(handle) = known(|| self.backend.claim(&lane, &none, policy())).await.expect("an answer") {
            all.push(self.run(handle).await);
        }
        all
    }

    async fn run(&self, handle: Handle) -> After {
        let held = payload(&handle);
        let is_first = held.lease_epoch.0 == 1;
        match Kind::of(&held.execution_id) {
            // Its worker is never heard of again.
            Kind::Poison => return After::Done,
            Kind::Crashing if is_first => return After::Done,
            Kind::Long => return After::Runs(handle),
            Kind::Signalled if is_first => return self.suspend(&handle).await,
            Kind::Unanswered => return self.suspend(&handle).await,
            Kind::Retried if held.attempt_index.0 == 0 => self.fail(&handle, FailureClass::Transient).await,
            Kind::Broken => self.fail(&handle, FailureClass::Permanent).await,
            Kind::Cancelled => {
                once(|| self.backend.cancel(&handle, "not wanted")).await;
            }
            Kind::Streaming => {
                for _ in 0..3 {
                    let frame = || Frame::new(b"some bytes".to_vec(), FrameKind::Stdout);
                    known(|| self.backend.append_frame(&handle, frame())).await.expect("the lease is held");
                }
                self.complete(&handle).await;
            }
            _ => self.complete(&handle).await,
        }
        After::Done
    }

    async fn fail(&self, handle: &Handle, class: FailureClass) {
        known(|| self.backend.fail(handle, FailureReason::new("no luck"), class)).await.expect("the lease is held");
    }

    /// A suspension whose answer was lost ends with its time.
    async fn suspend(&self, handle: &Handle) -> After {
        let (key, id) = ("key".to_owned(), payload(handle).execution_id);
        let matcher = SignalMatcher::ByName("go".to_owned());
        let args = || {
            let binding = WaitpointBinding::Fresh { waitpoint_id: WaitpointId::new(), waitpoint_key: key.clone() };
            let condition = ResumeCondition::Single { waitpoint_key: key.clone(), matcher: matcher.clone() };
            let reason = SuspensionReasonCode::WaitingForApproval;
            let now = self.shown();
            SuspendArgs::new(SuspensionId::new(), binding, condition, ResumePolicy::normal(), reason, now)
                .with_timeout(self.after(300 * SECOND_MS), TimeoutBehavior::Fail)
        };
        match once(|| self.backend.suspend(handle, args())).await {
            Some(SuspendOutcome::Suspended { details, .. }) if Kind::of(&id) == Kind::Signalled => {
                After::Waits(Box::new(DeliverSignalArgs {
                    execution_id: id,
                    waitpoint_id: details.waitpoint_id.clone(),
                    signal_id: SignalId::new(),
                    signal_name: "go".to_owned(),
                    signal_category: "external".to_owned(),
                    source_type: "user".to_owned(),
                    source_identity: "alice".to_owned(),
                    payload: None,
                    payload_encoding: None,
                    correlation_id: None,
                    idempotency_key: None,
                    target_scope: "waitpoint".to_owned(),
                    created_at: None,
                    dedup_ttl_ms: None,
                    resume_delay_ms: None,
                    max_signals_per_execution: None,
                    signal_maxlen: None,
                    waitpoint_token: details.waitpoint_token.token().clone(),
                    now: self.shown(),
                }))
            }
            _ => After::Done,
        }
    }

    async fn sweep(&self, sweeping: Sweeping) -> u64 {
        let sweeps: &[&str] = match sweeping {
            Sweeping::Not => &[],
            Sweeping::Often => &OFTEN,
            Sweeping::All => &SWEEPS,
        };
        let mut config = FullScannerConfig::default();
        config.retention = Duration::from_millis(self.setting.retention_ms);
        let mut swept = 0;
        for sweep in sweeps {
            let run = known(|| async {
                match self.backend.as_any().downcast_ref::<SqliteBackend>() {
                    Some(sqlite) => sqlite.sweep_for_test(sweep, &config).await,
                    None => postgres(self.backend.as_ref()).sweep_for_test(sweep, &config).await,
                }
            });
            swept += u64::from(run.await.unwrap_or_else(|error| panic!("{sweep}: {error}")).0);
        }
        swept
    }

    /// Ends as a process does that is told to, with all that it has done.
    async fn leave(self) {
        for held in &self.held {
            self.complete(&held.handle).await;
        }
        self.backend.shutdown_prepare(Duration::ZERO).await.expect("it leaves");
    }
}

/// Installs the secret that tokens are signed with.
pub(crate) async fn seed(h: &Harness) {
    let secret = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    h.backend
        .seed_waitpoint_hmac_secret(SeedWaitpointHmacSecretArgs::new("k1", secret))
        .await
        .expect("it is installed");
}
