//! Suspensions that begin, are ended by a signal and are claimed again at the same moment: each has its own answer, and
//! what is refused to one takes no other along.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use ff_core::backend::Handle;
use ff_core::contracts::{ClaimResumedExecutionResult, DeliverSignalResult, SuspendArgs, TimeoutBehavior};
use ff_core::types::{TimestampMs, WaitpointId, WaitpointToken};
use futures_util::future::join_all;

use crate::harness::{Harness as Opened, LOST, on_every_database, payload, uuid_of};
use crate::operator;
use crate::resume::claiming;
use crate::suspend::{Suspended, fresh, named, seed, signal, suspending, taken, waitpoints};
use crate::together::{claimed, counting, is_alone};

/// How many go at once.
const MANY: usize = 24;

async fn suspend(h: &Opened, handle: &Handle, args: SuspendArgs) -> Result<Suspended, String> {
    let outcome = h.backend.suspend(handle, args).await.map_err(|error| error.to_string())?;
    let (after, details) = taken(outcome);
    Ok(Suspended { id: payload(handle).execution_id, before: handle.clone(), handle: after, details })
}

/// Suspends that many at once; each waits for the signal `go`.
async fn suspended(h: &Opened) -> Vec<Suspended> {
    seed(h).await;
    let handles = claimed(h, MANY).await;
    let asked = handles.iter().map(|handle| suspend(h, handle, suspending(h, fresh("key"), named("key", "go"))));
    join_all(asked).await.into_iter().map(|suspended| suspended.expect("the lease is held")).collect()
}

