//! Claims that find what waits whatever happened while they looked: others took it, the mark of their lane vanished, the
//! runtime of those who asked with them ended.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ff_backend_sql::testing::Step;
use ff_core::backend::CapabilitySet;
use ff_core::contracts::CreateExecutionResult;
use ff_core::types::LaneId;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;

use crate::harness::{Harness as Opened, PATIENCE, Tables, on_every_database, payload, policy};

/// How many workers create and claim at the same time, and how often each.
const WORKERS: usize = 32;
const ROUNDS: usize = 40;

/// Has whoever looks at a candidate wait for a lock of the test's before it takes it.
const SLOW: &str = "
    ALTER FUNCTION ff_take_claimable(smallint, uuid, integer, bigint, text, text[]) RENAME TO ff_take_at_once;
    CREATE FUNCTION ff_take_claimable(
        partition smallint, execution uuid, attempt integer, place bigint, lane text, capabilities text[]
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(4711);
        RETURN ff_take_at_once(partition, execution, attempt, place, lane, capabilities);
    END $$";

/// What another claim does to an execution.
const TAKEN: &str = "UPDATE ff_exec_core SET lifecycle_phase = 'active', ownership_state = 'leased',
                            eligibility_state = 'not_applicable', public_state = 'running'";

async fn somebody_waits_for_the_lock(h: &Opened) {
    let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    while h.number(waiting).await == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

on_every_database! {
    async fn a_claim_that_is_overtaken_looks_again(h) {
        let Tables::Postgres(backend) = h.tables() else { return };
        if h.is_spread() {
            return;
        }
        let first = h.create().await;
        h.claim("worker-b").await.expect("the lane has its mark");
        let seen = h.create().await;
        h.alter(SLOW).await;
        let mut holder = backend.pool().begin().await.expect("a transaction");
        sqlx::query("SELECT pg_advisory_xact_lock(4711)").execute(&mut *holder).await.expect("a lock");
        let claimer = Arc::clone(&h);
        let claim = tokio::spawn(async move { claimer.claim("worker-a").await });
        tokio::time::timeout(PATIENCE, somebody_waits_for_the_lock(&h)).await.expect("the claim looks");
        h.alter(&format!("{TAKEN} WHERE {}", h.of(&seen))).await;
        let late = h.create().await;
        holder.rollback().await.expect("the lock is given up");
        let handle = claim.await.expect("no panic").expect("what came while it looked is claimed");
        assert_eq!(payload(&handle).execution_id, late);
        assert_ne!(first, late);
    }

    async fn whoever_creates_and_then_claims_is_served(h) {
        let mut workers = JoinSet::new();
        for worker in 0..WORKERS {
            let h = Arc::clone(&h);
            workers.spawn(async move {
                let mut unserved = 0;
                for _ in 0..ROUNDS {
                    h.create().await;
                    match h.claim(&format!("worker-{worker}")).await {
                        Some(handle) => h.backend.complete(&handle, None).await.expect("it is completed"),
                        None => unserved += 1,
                    }
                }
                unserved
            });
        }
        assert_eq!(workers.join_all().await.iter().sum::<usize>(), 0, "claims found nothing while work waited");
    }

    async fn a_mark_that_vanishes_hides_nothing(h) {
        h.create().await;
        let handle = h.claim("worker-a").await.expect("the lane has its mark");
        h.backend.complete(&handle, None).await.expect("it is completed");
        h.alter("DELETE FROM ff_claim_mark").await;
        let id = h.create().await;
        h.pass_ms(1_000);
        let handle = h.claim("worker-a").await.expect("what waits is found");
        assert_eq!(payload(&handle).execution_id, id);
    }

    async fn a_lane_that_is_slow_delays_no_other(h) {
        let Tables::Postgres(backend) = h.tables() else { return };
        if h.is_spread() {
            return;
        }
        let nothing = CapabilitySet::default();
        h.create_with(|args| args.lane_id = LaneId::new("other")).await;
        let (slow, left) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let (is_first, held, leaves) = (AtomicBool::new(true), Arc::clone(&slow), Arc::clone(&left));
        let reached = Arc::new(Notify::new());
        let told = Arc::clone(&reached);
        // The first claims that are run stay under way; whoever waits behind them for long leaves, and is counted.
        backend.hold_for_test(Box::new(move |step, name| {
            leaves.fetch_add(usize::from(step == Step::Leave), Ordering::SeqCst);
            let holds = step == Step::Run && name == "lease_claim" && is_first.swap(false, Ordering::SeqCst);
            let (held, told) = (Arc::clone(&held), Arc::clone(&told));
            holds.then(|| {
                Box::pin(async move {
                    told.notify_one();
                    held.notified().await;
                }) as _
            })
        }));
        let slow_claims = JoinSet::from_iter(["worker-a", "worker-b"].map(|worker| {
            let h = Arc::clone(&h);
            async move { h.claim(worker).await }
        }));
        tokio::time::timeout(PATIENCE, reached.notified()).await.expect("the slow claims are under way");
        let other = LaneId::new("other");
        let claims = (0..4).map(|_| h.backend.claim(&other, &nothing, policy("worker-c")));
        let answers = tokio::time::timeout(PATIENCE, futures_util::future::join_all(claims)).await;
        let served = answers.expect("the other lane is served").into_iter().filter_map(|answer| answer.expect("an answer"));
        assert_eq!((served.count(), left.load(Ordering::SeqCst)), (1, 0), "nobody waits behind a lane that is slow");
        slow.notify_one();
        assert!(slow_claims.join_all().await.into_iter().all(|claimed| claimed.is_none()));
    }

    async fn whoever_goes_together_outlives_the_runtime_of_the_first(h) {
        let Tables::Postgres(backend) = h.tables() else { return };
        if h.is_spread() {
            return;
        }
        let is_first = AtomicBool::new(true);
        let (reached, begun) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let told = Arc::clone(&reached);
        backend.hold_for_test(Box::new(move |step, name| {
            let holds = step == Step::Run && name == "execution_create" && is_first.swap(false, Ordering::SeqCst);
            let told = Arc::clone(&told);
            holds.then(|| Box::pin(async move {
                told.notify_one();
                std::future::pending::<()>().await;
            }) as _)
        }));
        let (end, ended) = oneshot::channel::<()>();
        let first = Arc::clone(&h);
        // The first has the room, and its runtime ends while it is under way.
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                tokio::select! {
                    _ = first.create() => panic!("it is held"),
                    _ = ended => {}
                }
            });
        });
        tokio::time::timeout(PATIENCE, reached.notified()).await.expect("the first is under way");
        let mut others = JoinSet::new();
        for _ in 0..3 {
            let (h, begun) = (Arc::clone(&h), Arc::clone(&begun));
            others.spawn(async move {
                begun.notify_one();
                h.backend.create_execution(h.args()).await
            });
            tokio::task::yield_now().await;
        }
        begun.notified().await;
        end.send(()).expect("the first waits for its end");
        thread.join().expect("no panic");
        for answer in others.join_all().await {
            assert!(matches!(answer.expect("it is created"), CreateExecutionResult::Created { .. }));
        }
    }
}
