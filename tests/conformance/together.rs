//! Operations that wait at the same moment: each has its own answer, whatever becomes of those that go with it.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ff_backend_sql::testing::Step;
use ff_core::backend::{CapabilitySet, FailOutcome, FailureClass, FailureReason, Frame, FrameKind, Handle};
use ff_core::contracts::StreamCursor;
use ff_core::types::{AttemptIndex, ExecutionId, LaneId};
use futures_util::future::{join, join_all};
use tokio::sync::watch;
use tokio::task::yield_now;

use crate::claim::requiring;
use crate::harness::{Harness as Opened, LOST, PATIENCE, Tables, id_in, on_every_database, payload, policy};
use crate::{held, operator};

/// How many operations go at once.
const MANY: usize = 40;

/// Creates executions in several partitions, the later ones of higher priority.
async fn created(h: &Opened, count: usize) -> Vec<ExecutionId> {
    let mut ids = Vec::new();
    for priority in 0..count {
        let id = id_in(u16::try_from(priority % 7).expect("a partition"));
        ids.push(
            h.create_with(|args| {
                args.partition_id = id.partition();
                args.execution_id = id;
                args.priority = i32::try_from(priority).expect("a priority");
            })
            .await,
        );
    }
    ids
}

pub(crate) async fn claimed(h: &Opened, count: usize) -> Vec<Handle> {
    created(h, count).await;
    let handles = join_all((0..count).map(|worker| async move { h.claim(&format!("worker-{worker}")).await })).await;
    handles.into_iter().map(|handle| handle.expect("there is one for each")).collect()
}

fn complete<'a>(h: &'a Opened, handle: &'a Handle, result: &str) -> impl Future<Output = String> + 'a {
    let result = result.as_bytes().to_vec();
    async move {
        let answer = h.backend.complete(handle, Some(result)).await;
        answer.map_or_else(|error| error.to_string(), |()| "ok".to_owned())
    }
}

fn fail<'a>(h: &'a Opened, handle: &'a Handle, message: &str) -> impl Future<Output = String> + 'a {
    let reason = FailureReason::new(message);
    async move {
        match h.backend.fail(handle, reason, FailureClass::Permanent).await {
            Ok(FailOutcome::TerminalFailed) => "ok".to_owned(),
            Ok(outcome) => format!("{outcome:?}"),
            Err(error) => error.to_string(),
        }
    }
}

/// What the door did for one kind of operation.
#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) runs: AtomicUsize,
    /// How many waited too long for their turn.
    left: AtomicUsize,
}

impl Counted {
    /// Counts a step; whether it is the begin of a run.
    fn count(&self, step: Step) -> bool {
        match step {
            Step::Run => self.runs.fetch_add(1, Ordering::SeqCst),
            Step::Leave => self.left.fetch_add(1, Ordering::SeqCst),
            _ => return false,
        };
        step == Step::Run
    }
}

