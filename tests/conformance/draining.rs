//! A backend that leaves: it takes no more work, waits for what runs, and ends its sweeps. Time stands still, so no lease
//! runs out, and what was lost would never be done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ff_backend_sql::FullScannerConfig;
use ff_backend_sql::testing::Step;
use ff_core::backend::{CapabilitySet, FailureClass, FailureReason, Handle};
use ff_core::contracts::{ClaimForWorkerOutcome, IssueGrantAndClaimArgs};
use ff_core::engine_backend::EngineBackend;
use ff_core::types::{ExecutionId, TimestampMs};
use tokio::task::{JoinHandle, JoinSet};

use crate::every_method::lane;
use crate::harness::{Harness as Opened, PATIENCE, Tables, on_every_database, payload, policy};
use crate::schedule;

/// How many executions a rolling restart meets, how many workers a process has, and how many processes come and go.
const EXECUTIONS: usize = 120;
const WORKERS: usize = 4;
const PROCESSES: usize = 4;

/// Long enough for everything that ends.
const GRACE: Duration = Duration::from_secs(300);

fn leave(backend: &Arc<dyn EngineBackend>) -> JoinHandle<()> {
    let backend = Arc::clone(backend);
    tokio::spawn(async move { backend.shutdown_prepare(GRACE).await.expect("it leaves") })
}

async fn left(leaving: JoinHandle<()>) {
    tokio::time::timeout(PATIENCE, leaving).await.expect("it leaves in the end").expect("without a panic");
}

async fn wait_for_work(backend: &Arc<dyn EngineBackend>) -> Option<Handle> {
    let mut policy = policy("worker-a");
    policy.max_wait = Some(GRACE);
    backend.claim(&lane(), &CapabilitySet::default(), policy).await.expect("the claim is answered")
}

fn count_asleep(h: &Opened) -> usize {
    match h.tables() {
        Tables::Sqlite(backend, _) => backend.claims_that_wait_for_test(),
        Tables::Postgres(backend) => backend.claims_that_wait_for_test(),
    }
}

/// Waits until that holds.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "not so: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Waits until nothing is claimed any more.
async fn closed(h: &Opened) {
    h.create().await;
    while let Some(handle) = h.claim("worker-z").await {
        h.backend.complete(&handle, None).await.expect("it is completed");
        h.create().await;
    }
}

/// Takes work until there will be none, and ends what it took.
async fn work(backend: Arc<dyn EngineBackend>, done: Arc<AtomicUsize>) {
    while let Some(handle) = wait_for_work(&backend).await {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        backend.complete(&handle, None).await.expect("it is completed");
        done.fetch_add(1, Ordering::SeqCst);
    }
}

