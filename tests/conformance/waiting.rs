//! Claims that wait for work. Here none looks before it is called, so what is not told keeps them waiting, except where the
//! test is about looking. No test asks how long anything took.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ff_backend_sql::testing::Step;
use ff_backend_sql::{PostgresBackend, PostgresConnection};
use ff_core::backend::{
    BackendConfig, BackendConnection, CapabilitySet, ClaimPolicy, FailureClass, FailureReason, Handle,
};
use ff_core::engine_backend::EngineBackend;
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;
use tokio::task::JoinHandle;

use crate::admission::route;
use crate::dependency::{group, succeed};
use crate::every_method::lane;
use crate::flow::created;
use crate::harness::{Harness as Opened, LEASE_MS, PATIENCE, Place, Tables, on_every_database, payload, policy};
use crate::operator::{replaying, revoking};
use crate::suspend::partition_of;

/// How many workers wait where many do.
const MANY: usize = 256;

/// What is asked while a test counts: the names of what runs on a connection.
type Asked = Arc<Mutex<Vec<&'static str>>>;

fn waiting(worker: &str) -> ClaimPolicy {
    waiting_for(worker, PATIENCE * 10)
}

fn waiting_for(worker: &str, max_wait: Duration) -> ClaimPolicy {
    let mut policy = policy(worker);
    policy.max_wait = Some(max_wait);
    policy
}

/// Begins to wait for work, as a worker does.
fn wait(h: &Arc<Opened>) -> JoinHandle<Option<Handle>> {
    let h = Arc::clone(h);
    tokio::spawn(async move {
        h.backend.claim(&lane(), &CapabilitySet::default(), waiting("worker-a")).await.expect("the claim is answered")
    })
}

fn count_asleep(h: &Opened) -> usize {
    match h.tables() {
        Tables::Sqlite(backend, _) => backend.claims_that_wait_for_test(),
        Tables::Postgres(backend) => backend.claims_that_wait_for_test(),
    }
}

