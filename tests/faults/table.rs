//! The operations that are made to fail, a line each: its name, the scene that it needs, the call.
//!
//! A scene is set afresh for every fault and does not touch those before it: each has a lane of its own.

use ff_backend_sql::FullScannerConfig;
use ff_core::backend::{CapabilitySet, FailureClass, FailureReason, Frame, FrameKind, Handle};
use ff_core::contracts::{HeartbeatWorkerArgs, MarkWorkerDeadArgs, RegisterWorkerArgs};
use ff_core::engine_backend::ExpirePhase;
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::policy::{BackoffStrategy, ExecutionPolicy, RetryPolicy};
use ff_core::types::{ExecutionId, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use futures_core::future::BoxFuture;

use crate::harness::{Harness, LEASE_MS, policy};

/// What an operation works on.
pub(crate) struct Scene {
    lane: LaneId,
    id: ExecutionId,
    handle: Option<Handle>,
    now: TimestampMs,
}

/// An operation and what it needs.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) scene: for<'a> fn(&'a Harness) -> BoxFuture<'a, Scene>,
    pub(crate) act: for<'a> fn(&'a Harness, &'a Scene) -> BoxFuture<'a, Result<(), EngineError>>,
}

/// A module of tests for each operation: on a file, in memory, on Postgres.
macro_rules! operations {
    ($($name:ident: $scene:ident, |$h:ident, $s:ident| $act:expr;)*) => {
        $(mod $name {
            use super::*;
            use crate::harness::{Kind, run};

            async fn on(kind: Kind) {
                let operation = Operation {
                    name: stringify!($name),
                    scene: |h| Box::pin($scene(h)),
                    act: |$h, $s| Box::pin(async move { $act.await.map(drop) }),
                };
                run(kind, |h| async move { crate::fail_everywhere(&h, &operation).await }).await;
            }

            #[tokio::test]
            async fn on_a_sqlite_file() {
                on(Kind::SqliteFile).await;
            }

            #[tokio::test]
            async fn on_sqlite_in_memory() {
                on(Kind::SqliteMemory).await;
            }

            #[tokio::test]
            async fn on_postgres() {
                on(Kind::Postgres).await;
            }
        })*
    };
}

operations! {
    append_frame: claimed, |h, s| h.backend.append_frame(s.handle(), Frame::new(b"bytes".to_vec(), FrameKind::Event));
    cancel: claimed, |h, s| h.backend.cancel(s.handle(), "no longer wanted");
    claim: created, |h, s| claim(h, s);
    complete: claimed, |h, s| h.backend.complete(s.handle(), Some(b"result".to_vec()));
    create_execution: nothing, |h, s| h.backend.create_execution(s.creation(h));
    delay: claimed, |h, s| h.backend.delay(s.handle(), later(s));
    expire_at_its_deadline: overdue, |h, s| h.backend.expire_execution(s.partition(), &s.id, ExpirePhase::ExecutionDeadline, s.now);
    expire_by_timeout: abandoned, |h, s| h.backend.expire_execution(s.partition(), &s.id, ExpirePhase::AttemptTimeout, s.now);
    fail: claimed, |h, s| h.backend.fail(s.handle(), FailureReason::new("broken"), FailureClass::Permanent);
    fail_and_retry: claimed, |h, s| h.backend.fail(s.handle(), FailureReason::new("broken"), FailureClass::Transient);
    fail_and_retry_later: claimed_with_backoff, |h, s| h.backend.fail(s.handle(), FailureReason::new("broken"), FailureClass::Transient);
    heartbeat_worker: registered, |h, s| h.backend.heartbeat_worker(HeartbeatWorkerArgs::new(s.instance(), space(), later(s)));
    mark_lease_expired: abandoned, |h, s| h.backend.mark_lease_expired_if_due(s.partition(), &s.id);
    mark_worker_dead: registered, |h, s| h.backend.mark_worker_dead(MarkWorkerDeadArgs::new(s.instance(), space(), "gone".to_owned(), s.now));
    progress: claimed, |h, s| h.backend.progress(s.handle(), Some(50), Some("half".to_owned()));
    promote_delayed: delayed, |h, s| h.backend.promote_delayed(s.partition(), &s.lane, &s.id, later(s));
    register_worker: nothing, |h, s| h.backend.register_worker(s.registration());
    renew: claimed_earlier, |h, s| h.backend.renew(s.handle());
    set_execution_tag: created, |h, s| h.backend.set_execution_tag(&s.id, "team.color", "blue");
    sweep_leases: abandoned, |h, _s| swept(h, "lease_expiry");
    wait_children: claimed, |h, s| h.backend.wait_children(s.handle());
}

