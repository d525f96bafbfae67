//! Lanes and flows that an operator holds back: nobody claims their work, and everything else goes on. Claims that wait look
//! only when they are called, except where the test is about the opposite.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_backend_sql::manage::{Manage, Pause, PauseTarget};
use ff_core::backend::{CapabilitySet, Handle};
use ff_core::contracts::{ClaimForWorkerOutcome, ScanEligibleArgs};
use ff_core::engine_error::EngineError;
use ff_core::types::{ExecutionId, FlowId, LaneId, TimestampMs};
use futures_util::future::join_all;
use tokio::task::JoinHandle;

use crate::dependency::settled;
use crate::every_method::lane;
use crate::flow::{created, member, stranger};
use crate::harness::{Harness as Opened, Kind, PATIENCE, Tables, on_every_database, payload, policy, refusal, run};
use crate::schedule::{asking, claiming, partition, wanting};
use crate::sessions::url;

/// How many workers claim at the same time.
const MANY: usize = 24;

/// More members than claims that look at the same time step aside for.
const MEMBERS: usize = 40;

fn manage(h: &Opened) -> &dyn Manage {
    match h.tables() {
        Tables::Sqlite(backend, _) => &**backend,
        Tables::Postgres(backend) => &**backend,
    }
}

fn on_lane() -> PauseTarget {
    PauseTarget::Lane(lane())
}

async fn paused(h: &Opened, target: &PauseTarget) {
    assert!(manage(h).pause(target, "ticket 12").await.expect("it is paused"), "{target} went on");
}

async fn resumed(h: &Opened, target: &PauseTarget) {
    assert!(manage(h).resume(target).await.expect("it goes on"), "{target} was paused");
}

/// Whether no way to ask for work of the lane finds any: alone, together with others, as a worker that is granted work, as
/// a scheduler that looks.
async fn gives_nothing(h: &Opened, partitions: &[u16]) {
    assert!(h.claim("worker-a").await.is_none(), "a claim");
    assert!(
        join_all((0..MANY).map(|_| h.claim("worker-a"))).await.iter().all(Option::is_none),
        "claims that go together"
    );
    let granted = h.backend.claim_for_worker(wanting(&[])).await.expect("an answer");
    assert!(matches!(granted, ClaimForWorkerOutcome::NoWork), "{granted:?}");
    for index in partitions {
        let asked = ScanEligibleArgs::new(lane(), partition(*index), 10);
        assert_eq!(h.backend.scan_eligible_executions(asked).await.expect("an answer"), []);
    }
}

/// Everything that may be claimed of the lane, by claims that go together.
async fn claimed(h: &Opened) -> Vec<Handle> {
    let mut all = Vec::new();
    loop {
        let some: Vec<Handle> = join_all((0..MANY).map(|_| h.claim("worker-a"))).await.into_iter().flatten().collect();
        if some.is_empty() {
            return all;
        }
        all.extend(some);
    }
}

fn wait(h: &Arc<Opened>) -> JoinHandle<Option<Handle>> {
    let h = Arc::clone(h);
    tokio::spawn(async move {
        let mut policy = policy("worker-a");
        policy.max_wait = Some(PATIENCE * 10);
        h.backend.claim(&lane(), &CapabilitySet::default(), policy).await.expect("the claim is answered")
    })
}

async fn answered(claim: JoinHandle<Option<Handle>>) -> Handle {
    let claim = tokio::time::timeout(PATIENCE, claim).await.expect("who waits is woken");
    claim.expect("the claim does not panic").expect("it is claimed")
}

fn only_when_called(h: &Opened) {
    match h.tables() {
        Tables::Sqlite(backend, _) => backend.look_only_when_called_for_test(),
        Tables::Postgres(backend) => backend.look_only_when_called_for_test(),
    }
}