/// Counts what the door of Postgres does for some kinds of operations, for each by itself. Once per backend.
pub(crate) fn counting<const N: usize>(h: &Opened, operations: [&'static str; N]) -> Option<[Arc<Counted>; N]> {
    let Tables::Postgres(backend) = h.tables() else { return None };
    let counted = operations.map(|operation| (operation, Arc::new(Counted::default())));
    let counting = counted.clone();
    backend.hold_for_test(Box::new(move |step, name| {
        for (_, counted) in counting.iter().filter(|(operation, _)| *operation == name) {
            counted.count(step);
        }
        None
    }));
    Some(counted.map(|(_, counted)| counted))
}

/// Whether every operation runs alone: the connections are set to that, or the tables are spread over a cluster.
pub(crate) fn is_alone(h: &Opened) -> bool {
    h.is_spread() || std::env::var("FF_TEST_POSTGRES_URL").unwrap_or_default().contains("combining")
}

/// Leases an execution again after its lease was revoked.
async fn leased_again(h: &Opened, handle: &Handle) -> Handle {
    let id = payload(handle).execution_id;
    h.backend.revoke_lease(operator::revoking(&id)).await.expect("it is revoked");
    let again = h.claim("another").await.expect("it waits");
    assert_eq!(payload(&again).execution_id, id);
    again
}

fn frame(text: &str) -> Frame {
    Frame::new(text.as_bytes().to_vec(), FrameKind::Stdout)
}

async fn result_of(h: &Opened, handle: &Handle) -> Option<Vec<u8>> {
    h.backend.get_execution_result(&payload(handle).execution_id).await.expect("it is read")
}

on_every_database! {
    async fn claims_take_the_best_executions_one_each(h) {
        let ids = created(&h, MANY).await;
        let h = &h;
        let names: Vec<String> = (0..MANY + 2).map(|worker| format!("worker-{worker}")).collect();
        let (first, later) = names.split_at(MANY - 10);
        let mut taken = join_all(first.iter().map(|name| h.claim(name))).await;
        let held: HashSet<ExecutionId> = taken.iter().flatten().map(|handle| payload(handle).execution_id).collect();
        assert_eq!(held, ids[10..].iter().cloned().collect(), "those of the highest priority");
        taken.extend(join_all(later.iter().map(|name| h.claim(name))).await);
        let held: HashSet<ExecutionId> = taken.iter().flatten().map(|handle| payload(handle).execution_id).collect();
        assert_eq!((held.len(), taken.iter().flatten().count()), (MANY, MANY), "each is taken, and none twice");
        for (name, handle) in names.iter().zip(&taken) {
            let Some(handle) = handle else { continue };
            let held = payload(handle);
            assert_eq!(h.attempts(&held.execution_id, "worker_id").await, [name.as_str()]);
            assert_eq!((held.attempt_index.0, held.lease_epoch.0), (0, 1));
            assert_eq!(h.lease_events(&held.execution_id).await, ["acquired"]);
            assert_eq!(h.backend.read_total_attempt_count(&held.execution_id).await.unwrap().0, 1);
            h.backend.renew(handle).await.expect("the handle holds the lease");
        }
    }

    async fn claims_of_many_lanes_and_capabilities_have_each_their_own(h) {
        // On either lane: what anybody may take, and what needs a capability, in turns of priority.
        let mut waiting = Vec::new();
        for (n, lane) in ["lane", "other"].into_iter().cycle().take(MANY).enumerate() {
            let needs_gpu = n % 4 < 2;
            let id = h
                .create_with(|args| {
                    args.lane_id = LaneId::new(lane);
                    args.execution_id = id_in(u16::try_from(n % 5).expect("a partition"));
                    args.partition_id = args.execution_id.partition();
                    args.priority = i32::try_from(n).expect("a priority");
                    args.policy = if needs_gpu { requiring(&["gpu"]) } else { None };
                })
                .await;
            waiting.push((id, lane, needs_gpu));
        }
        let able = |gpu: bool| CapabilitySet::new(if gpu { vec!["gpu"] } else { Vec::new() });
        let asked: Vec<(&str, bool)> = (0..MANY + 8).map(|n| (["lane", "other", "empty"][n % 3], n % 2 == 0)).collect();
        let mut taken: Vec<(ExecutionId, &str, bool)> = Vec::new();
        // Several rounds, because one with the capability may take what one without it asks for at the same moment.
        for _ in 0..3 {
            let names = asked.iter().enumerate().map(|(n, (lane, gpu))| (LaneId::new(*lane), able(*gpu), format!("w-{n}")));
            let claims = names.map(|(lane, able, name)| {
                let backend = &h.backend;
                async move { backend.claim(&lane, &able, policy(&name)).await.expect("it is answered") }
            });
            let answers = join_all(claims).await;
            taken.extend(asked.iter().zip(answers).filter_map(|((lane, gpu), handle)| {
                handle.map(|handle| (payload(&handle).execution_id, *lane, *gpu))
            }));
        }
        assert_eq!(taken.len(), MANY, "all are taken, and none twice");
        for (id, lane, gpu) in &taken {
            let (_, of, needs_gpu) = waiting.iter().find(|(waits, ..)| waits == id).expect("it waited");
            assert_eq!(lane, of);
            assert!(*gpu || !needs_gpu, "it needs what this worker lacks");
            assert_eq!(h.lease_events(id).await, ["acquired"]);
        }
        assert_eq!(taken.iter().map(|(id, ..)| id).collect::<HashSet<_>>().len(), MANY);
    }

    async fn claims_pass_over_held_executions_and_wrong_places(h) {
        let Tables::Postgres(_) = h.tables() else { return };
        let mut ids = Vec::new();
        for priority in 0..14 {
            ids.push(
                h.create_with(|args| {
                    args.execution_id = id_in(if priority < 12 { 3 } else { 4 });
                    args.partition_id = args.execution_id.partition();
                    args.priority = priority;
                })
                .await,
            );
        }
        // Of one partition one is held and one has a place that it contradicts, of the other one is held.
        let wrong = format!("UPDATE ff_claimable SET attempt_index = attempt_index + 7 WHERE {}", h.row_of(&ids[10]));
        h.alter(&wrong).await;
        let first = held::hold(&h, "ff_exec_core", &h.of(&ids[11])).await;
        let second = held::hold(&h, "ff_exec_core", &h.of(&ids[12])).await;
        let taken = |handles: Vec<Option<Handle>>| {
            let ids = handles.iter().flatten().map(|handle| payload(handle).execution_id);
            ids.collect::<HashSet<ExecutionId>>()
        };
        let names: Vec<String> = (0..11).map(|worker| format!("worker-{worker}")).collect();
        let before = taken(join_all(names.iter().map(|name| h.claim(name))).await);
        assert_eq!(before.len(), names.len(), "each has one of the twelve that nobody holds");
        assert!(before.is_disjoint(&ids[11..13].iter().cloned().collect()), "nothing is taken that somebody holds");
        held::free(first).await;
        held::free(second).await;
        let after = taken(join_all(names[..3].iter().map(|name| h.claim(name))).await);
        assert_eq!(&before | &after, ids.iter().cloned().collect(), "the place was put right");
    }

    async fn claims_pass_over_many_held_executions(h) {
        let Tables::Postgres(_) = h.tables() else { return };
        let mut ids = Vec::new();
        for priority in 0..153 {
            ids.push(
                h.create_with(|args| {
                    args.execution_id = id_in(3);
                    args.partition_id = args.execution_id.partition();
                    args.priority = priority;
                })
                .await,
            );
        }
        let held = held::hold(&h, "ff_exec_core", "priority > 2").await;
        let names: Vec<String> = (0..5).map(|worker| format!("worker-{worker}")).collect();
        let claimed = join_all(names.iter().map(|name| h.claim(name))).await;
        let claimed: HashSet<ExecutionId> = claimed.iter().flatten().map(|handle| payload(handle).execution_id).collect();
        assert_eq!(claimed, ids[..3].iter().cloned().collect(), "the three that nobody holds");
        held::free(held).await;
        let next = h.claim(&names[0]).await.expect("many wait");
        assert_eq!(payload(&next).execution_id, ids[152], "the most urgent one");
    }

    async fn every_completion_has_its_own_answer(h) {
        let handles = claimed(&h, MANY).await;
        // Some have lost their lease, one has ended, one is asked to end twice with one result and one with two.
        for lost in &handles[..3] {
            h.backend.revoke_lease(operator::revoking(&payload(lost).execution_id)).await.expect("it is revoked");
        }
        assert_eq!(complete(&h, &handles[3], "before").await, "ok");
        let mut asked: Vec<(usize, String)> = (0..MANY).map(|n| (n, format!("result {n}"))).collect();
        asked.extend([(4, "result 4".to_owned()), (5, "another".to_owned())]);
        let h = &h;
        let answers = join_all(asked.iter().map(|(n, result)| complete(h, &handles[*n], result))).await;
        for ((n, _), answer) in asked.iter().zip(&answers).filter(|((n, _), _)| *n != 5) {
            assert_eq!(answer, if *n < 4 { LOST } else { "ok" }, "completion {n}");
        }
        let of_two: BTreeSet<&str> =
            asked.iter().zip(&answers).filter(|((n, _), _)| *n == 5).map(|(_, answer)| answer.as_str()).collect();
        assert_eq!(of_two, BTreeSet::from(["ok", LOST]));
        for (n, handle) in handles.iter().enumerate().skip(3) {
            let result = result_of(h, handle).await.expect("a result");
            match n {
                3 => assert_eq!(result, b"before"),
                5 => {}
                _ => assert_eq!(result, format!("result {n}").into_bytes()),
            }
            let id = payload(handle).execution_id;
            assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
            assert_eq!(h.completions(&id).await, ["success space instance-1"]);
            assert_eq!(h.attempts(&id, "outcome").await, ["success"]);
        }
        for handle in &handles[..3] {
            assert_eq!(result_of(h, handle).await, None);
            assert_eq!(h.core(&payload(handle).execution_id, "lifecycle_phase").await, "runnable");
        }
    }

    async fn every_failure_has_its_own_answer(h) {
        let handles = claimed(&h, MANY).await;
        for lost in &handles[..3] {
            h.backend.revoke_lease(operator::revoking(&payload(lost).execution_id)).await.expect("it is revoked");
        }
        assert_eq!(fail(&h, &handles[3], "before").await, "ok");
        assert_eq!(complete(&h, &handles[4], "done").await, "ok");
        let counted = counting(&h, ["attempt_fail"]);
        let h = &h;
        let asked = handles.iter().enumerate().map(|(n, handle)| async move { fail(h, handle, &format!("no {n}")).await });
        let answers = join_all(asked).await;
        for (n, answer) in answers.iter().enumerate() {
            match n {
                0 | 1 | 2 | 4 => assert_eq!(answer, LOST, "failure {n}"),
                _ => assert_eq!(answer, "ok", "failure {n}"),
            }
        }
        if let Some([counted]) = counted {
            let runs = counted.runs.load(Ordering::SeqCst);
            assert_eq!(runs, if is_alone(h) { MANY } else { 1 });
        }
        for (n, handle) in handles.iter().enumerate().skip(3).filter(|(n, _)| *n != 4) {
            let id = payload(handle).execution_id;
            let message = if n == 3 { "before".to_owned() } else { format!("no {n}") };
            let document = h.document(&id).await;
            assert_eq!((&document["last_failure_message"], &document["namespace"]), (&message.into(), &"space".into()));
            assert_eq!(h.core(&id, "public_state").await, "failed");
            assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
            assert_eq!(h.completions(&id).await, ["failed space instance-1"]);
            assert_eq!(h.attempts(&id, "outcome").await, ["failed"]);
        }
        assert_eq!(h.core(&payload(&handles[4]).execution_id, "public_state").await, "completed");
    }

    async fn a_failure_under_a_lost_lease_takes_no_neighbour_along(h) {
        let handles = claimed(&h, 12).await;
        let again = leased_again(&h, &handles[7]).await;
        let h = &h;
        let answers = join_all(handles.iter().map(|handle| fail(h, handle, "no"))).await;
        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(answer, if n == 7 { LOST } else { "ok" }, "failure {n}");
        }
        for handle in handles.iter().enumerate().filter(|(n, _)| *n != 7).map(|(_, handle)| handle) {
            let id = payload(handle).execution_id;
            assert_eq!(h.core(&id, "public_state").await, "failed");
            assert_eq!(h.completions(&id).await, ["failed space instance-1"]);
        }
        let id = payload(&again).execution_id;
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
        assert_eq!(complete(h, &again, "done").await, "ok");
    }

    async fn a_result_is_stored_as_it_was_given(h) {
        let handles = claimed(&h, 8).await;
        let results: Vec<Option<Vec<u8>>> = vec![
            None, Some(Vec::new()), Some(vec![0]), Some(b"\\x00".to_vec()), Some(vec![255; 300]), None,
            Some(b"'".to_vec()), Some("ä".as_bytes().to_vec()),
        ];
        let h = &h;
        let asked = handles.iter().zip(&results);
        let answers = join_all(asked.map(|(handle, result)| h.backend.complete(handle, result.clone()))).await;
        assert!(answers.iter().all(Result::is_ok));
        for (handle, result) in handles.iter().zip(&results) {
            assert_eq!(result_of(h, handle).await, *result);
        }
    }

    async fn an_execution_that_is_gone_is_not_made_again(h) {
        let handles = claimed(&h, 6).await;
        let gone = &payload(&handles[5]).execution_id;
        h.alter(&format!("DELETE FROM ff_exec_core WHERE {}", h.of(gone))).await;
        let h = &h;
        let answers = join_all(handles.iter().map(|handle| complete(h, handle, "done"))).await;
        assert_eq!(answers[..5], ["ok"; 5]);
        assert_ne!(answers[5], "ok");
        assert_eq!(h.number(&format!("SELECT count(*) FROM ff_exec_core WHERE {}", h.of(gone))).await, 0);
        assert_eq!(h.completions(gone).await, [""; 0]);
    }

    async fn a_claim_whose_caller_goes_away_is_given_back_and_its_neighbours_stay(h) {
        let ids = created(&h, 12).await;
        let names: Vec<String> = (0..12).map(|worker| format!("worker-{worker}")).collect();
        let (gone, kept) = names.split_at(6);
        let backend = &h;
        let staying = join_all(kept.iter().map(|name| backend.claim(name)));
        // Asked once and dropped.
        tokio::select! {
            biased;
            _ = join_all(gone.iter().map(|name| backend.claim(name))) => panic!("no claim is answered at once"),
            () = std::future::ready(()) => {}
        }
        let stayed = staying.await;
        assert_eq!(stayed.iter().flatten().count(), 6);
        let held = "SELECT count(*) FROM ff_exec_core WHERE lifecycle_phase = 'active'";
        let begin = Instant::now();
        while h.number(held).await != 6 {
            assert!(begin.elapsed() < PATIENCE, "leases that nobody took are not given back");
            tokio::task::yield_now().await;
        }
        for handle in stayed.iter().flatten() {
            assert_eq!(complete(&h, handle, "done").await, "ok");
        }
        assert_eq!(h.number("SELECT count(*) FROM ff_completion_event").await, 6);
        assert_eq!(h.number("SELECT count(*) FROM ff_exec_core").await, i64::try_from(ids.len()).expect("few"));
    }

    async fn every_append_has_its_own_place(h) {
        let handles = claimed(&h, MANY).await;
        for lost in &handles[..3] {
            h.backend.revoke_lease(operator::revoking(&payload(lost).execution_id)).await.expect("it is revoked");
        }
        // A frame that no counter knows of, as another program leaves it.
        let known = h.of(&payload(&handles[3]).execution_id);
        h.backend.append_frame(&handles[3], frame("before")).await.expect("it is appended");
        h.alter(&format!("DELETE FROM ff_stream_counter WHERE {known}")).await;
        let h = &h;
        let asked = (0..MANY).chain(3..MANY).map(|n| h.backend.append_frame(&handles[n], frame(&format!("frame {n}"))));
        let answers = join_all(asked).await;
        for answer in &answers[..3] {
            assert_eq!(answer.as_ref().expect_err("the lease is lost").to_string(), LOST);
        }
        for n in 3..MANY {
            let two = [&answers[n], &answers[n + MANY - 3]].map(|answer| answer.as_ref().expect("it is appended"));
            let counts: BTreeSet<u64> = two.iter().map(|appended| appended.frame_count).collect();
            assert_eq!(counts, if n == 3 { BTreeSet::from([2, 3]) } else { BTreeSet::from([1, 2]) }, "stream {n}");
            let places: BTreeSet<&str> = two.iter().map(|appended| appended.stream_id.as_str()).collect();
            assert_eq!(places.len(), 2, "stream {n}");
            let id = payload(&handles[n]).execution_id;
            let read = h.backend.read_stream(&id, AttemptIndex::new(0), StreamCursor::Start, StreamCursor::End, 9).await;
            let frames = read.expect("it is read").frames;
            let payloads: Vec<&str> = frames.iter().map(|frame| frame.fields["payload"].as_str()).collect();
            let own = format!("frame {n}");
            assert_eq!(payloads[payloads.len() - 2..], [own.as_str(); 2]);
            assert!(frames.iter().map(|frame| frame.id.as_str()).collect::<BTreeSet<_>>().is_superset(&places));
        }
    }

    async fn what_waits_goes_together(h) {
        let handles = claimed(&h, MANY).await;
        let Tables::Postgres(backend) = h.tables() else { return };
        // Whatever runs is held until all have asked.
        let counted = Arc::new(Counted::default());
        let (ask, asked) = watch::channel(false);
        let counting = Arc::clone(&counted);
        backend.hold_for_test(Box::new(move |step, name| {
            if name != "attempt_complete" || !counting.count(step) {
                return None;
            }
            let mut asked = asked.clone();
            Some(Box::pin(async move { asked.wait_for(|all| *all).await.map_or((), |_| ()) }))
        }));
        let h = &h;
        let (first, others) = handles.split_first().expect("there are some");
        let completing = async {
            let first = complete(h, first, "done");
            let others = async {
                // The first one is on its way by now, alone.
                while counted.runs.load(Ordering::SeqCst) == 0 {
                    yield_now().await;
                }
                join_all(others.iter().map(|handle| complete(h, handle, "done"))).await
            };
            join(first, others).await
        };
        let all_ask = async {
            while counted.runs.load(Ordering::SeqCst) == 0 {
                yield_now().await;
            }
            ask.send_replace(true)
        };
        let ((first, others), _) = join(completing, all_ask).await;
        assert!(others.iter().chain([&first]).all(|answer| answer == "ok"));
        let (runs, left) = (counted.runs.load(Ordering::SeqCst), counted.left.load(Ordering::SeqCst));
        if is_alone(h) {
            assert_eq!(runs, MANY, "each alone");
        } else {
            // Those go together whose turn came within their patience.
            let together = usize::from(left < MANY - 1);
            assert_eq!(runs, 1 + left + together, "{left} went alone because they had waited for long");
        }
    }

    async fn those_who_ask_at_once_go_together(h) {
        let handles = claimed(&h, MANY).await;
        let Some([counted]) = counting(&h, ["attempt_complete"]) else { return };
        let h = &h;
        let answers = join_all(handles.iter().map(|handle| complete(h, handle, "done"))).await;
        assert!(answers.iter().all(|answer| answer == "ok"));
        let runs = counted.runs.load(Ordering::SeqCst);
        assert_eq!(runs, if is_alone(h) { MANY } else { 1 }, "the first comer gives way to the others");
    }

    async fn nobody_waits_for_a_neighbours_row(h) {
        let handles = claimed(&h, 12).await;
        let Tables::Postgres(backend) = h.tables() else { return };
        let held = payload(&handles[7]).execution_id;
        let mut holder = backend.pool().begin().await.expect("a transaction");
        let lock = format!("SELECT 1 FROM ff_exec_core WHERE {} FOR UPDATE", h.row_of(&held));
        sqlx::raw_sql(sqlx::AssertSqlSafe(lock)).execute(&mut *holder).await.expect("the row is locked");
        let h = &h;
        let waiting = complete(h, &handles[7], "done");
        let others = handles.iter().enumerate().filter(|(n, _)| *n != 7);
        let others = join_all(others.map(|(_, handle)| complete(h, handle, "done")));
        let mut waiting = std::pin::pin!(waiting);
        let answers = tokio::select! {
            biased;
            answers = others => answers,
            answer = &mut waiting => panic!("a held row is waited for: {answer}"),
        };
        assert!(answers.iter().all(|answer| answer == "ok"));
        holder.rollback().await.expect("the row is free");
        assert_eq!(waiting.await, "ok");
    }
}