impl Scene {
    fn handle(&self) -> &Handle {
        self.handle.as_ref().expect("the scene has a handle")
    }

    fn partition(&self) -> Partition {
        Partition { family: PartitionFamily::Execution, index: self.id.partition() }
    }

    fn instance(&self) -> WorkerInstanceId {
        WorkerInstanceId::new(self.lane.as_str())
    }

    fn creation(&self, h: &Harness) -> ff_core::contracts::CreateExecutionArgs {
        let mut args = h.args();
        args.execution_id = self.id.clone();
        args.partition_id = self.id.partition();
        args.lane_id = self.lane.clone();
        args.idempotency_key = Some(self.lane.to_string());
        args
    }

    fn registration(&self) -> RegisterWorkerArgs {
        let (worker, lanes) = (WorkerId::new("pool"), [self.lane.clone()].into());
        RegisterWorkerArgs::new(worker, self.instance(), lanes, Default::default(), 60_000, space(), self.now)
    }
}

fn space() -> Namespace {
    Namespace::new("space")
}

fn later(scene: &Scene) -> TimestampMs {
    TimestampMs::from_millis(scene.now.0 + 1_000)
}

async fn nothing(h: &Harness) -> Scene {
    let lane = LaneId::new(format!("lane-{}", uuid::Uuid::new_v4()));
    let now = TimestampMs::from_millis(h.clock.now_ms());
    Scene { lane, id: crate::harness::id_in(1), handle: None, now }
}

async fn created_with(h: &Harness, change: impl FnOnce(&mut ff_core::contracts::CreateExecutionArgs)) -> Scene {
    let scene = nothing(h).await;
    let mut args = scene.creation(h);
    args.idempotency_key = None;
    change(&mut args);
    h.backend.create_execution(args).await.expect("the execution is created");
    scene
}

async fn created(h: &Harness) -> Scene {
    created_with(h, |_| {}).await
}

async fn delayed(h: &Harness) -> Scene {
    let until = TimestampMs::from_millis(h.clock.now_ms() + 500);
    created_with(h, |args| args.delay_until = Some(until)).await
}

async fn claim(h: &Harness, scene: &Scene) -> Result<Option<Handle>, EngineError> {
    h.backend.claim(&scene.lane, &CapabilitySet::new(std::iter::empty::<&str>()), policy("worker")).await
}

async fn leased(h: &Harness, mut scene: Scene) -> Scene {
    scene.handle = claim(h, &scene).await.expect("the claim is answered");
    assert!(scene.handle.is_some(), "there is something to claim");
    scene
}

async fn claimed(h: &Harness) -> Scene {
    leased(h, created(h).await).await
}

async fn claimed_earlier(h: &Harness) -> Scene {
    let scene = claimed(h).await;
    h.pass_ms(10);
    scene
}

async fn claimed_with_backoff(h: &Harness) -> Scene {
    let backoff = BackoffStrategy::Fixed { delay_ms: 5_000 };
    let retry_policy = Some(RetryPolicy { max_retries: 3, backoff, retryable_categories: Vec::new() });
    let policy = ExecutionPolicy { retry_policy, ..Default::default() };
    leased(h, created_with(h, |args| args.policy = Some(policy)).await).await
}

async fn abandoned(h: &Harness) -> Scene {
    let scene = claimed(h).await;
    h.pass_ms(LEASE_MS + 1);
    scene
}

async fn overdue(h: &Harness) -> Scene {
    let deadline = TimestampMs::from_millis(h.clock.now_ms() - 1);
    leased(h, created_with(h, |args| args.execution_deadline_at = Some(deadline)).await).await
}

async fn registered(h: &Harness) -> Scene {
    let scene = nothing(h).await;
    h.backend.register_worker(scene.registration()).await.expect("the worker is registered");
    scene
}

/// A sweep goes on after a row that fails, and says how many did.
async fn swept(h: &Harness, name: &str) -> Result<(), EngineError> {
    match h.try_sweep(name, &FullScannerConfig::default()).await? {
        (_, 0) => Ok(()),
        (_, failed) => Err(EngineError::NotFound { entity: if failed == 1 { "one row" } else { "several rows" } }),
    }
}