on_every_database! {
    async fn claims_that_wait_answer_none_and_those_that_come_too(h) {
        let waiters: Vec<_> = (0..8).map(|_| {
            let backend = Arc::clone(&h.backend);
            tokio::spawn(async move { wait_for_work(&backend).await })
        }).collect();
        until("all wait", || count_asleep(&h) == 8).await;
        left(leave(&h.backend)).await;
        for waiter in waiters {
            assert_eq!(waiter.await.expect("no panic"), None);
        }
        let id = h.create().await;
        assert_eq!(h.claim("worker-b").await, None);
        let outcome = h.backend.claim_for_worker(schedule::wanting(&[])).await.expect("an answer");
        assert!(matches!(outcome, ClaimForWorkerOutcome::NoWork));
        assert_eq!(h.lease_events(&id).await, Vec::<String>::new());
    }

    async fn it_waits_for_what_runs_whatever_its_end(h) {
        for end in 0..5 {
            let process = h.another_handle().await;
            h.create().await;
            let handle = wait_for_work(&process).await.expect("it is claimed");
            process.renew(&handle).await.expect("the lease goes on");
            let leaving = leave(&process);
            while wait_for_work(&process).await.is_some() {}
            assert!(!leaving.is_finished(), "it waits");
            match end {
                0 => process.complete(&handle, None).await.expect("it is completed"),
                1 => {
                    let reason = FailureReason::new("no luck");
                    process.fail(&handle, reason, FailureClass::Permanent).await.map(drop).expect("it fails");
                }
                2 => process.cancel(&handle, "enough").await.expect("it is cancelled"),
                3 => {
                    let later = TimestampMs::from_millis(h.clock.now_ms() + 1_000_000);
                    process.delay(&handle, later).await.expect("it is delayed");
                }
                _ => process.wait_children(&handle).await.expect("it waits for its children"),
            }
            left(leaving).await;
        }
    }

    async fn who_is_over_time_is_not_waited_for(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.shutdown_prepare(Duration::from_millis(1)).await.expect("it leaves");
        // Its lease is its own still.
        h.backend.complete(&handle, None).await.expect("it is completed");
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
    }

    async fn what_an_operator_claims_is_waited_for_as_well(h) {
        let id = h.create().await;
        let args = IssueGrantAndClaimArgs::new(id.clone(), lane(), 600_000);
        h.backend.issue_grant_and_claim(args).await.expect("it is claimed");
        let leaving = leave(&h.backend);
        closed(&h).await;
        assert!(!leaving.is_finished(), "it waits");
        leaving.abort();
    }

    async fn sweeps_go_on_until_nothing_runs(h) {
        let (is_closed, swept) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (after, seen) = (Arc::clone(&is_closed), Arc::clone(&swept));
        h.fail(Box::new(move |step, name| {
            if step == Step::Run && name == "execution_due_lane_list" && after.load(Ordering::SeqCst) {
                seen.fetch_add(1, Ordering::SeqCst);
            }
            None
        }));
        let (_, handle) = h.created_and_claimed().await;
        let mut config = FullScannerConfig::off();
        config.delayed_promoter_interval = Duration::from_millis(1);
        assert!(h.start_sweeps(config));
        let leaving = leave(&h.backend);
        closed(&h).await;
        is_closed.store(true, Ordering::SeqCst);
        until("a sweep ran after the claims had ended", || swept.load(Ordering::SeqCst) > 1).await;
        assert!(!leaving.is_finished());
        h.backend.complete(&handle, None).await.expect("it is completed");
        left(leaving).await;
        let after = swept.load(Ordering::SeqCst);
        h.backend.ping().await.expect("it answers");
        assert_eq!(swept.load(Ordering::SeqCst), after, "nothing sweeps any more");
    }

    async fn a_rolling_restart_loses_no_work(h) {
        let (creator, made) = (Arc::clone(&h), Arc::new(std::sync::Mutex::new(Vec::<ExecutionId>::new())));
        let all = Arc::clone(&made);
        let creating = tokio::spawn(async move {
            for _ in 0..EXECUTIONS {
                let id = creator.create().await;
                all.lock().expect("a list").push(id);
            }
        });
        let done = Arc::new(AtomicUsize::new(0));
        for process in 1..=PROCESSES {
            let backend = h.another_handle().await;
            let mut workers = JoinSet::new();
            for _ in 0..WORKERS {
                workers.spawn(work(Arc::clone(&backend), Arc::clone(&done)));
            }
            // The last one stays until everything is done.
            until("its share is done", || done.load(Ordering::SeqCst) >= EXECUTIONS * process / PROCESSES).await;
            left(leave(&backend)).await;
            tokio::time::timeout(PATIENCE, workers.join_all()).await.expect("its workers end");
        }
        creating.await.expect("all are created");
        let all = made.lock().expect("a list").clone();
        for id in all {
            assert_eq!(h.core(&id, "public_state").await, "completed");
        }
    }

    async fn what_a_claim_took_while_it_left_is_there_for_others(h) {
        for _ in 0..20 {
            let backend = h.another_handle().await;
            let id = h.create().await;
            let claiming = Arc::clone(&backend);
            let claim = tokio::spawn(async move { wait_for_work(&claiming).await });
            tokio::task::yield_now().await;
            let leaving = leave(&backend);
            if let Some(handle) = claim.await.expect("no panic") {
                backend.complete(&handle, None).await.expect("it is completed");
            } else {
                let next = h.another_handle().await;
                let handle = wait_for_work(&next).await.expect("it is there for others");
                assert_eq!(payload(&handle).execution_id, id);
                next.complete(&handle, None).await.expect("it is completed");
            }
            left(leaving).await;
        }
    }
}