fn only_when_called(h: &Opened) {
    match h.tables() {
        Tables::Sqlite(backend, _) => backend.look_only_when_called_for_test(),
        Tables::Postgres(backend) => backend.look_only_when_called_for_test(),
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

async fn asleep(h: &Opened, workers: usize) {
    until(&format!("{workers} wait"), || count_asleep(h) == workers).await;
}

/// The answer of a claim that must come.
async fn answered(claim: JoinHandle<Option<Handle>>) -> Option<Handle> {
    tokio::time::timeout(PATIENCE, claim).await.expect("who waits is woken").expect("the claim does not panic")
}

fn count(h: &Opened) -> Asked {
    let asked = Asked::default();
    let seen = Arc::clone(&asked);
    h.fail(Box::new(move |step, name| {
        if step == Step::Run {
            seen.lock().expect("a list").push(name);
        }
        None
    }));
    asked
}

fn forget(asked: &Asked) {
    asked.lock().expect("a list").clear();
}

fn claims(asked: &Asked) -> usize {
    asked.lock().expect("a list").iter().filter(|name| name.starts_with("lease_claim")).count()
}

on_every_database! {
    async fn who_waits_gets_what_is_created(h) {
        only_when_called(&h);
        let claim = wait(&h);
        asleep(&h, 1).await;
        let id = h.create().await;
        let handle = answered(claim).await.expect("it is claimed");
        assert_eq!(payload(&handle).execution_id, id);
        h.backend.complete(&handle, None).await.expect("it is completed");
    }

    async fn without_a_wait_or_when_it_is_over_the_answer_is_none(h) {
        only_when_called(&h);
        for max_wait in [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(20)] {
            let claim = h.backend.claim(&lane(), &CapabilitySet::default(), waiting_for("worker-a", max_wait)).await;
            assert_eq!(claim.expect("the claim is answered"), None);
        }
        assert_eq!(count_asleep(&h), 0);
    }

    async fn a_wait_without_end_is_one(h) {
        only_when_called(&h);
        let waiter = Arc::clone(&h);
        let claim = tokio::spawn(async move {
            let policy = waiting_for("worker-a", Duration::MAX);
            waiter.backend.claim(&lane(), &CapabilitySet::default(), policy).await.expect("the claim is answered")
        });
        asleep(&h, 1).await;
        h.create().await;
        assert!(answered(claim).await.is_some());
    }

    async fn many_wait_and_one_execution_costs_few_statements(h) {
        only_when_called(&h);
        let asked = count(&h);
        let mut waiters: Vec<_> = (0..MANY).map(|_| wait(&h)).collect();
        asleep(&h, MANY).await;
        // A pool has a few connections, and all of them are there for others.
        forget(&asked);
        let id = h.create().await;
        until("one is served", || waiters.iter().any(JoinHandle::is_finished)).await;
        asleep(&h, MANY - 1).await;
        // Whoever got it calls one more, who finds nothing.
        assert!(claims(&asked) <= 4, "{} claims", claims(&asked));
        assert!(asked.lock().expect("a list").len() <= 16, "{asked:?}");
        let served = waiters.iter().position(JoinHandle::is_finished).expect("one is served");
        let handle = answered(waiters.swap_remove(served)).await.expect("it is claimed");
        assert_eq!(payload(&handle).execution_id, id);
        for waiter in waiters {
            waiter.abort();
        }
    }

    async fn as_many_are_served_as_there_is_work_for(h) {
        only_when_called(&h);
        let waiters: Vec<_> = (0..MANY / 8).map(|_| wait(&h)).collect();
        asleep(&h, waiters.len()).await;
        let mut created = Vec::new();
        for _ in 0..waiters.len() {
            created.push(h.create().await);
        }
        let mut served = Vec::new();
        for waiter in waiters {
            served.push(payload(&answered(waiter).await.expect("it is claimed")).execution_id);
        }
        created.sort_by_key(ToString::to_string);
        served.sort_by_key(ToString::to_string);
        assert_eq!(served, created);
    }

    async fn many_that_wait_look_as_often_as_one(h) {
        let asked = count(&h);
        let waiters: Vec<_> = (0..MANY).map(|_| wait(&h)).collect();
        asleep(&h, MANY).await;
        forget(&asked);
        until("some looked", || claims(&asked) >= 3).await;
        // A look takes four statements at most, and all of them together look once in a second.
        let (claims, statements) = (claims(&asked), asked.lock().expect("a list").len());
        assert!(statements <= 4 * (claims + 1), "{statements} statements for {claims} looks: {asked:?}");
        for waiter in waiters {
            waiter.abort();
        }
    }

    async fn work_that_nobody_told_of_is_found(h) {
        let id = h.create().await;
        h.alter("UPDATE ff_exec_core SET lane_id = 'aside'").await;
        let claim = wait(&h);
        asleep(&h, 1).await;
        h.alter("UPDATE ff_exec_core SET lane_id = 'lane'").await;
        assert_eq!(payload(&answered(claim).await.expect("it is claimed")).execution_id, id);
    }

    async fn whoever_goes_away_loses_no_call(h) {
        only_when_called(&h);
        for moment in 0..40_u32 {
            let (leaves, stays) = (wait(&h), wait(&h));
            asleep(&h, 2).await;
            let id = h.create().await;
            for _ in 0..moment % 20 {
                tokio::task::yield_now().await;
            }
            leaves.abort();
            let left = leaves.await;
            let handle = match left {
                // It was served before it could leave.
                Ok(Some(handle)) => {
                    stays.abort();
                    handle
                }
                _ => answered(stays).await.expect("the other one gets it"),
            };
            assert_eq!(payload(&handle).execution_id, id, "moment {moment}");
            h.backend.complete(&handle, None).await.expect("it is completed");
            asleep(&h, 0).await;
        }
    }

    async fn work_on_another_lane_or_for_others_calls_nobody(h) {
        only_when_called(&h);
        let asked = count(&h);
        let claim = wait(&h);
        asleep(&h, 1).await;
        forget(&asked);
        h.create_with(|args| args.lane_id = ff_core::types::LaneId::new("other")).await;
        assert_eq!((claims(&asked), count_asleep(&h)), (0, 1));
        claim.abort();
    }

    async fn a_pool_of_one_serves_others_while_somebody_waits(h) {
        let Place::Postgres { url } = h.place() else { return };
        let mut connection = PostgresConnection::new(url);
        connection.max_connections = 1;
        let config = BackendConfig::new(BackendConnection::Postgres(connection));
        let opened = PostgresBackend::connect_with_clock(config, PartitionConfig::default(), h.clock.clone()).await;
        let backend = opened.expect("the database opens");
        backend.look_only_when_called_for_test();
        let waiter = Arc::clone(&backend);
        let claim = tokio::spawn(async move {
            waiter.claim(&lane(), &CapabilitySet::default(), waiting("worker-a")).await.expect("the claim is answered")
        });
        until("it waits", || backend.claims_that_wait_for_test() == 1).await;
        EngineBackend::create_execution(backend.as_ref(), h.args()).await.expect("it is created");
        assert!(answered(claim).await.is_some());
    }

    async fn another_process_calls_who_waits_here(h) {
        only_when_called(&h);
        let other = h.another_handle().await;
        let claim = wait(&h);
        asleep(&h, 1).await;
        other.create_execution(h.args()).await.expect("it is created");
        assert!(answered(claim).await.is_some());
    }

    async fn whatever_puts_work_into_the_queue_is_told(h) {
        only_when_called(&h);
        for way in WAYS {
            let (_, handle) = h.created_and_claimed().await;
            let id = payload(&handle).execution_id;
            way.begin(&h, &handle).await;
            let claim = wait(&h);
            asleep(&h, 1).await;
            way.end(&h, &handle).await;
            let Some(handle) = answered(claim).await else { panic!("{}", way.name()) };
            assert_eq!(payload(&handle).execution_id, id, "{}", way.name());
            h.backend.complete(&handle, None).await.expect("it is completed");
        }
    }

    async fn the_end_of_what_it_waits_for_is_told(h) {
        only_when_called(&h);
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, None, 1).await;
        h.alter(&format!("UPDATE ff_exec_core SET lane_id = 'lane' WHERE {}", h.of(&down))).await;
        let claim = wait(&h);
        asleep(&h, 1).await;
        succeed(&h, &ups[0]).await;
        assert_eq!(payload(&answered(claim).await.expect("what waited is claimed")).execution_id, down);
    }
}

/// A way back into the queue.
#[derive(Debug, Clone, Copy)]
enum Way {
    Failure,
    Revocation,
    Replay,
    Delay,
    Expiry,
    Block,
}

const WAYS: [Way; 6] = [Way::Failure, Way::Revocation, Way::Replay, Way::Delay, Way::Expiry, Way::Block];

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Failure => "a failure is tried again",
            Self::Revocation => "a lease is revoked",
            Self::Replay => "an ended execution is replayed",
            Self::Delay => "a delay is over",
            Self::Expiry => "a lease runs out",
            Self::Block => "what blocked it is gone",
        }
    }

    /// What happens before somebody waits.
    async fn begin(self, h: &Opened, handle: &Handle) {
        let id = payload(handle).execution_id;
        match self {
            Self::Replay => h.backend.complete(handle, None).await.expect("it is completed"),
            Self::Delay => {
                let until = TimestampMs::from_millis(h.clock.now_ms() + 1_000);
                h.backend.delay(handle, until).await.expect("it is delayed");
            }
            Self::Block => {
                h.backend.revoke_lease(revoking(&id)).await.expect("it is revoked");
                h.backend.block_route(route(&id, "waiting_for_budget")).await.expect("it is blocked");
            }
            Self::Failure | Self::Revocation | Self::Expiry => {}
        }
    }

    async fn end(self, h: &Opened, handle: &Handle) {
        let id = payload(handle).execution_id;
        match self {
            Self::Failure => {
                let reason = FailureReason::new("no luck");
                h.backend.fail(handle, reason, FailureClass::Transient).await.expect("it is tried again");
            }
            Self::Revocation => {
                h.backend.revoke_lease(revoking(&id)).await.expect("it is revoked");
            }
            Self::Replay => {
                h.backend.replay_execution(replaying(&id)).await.expect("it is replayed");
            }
            Self::Delay => {
                h.pass_ms(2_000);
                h.sweep("delayed_promoter").await;
            }
            Self::Expiry => {
                h.pass_ms(LEASE_MS + 1);
                h.sweep("lease_expiry").await;
            }
            Self::Block => {
                let now = TimestampMs::from_millis(h.clock.now_ms());
                let unblocked =
                    h.backend.unblock_execution(partition_of(&id), &lane(), &id, "waiting_for_budget", now).await;
                unblocked.expect("it is put back");
            }
        }
    }
}