async fn deliver(h: &Opened, suspended: &Suspended, name: &str) -> String {
    match h.backend.deliver_signal(signal(h, suspended, name)).await {
        Ok(DeliverSignalResult::Accepted { effect, .. }) => effect,
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

/// The epoch that a claim of a resumed execution gives.
async fn claim(h: &Opened, suspended: &Suspended) -> String {
    match h.backend.claim_resumed_execution(claiming(&suspended.id)).await {
        Ok(ClaimResumedExecutionResult::Claimed(claimed)) => format!("epoch {}", claimed.lease_epoch.0),
        Err(error) => error.to_string(),
    }
}

on_every_database! {
    async fn every_suspension_has_its_own_answer(h) {
        seed(&h).await;
        let handles = claimed(&h, MANY).await;
        // Two have lost their lease, one is suspended already, one is asked for twice.
        for lost in &handles[..2] {
            h.backend.revoke_lease(operator::revoking(&payload(lost).execution_id)).await.expect("it is revoked");
        }
        suspend(&h, &handles[2], suspending(&h, fresh("before"), named("before", "go"))).await.expect("the lease is held");
        let asked: Vec<usize> = (0..MANY).chain([3]).collect();
        let h = &h;
        let answers = join_all(asked.iter().map(|n| {
            let key = format!("key-{n}");
            let args = suspending(h, fresh(&key), named(&key, &format!("go-{n}")));
            let end = TimestampMs::from_millis(h.clock.now_ms() + 1_000);
            suspend(h, &handles[*n], if n % 2 == 0 { args.with_timeout(end, TimeoutBehavior::Fail) } else { args })
        }))
        .await;
        let mut of_two = BTreeSet::new();
        for (n, answer) in asked.iter().zip(answers) {
            match (n, answer) {
                (0..=2, answer) => assert_eq!(answer.err().as_deref(), Some(LOST), "suspension {n}"),
                (3, answer) => drop(of_two.insert(answer.err())),
                (_, answer) => {
                    let suspended = answer.expect("the lease is held");
                    assert_eq!(suspended.details.waitpoint_key, format!("key-{n}"));
                }
            }
        }
        assert_eq!(of_two, BTreeSet::from([None, Some(LOST.to_owned())]));
        for (n, handle) in handles.iter().enumerate().skip(3) {
            let id = payload(handle).execution_id;
            assert_eq!(h.core(&id, "public_state").await, "suspended");
            assert_eq!(h.attempts(&id, "CAST(lease_epoch AS text) || ' ' || outcome").await, ["2 attempt_interrupted"]);
            assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
            assert_eq!(waitpoints(h, &id, "waitpoint_key").await, [format!("key-{n}")]);
            let until = format!("SELECT count(timeout_at_ms) FROM ff_suspension_current WHERE {}", h.of(&id));
            assert_eq!(h.number(&until).await, i64::from(n % 2 == 0));
        }
    }

    async fn every_signal_has_its_own_answer(h) {
        let all = suspended(&h).await;
        let h = &h;
        // One is resumed already, one has a signal of another name at the same moment, one is told twice.
        assert_eq!(deliver(h, &all[0], "go").await, "resume_condition_satisfied");
        let asked: Vec<(usize, &str)> =
            (0..MANY).map(|n| (n, "go")).chain([(1, "other"), (2, "go")]).collect();
        let answers = join_all(asked.iter().map(|(n, name)| deliver(h, &all[*n], name))).await;
        for ((n, name), answer) in asked.iter().zip(&answers) {
            match (n, *name) {
                (0, _) => assert_eq!(answer, "not found: waitpoint"),
                (1 | 2, _) => {}
                _ => assert_eq!(answer, "resume_condition_satisfied", "signal {n}"),
            }
        }
        assert!(answers.contains(&"not found: waitpoint".to_owned()));
        for (n, suspended) in all.iter().enumerate() {
            assert_eq!(h.core(&suspended.id, "public_state").await, "resumable");
            assert!(waitpoints(h, &suspended.id, "waitpoint_key").await.is_empty());
            let heard = h.backend.observe_signals(&suspended.handle).await.expect("it is read");
            let names: Vec<&str> = heard.iter().map(|heard| heard.signal_name.as_str()).collect();
            assert_eq!(names.iter().filter(|name| **name == "go").count(), 1, "suspension {n} heard {names:?}");
            let told = format!("SELECT count(*) FROM ff_signal_event WHERE execution_id = '{}'", uuid_of(&suspended.id));
            assert_eq!(h.number(&told).await, i64::try_from(names.len()).expect("few"));
        }
        let resumable = "SELECT count(*) FROM ff_completion_event WHERE outcome = 'resumable'";
        assert_eq!(h.number(resumable).await, i64::try_from(MANY).expect("few"));
    }

    async fn a_signal_that_is_refused_takes_no_neighbour_along(h) {
        let all = suspended(&h).await;
        let h = &h;
        let delivered = all.iter().enumerate().map(|(n, suspended)| {
            let mut args = signal(h, suspended, "go");
            match n {
                0 => args.waitpoint_token = WaitpointToken::new("k1:00"),
                1 => args.waitpoint_id = WaitpointId::new(),
                _ => {}
            }
            h.backend.deliver_signal(args)
        });
        let answers = join_all(delivered).await;
        for (n, (suspended, answer)) in all.iter().zip(answers).enumerate() {
            assert_eq!(answer.is_ok(), n > 1, "{answer:?}");
            let state = if n > 1 { "resumable" } else { "suspended" };
            assert_eq!(h.core(&suspended.id, "public_state").await, state);
        }
    }

    async fn every_claim_of_a_resumed_execution_has_its_own_answer(h) {
        let all = suspended(&h).await;
        let h = &h;
        for delivered in join_all(all[1..].iter().map(|suspended| deliver(h, suspended, "go"))).await {
            assert_eq!(delivered, "resume_condition_satisfied");
        }
        // The first still is suspended, one is claimed already, one has an attempt that its execution does not point to,
        // one is claimed twice.
        assert_eq!(claim(h, &all[1]).await, "epoch 3");
        h.alter(&format!("UPDATE ff_exec_core SET attempt_index = 7 WHERE {}", h.of(&all[2].id))).await;
        let asked: Vec<usize> = (0..MANY).chain([3]).collect();
        let answers = join_all(asked.iter().map(|n| claim(h, &all[*n]))).await;
        let mut of_two = BTreeSet::new();
        for (n, answer) in asked.iter().zip(answers) {
            match n {
                0 | 1 => assert_eq!(answer, "contention: NotAResumedExecution"),
                3 => drop(of_two.insert(answer)),
                _ => assert_eq!(answer, "epoch 3", "claim {n}"),
            }
        }
        assert_eq!(of_two, BTreeSet::from(["contention: NotAResumedExecution".to_owned(), "epoch 3".to_owned()]));
        for suspended in &all[1..] {
            assert_eq!(h.core(&suspended.id, "public_state").await, "running");
            assert_eq!(h.attempts(&suspended.id, "worker_id").await, ["worker-b"]);
            assert_eq!(h.lease_events(&suspended.id).await, ["acquired", "revoked", "acquired"]);
        }
    }

    async fn those_who_suspend_at_once_go_together(h) {
        seed(&h).await;
        let handles = claimed(&h, MANY).await;
        let h = &h;
        let Some(counted) = counting(h, ["suspension_enter", "signal_resume", "resume_claim"]) else { return };
        let asked = handles.iter().map(|handle| suspend(h, handle, suspending(h, fresh("key"), named("key", "go"))));
        let all: Vec<Suspended> = join_all(asked).await.into_iter().map(|entered| entered.expect("it is held")).collect();
        join_all(all.iter().map(|suspended| deliver(h, suspended, "go"))).await;
        join_all(all.iter().map(|suspended| claim(h, suspended))).await;
        // Some have to read first, so they do not all come at one moment.
        for counted in counted {
            let runs = counted.runs.load(Ordering::SeqCst);
            assert!(if is_alone(h) { runs == MANY } else { (1..MANY).contains(&runs) }, "{runs} runs");
        }
    }
}