async fn asleep(h: &Opened, workers: usize) {
    let count = || match h.tables() {
        Tables::Sqlite(backend, _) => backend.claims_that_wait_for_test(),
        Tables::Postgres(backend) => backend.claims_that_wait_for_test(),
    };
    let begun = Instant::now();
    while count() != workers {
        assert!(begun.elapsed() < PATIENCE, "{} wait", count());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Many members of a flow, which wait on the lane.
async fn members(h: &Opened, flow: &FlowId) -> Vec<ExecutionId> {
    let mut all = Vec::new();
    for _ in 0..MEMBERS {
        all.push(member(h, flow).await);
    }
    all
}

fn ids(handles: &[Handle]) -> Vec<String> {
    let mut ids: Vec<String> = handles.iter().map(|handle| payload(handle).execution_id.to_string()).collect();
    ids.sort();
    ids
}

fn names(all: &[ExecutionId]) -> Vec<String> {
    let mut names: Vec<String> = all.iter().map(ToString::to_string).collect();
    names.sort();
    names
}

on_every_database! {
    async fn a_paused_lane_gives_out_nothing_and_what_runs_goes_on(h) {
        let (running, handle) = h.created_and_claimed().await;
        let waiting = h.create().await;
        let other = h.create_with(|args| args.lane_id = LaneId::new("other")).await;
        paused(&h, &on_lane()).await;
        let late = h.create().await;
        gives_nothing(&h, &[waiting.partition(), late.partition()]).await;
        let elsewhere = h.backend.claim(&LaneId::new("other"), &CapabilitySet::default(), policy("worker-b")).await;
        assert_eq!(payload(&elsewhere.expect("an answer").expect("another lane goes on")).execution_id, other);
        h.backend.renew(&handle).await.expect("heartbeats go on");
        h.backend.complete(&handle, None).await.expect("and so do completions");
        assert_eq!(h.core(&running, "lifecycle_phase").await, "terminal");
        resumed(&h, &on_lane()).await;
        assert_eq!(ids(&claimed(&h).await), names(&[waiting, late]));
    }

    async fn what_has_its_name_is_claimed_all_the_same(h) {
        let id = h.create().await;
        paused(&h, &on_lane()).await;
        h.backend.issue_claim_grant(asking(&h, &id, &[])).await.expect("it is granted");
        h.backend.claim_execution(claiming(&h, &id)).await.expect("whoever has a grant may use it");
    }

    async fn claims_that_wait_are_called_when_their_lane_goes_on(h) {
        only_when_called(&h);
        h.create().await;
        paused(&h, &on_lane()).await;
        let (first, second) = (wait(&h), wait(&h));
        asleep(&h, 2).await;
        h.create().await;
        asleep(&h, 2).await;
        assert!(!first.is_finished() && !second.is_finished(), "nobody is served");
        resumed(&h, &on_lane()).await;
        assert_ne!(answered(first).await, answered(second).await);
    }

    async fn other_processes_hear_that_a_lane_goes_on(h) {
        only_when_called(&h);
        h.create().await;
        paused(&h, &on_lane()).await;
        let claim = wait(&h);
        asleep(&h, 1).await;
        if matches!(h.tables(), Tables::Sqlite(..)) {
            // The backends of a process on one file are one, and other processes look by themselves.
            claim.abort();
            return;
        }
        let other = Opened::open_at(url(&h), h.clock.clone()).await;
        resumed(&other, &on_lane()).await;
        answered(claim).await;
    }

    async fn the_members_of_a_paused_flow_are_passed_over(h) {
        let flow = created(&h).await;
        let mut all = members(&h, &flow).await;
        let alone = h.create().await;
        let target = PauseTarget::Flow(flow.clone());
        paused(&h, &target).await;
        let beside = stranger(&h, &flow).await;
        assert_eq!(ids(&claimed(&h).await), names(&[alone, beside]), "what is of no flow");
        // These are in the queue before they are of the flow, as what somebody writes who does not see the pause yet.
        all.extend([member(&h, &flow).await, member(&h, &flow).await]);
        gives_nothing(&h, &[h.flow_key(&flow).0]).await;
        resumed(&h, &target).await;
        assert_eq!(ids(&claimed(&h).await), names(&all));
    }

    async fn what_changes_while_its_flow_is_paused_stays_held_back(h) {
        let flow = created(&h).await;
        let (id, handle) = (member(&h, &flow).await, h.claim("worker-a").await.expect("it is claimed"));
        let waiting = member(&h, &flow).await;
        let target = PauseTarget::Flow(flow.clone());
        paused(&h, &target).await;
        // One comes back into the queue, and one changes its place there.
        h.backend.delay(&handle, TimestampMs::from_millis(h.clock.now_ms() + 5)).await.expect("it is delayed");
        h.pass_ms(10);
        h.alter(&format!("UPDATE ff_exec_core SET priority = 7 WHERE {}", h.of(&waiting))).await;
        gives_nothing(&h, &[h.flow_key(&flow).0]).await;
        resumed(&h, &target).await;
        let first = h.claim("worker-a").await.expect("one is claimed");
        assert_eq!(payload(&first).execution_id, waiting, "the one of higher priority");
        assert_eq!(payload(&h.claim("worker-a").await.expect("and the other")).execution_id, id);
    }

    async fn a_flow_that_goes_on_is_claimed_where_marks_had_passed_it(h) {
        let flow = created(&h).await;
        let held = members(&h, &flow).await;
        let target = PauseTarget::Flow(flow);
        paused(&h, &target).await;
        // Marks move from time to time.
        for _ in 0..4 {
            h.pass_ms(60_000);
            let id = h.create().await;
            let handle = h.claim("worker-a").await.expect("it is claimed");
            assert_eq!(payload(&handle).execution_id, id);
            h.backend.complete(&handle, None).await.expect("it is completed");
        }
        resumed(&h, &target).await;
        assert_eq!(ids(&claimed(&h).await), names(&held));
    }

    async fn claims_that_wait_are_called_when_a_flow_goes_on(h) {
        only_when_called(&h);
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        let target = PauseTarget::Flow(flow);
        paused(&h, &target).await;
        let claim = wait(&h);
        asleep(&h, 1).await;
        resumed(&h, &target).await;
        assert_eq!(payload(&answered(claim).await).execution_id, id);
        settled(&h).await;
    }

    async fn pauses_are_listed_and_said_once(h) {
        h.create().await;
        let flow = created(&h).await;
        let on_flow = PauseTarget::Flow(flow);
        assert_eq!(manage(&h).list_pauses().await.expect("a list"), []);
        paused(&h, &on_lane()).await;
        let since_ms = h.clock.now_ms();
        h.pass_ms(5);
        paused(&h, &on_flow).await;
        for target in [&on_lane(), &on_flow] {
            assert!(!manage(&h).pause(target, "another reason").await.expect("an answer"), "{target} was paused");
        }
        let pause = |target: &PauseTarget, since_ms| Pause { target: target.clone(), since_ms, reason: "ticket 12".to_owned() };
        let listed = manage(&h).list_pauses().await.expect("a list");
        assert_eq!(listed, [pause(&on_lane(), since_ms), pause(&on_flow, since_ms + 5)]);
        for target in [&on_lane(), &on_flow] {
            resumed(&h, target).await;
            assert!(!manage(&h).resume(target).await.expect("an answer"), "{target} goes on");
        }
        assert_eq!(manage(&h).list_pauses().await.expect("a list"), []);
    }

    async fn only_what_there_is_is_paused(h) {
        for (target, entity) in
            [(PauseTarget::Lane(LaneId::new("nowhere")), "lane"), (PauseTarget::Flow(FlowId::new()), "flow")]
        {
            let refused = manage(&h).pause(&target, "").await.expect_err("it is refused");
            assert!(matches!(refused, EngineError::NotFound { entity: found } if found == entity), "{refused:?}");
            assert!(!manage(&h).resume(&target).await.expect("an answer"), "{target} is not paused");
        }
        h.create().await;
        let refused = refusal(manage(&h).pause(&on_lane(), "a\0b").await);
        assert!(refused.contains("reason") && refused.contains("U+0000"), "{refused}");
        let refused = refusal(manage(&h).resume(&PauseTarget::Lane(LaneId::new("a\0b"))).await);
        assert!(refused.contains("lane") && refused.contains("U+0000"), "{refused}");
    }

    async fn a_flow_that_is_forgotten_takes_its_pause_along(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        let handle = h.claim("worker-a").await.expect("it is claimed");
        paused(&h, &PauseTarget::Flow(flow.clone())).await;
        h.backend.complete(&handle, None).await.expect("it is completed");
        settled(&h).await;
        h.pass_ms(3 * 24 * 60 * 60 * 1_000);
        for sweep in ["retention_trimmer", "growth", "growth"] {
            h.sweep(sweep).await;
        }
        assert!(h.backend.describe_execution(&id).await.expect("an answer").is_none());
        assert!(h.backend.describe_flow(&flow).await.expect("an answer").is_none());
        assert_eq!(h.number("SELECT count(*) FROM ff_flow_pause").await, 0);
    }

    async fn who_pauses_and_lets_go_beside_claims_loses_nothing(h) {
        let flow = created(&h).await;
        let target = PauseTarget::Flow(flow.clone());
        let all = members(&h, &flow).await;
        let turns = async {
            for _ in 0..20 {
                manage(&h).pause(&target, "").await.expect("it is paused");
                tokio::task::yield_now().await;
                manage(&h).resume(&target).await.expect("it goes on");
            }
        };
        let comes = async {
            let mut late = Vec::new();
            for _ in 0..20 {
                late.push(member(&h, &flow).await);
            }
            late
        };
        let takes = async {
            let mut taken = Vec::new();
            for _ in 0..20 {
                taken.extend(join_all((0..2).map(|_| h.claim("worker-a"))).await.into_iter().flatten());
            }
            taken
        };
        let ((), late, mut taken) = tokio::join!(turns, comes, takes);
        taken.extend(claimed(&h).await);
        let all: Vec<ExecutionId> = all.into_iter().chain(late).collect();
        assert_eq!(ids(&taken), names(&all), "each once");
    }
}

/// Whoever brings a member into the queue leaves it out while its flow is paused. The end of the pause waits for that, and
/// brings it.
#[tokio::test]
async fn the_end_of_a_pause_sees_what_was_left_out_meanwhile() {
    run(Kind::Postgres, |h| async move {
        let Tables::Postgres(backend) = h.tables() else { panic!("Postgres was asked for") };
        if h.is_spread() {
            return; // The triggers run on other nodes.
        }
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        h.alter(&format!("UPDATE ff_exec_core SET eligibility_state = 'blocked_by_dependencies' WHERE {}", h.of(&id)))
            .await;
        let target = PauseTarget::Flow(flow);
        paused(&h, &target).await;
        let mut writer = backend.pool().begin().await.expect("a transaction");
        let opened = format!("UPDATE ff_exec_core SET eligibility_state = 'eligible_now' WHERE {}", h.of(&id));
        sqlx::raw_sql(sqlx::AssertSqlSafe(opened)).execute(&mut *writer).await.expect("it is released");
        let resuming = {
            let (h, target) = (Arc::clone(&h), target.clone());
            tokio::spawn(async move { manage(&h).resume(&target).await })
        };
        let begun = Instant::now();
        while h.sessions_that_wait().await == 0 {
            assert!(begun.elapsed() < PATIENCE && !resuming.is_finished(), "it waits for the writer");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        writer.commit().await.expect("it is committed");
        assert!(resuming.await.expect("no panic").expect("it goes on"));
        assert_eq!(payload(&h.claim("worker-a").await.expect("it is claimed")).execution_id, id);
    })
    .await;
}
