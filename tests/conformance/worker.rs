//! The registry of worker instances.

use std::collections::BTreeSet;
use std::time::Duration;

use ff_core::contracts::{
    HeartbeatWorkerArgs, HeartbeatWorkerOutcome, ListWorkersArgs, MarkWorkerDeadArgs, MarkWorkerDeadOutcome,
    RegisterWorkerArgs, RegisterWorkerOutcome, WorkerInfo,
};
use ff_core::types::{LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

use crate::harness::{Harness as Opened, PATIENCE, T0, on_every_database, refusal};

/// How long a registration of [`registration`] lives.
const TTL_MS: i64 = 1_000;

fn time(after_ms: i64) -> TimestampMs {
    TimestampMs::from_millis(T0 + after_ms)
}

/// Registers that instance of worker `pool` in the namespace `space`.
fn registration(instance: &str, after_ms: i64) -> RegisterWorkerArgs {
    RegisterWorkerArgs::new(
        WorkerId::new("pool"),
        WorkerInstanceId::new(instance),
        ["b", "a"].map(LaneId::new).into(),
        ["gpu", "eu"].map(str::to_owned).into(),
        TTL_MS as u64,
        Namespace::new("space"),
        time(after_ms),
    )
}

async fn register(h: &Opened, instance: &str, after_ms: i64) -> RegisterWorkerOutcome {
    h.backend.register_worker(registration(instance, after_ms)).await.unwrap()
}

async fn heartbeat(h: &Opened, instance: &str, after_ms: i64) -> HeartbeatWorkerOutcome {
    let args = HeartbeatWorkerArgs::new(WorkerInstanceId::new(instance), Namespace::new("space"), time(after_ms));
    h.backend.heartbeat_worker(args).await.unwrap()
}

fn death(instance: &str, reason: &str) -> MarkWorkerDeadArgs {
    MarkWorkerDeadArgs::new(WorkerInstanceId::new(instance), Namespace::new("space"), reason.to_owned(), time(9))
}

fn listing(namespace: &str, after: Option<&str>, limit: Option<u32>) -> ListWorkersArgs {
    let mut args = ListWorkersArgs::new();
    args.namespace = Some(Namespace::new(namespace));
    args.after = after.map(WorkerInstanceId::new);
    args.limit = limit;
    args
}

async fn listed(h: &Opened) -> Vec<WorkerInfo> {
    h.backend.list_workers(listing("space", None, None)).await.unwrap().entries
}

/// What happened to an instance: kind, milliseconds after the start, reason; by time.
async fn events(h: &Opened, instance: &str) -> Vec<String> {
    let shown = format!("event_kind || ' ' || CAST(event_at_ms - {T0} AS text) || coalesce(' ' || reason, '')");
    let of = format!("worker_instance_id = '{instance}' ORDER BY event_at_ms, event_kind");
    h.texts(&format!("SELECT {shown} FROM ff_worker_registry_event WHERE {of}")).await
}

on_every_database! {
    async fn an_instance_is_registered_and_refreshed(h) {
        assert_eq!(register(&h, "i", 0).await, RegisterWorkerOutcome::Registered);
        let mut again = registration("i", 5);
        again.lanes = [LaneId::new("c")].into();
        again.capabilities = BTreeSet::new();
        again.liveness_ttl_ms = 7;
        assert_eq!(h.backend.register_worker(again).await.unwrap(), RegisterWorkerOutcome::Refreshed);
        let info = listed(&h).await.pop().unwrap();
        assert_eq!((info.worker_id.as_str(), info.namespace.as_str()), ("pool", "space"));
        assert_eq!((info.lanes, info.capabilities), ([LaneId::new("c")].into(), BTreeSet::new()));
        assert_eq!((info.registered_at_ms, info.last_heartbeat_ms, info.liveness_ttl_ms), (time(0), time(5), 7));
        assert_eq!(events(&h, "i").await, ["registered 0", "registered 5"]);
    }

    async fn lanes_and_capabilities_come_back_as_sets(h) {
        register(&h, "i", 0).await;
        let info = listed(&h).await.pop().unwrap();
        assert_eq!(info.lanes, ["a", "b"].map(LaneId::new).into());
        assert_eq!(info.capabilities, ["eu", "gpu"].map(str::to_owned).into());
        let mut bare = registration("j", 0);
        (bare.lanes, bare.capabilities) = (BTreeSet::new(), BTreeSet::new());
        h.backend.register_worker(bare).await.unwrap();
        let info = listed(&h).await.pop().unwrap();
        assert!(info.lanes.is_empty() && info.capabilities.is_empty());
    }

    async fn an_instance_belongs_to_one_worker(h) {
        register(&h, "i", 0).await;
        let mut other = registration("i", 1);
        other.worker_id = WorkerId::new("another");
        // The registration of a worker that lapsed counts until it is swept.
        for after_ms in [1, TTL_MS * 10] {
            other.now = time(after_ms);
            let refused = refusal(h.backend.register_worker(other.clone()).await);
            assert_eq!(refused, "validation: InvalidInput: instance_id reassigned");
        }
        assert_eq!(listed(&h).await[0].last_heartbeat_ms, time(0));
        assert_eq!(events(&h, "i").await, ["registered 0"]);
        other.namespace = Namespace::new("elsewhere");
        assert_eq!(h.backend.register_worker(other).await.unwrap(), RegisterWorkerOutcome::Registered);
    }

    async fn of_two_workers_at_once_one_gets_the_instance(h) {
        let both: Vec<_> = ["one", "two"]
            .map(|worker| {
                let h = Arc::clone(&h);
                let mut args = registration("i", 0);
                args.worker_id = WorkerId::new(worker);
                tokio::spawn(async move { h.backend.register_worker(args).await })
            })
            .into();
        let mut won = 0;
        for registering in both {
            match registering.await.unwrap() {
                Ok(outcome) => {
                    assert_eq!(outcome, RegisterWorkerOutcome::Registered);
                    won += 1;
                }
                Err(error) => assert_eq!(error.to_string(), "validation: InvalidInput: instance_id reassigned"),
            }
        }
        assert_eq!((won, listed(&h).await.len()), (1, 1));
    }

    async fn a_comma_in_a_word_is_refused(h) {
        let mut args = registration("i", 0);
        args.lanes = [LaneId::new("a,b")].into();
        let refused = refusal(h.backend.register_worker(args).await);
        assert_eq!(refused, "validation: InvalidInput: register_worker: lane must not contain ','");
        let mut args = registration("i", 0);
        args.capabilities = ["a,b".to_owned()].into();
        let refused = refusal(h.backend.register_worker(args).await);
        assert_eq!(refused, "validation: InvalidInput: register_worker: capability must not contain ','");
        assert!(listed(&h).await.is_empty());
    }

    async fn a_heartbeat_lives_until_its_time_is_over(h) {
        assert_eq!(heartbeat(&h, "i", 0).await, HeartbeatWorkerOutcome::NotRegistered);
        register(&h, "i", 0).await;
        let refreshed = |next_ms| HeartbeatWorkerOutcome::Refreshed { next_expiry_ms: time(next_ms) };
        assert_eq!(heartbeat(&h, "i", TTL_MS - 1).await, refreshed(TTL_MS - 1 + TTL_MS));
        assert_eq!(heartbeat(&h, "i", 2 * TTL_MS - 1).await, HeartbeatWorkerOutcome::NotRegistered);
        assert_eq!(listed(&h).await[0].last_heartbeat_ms, time(TTL_MS - 1), "lapsed, but not swept");
        assert_eq!(events(&h, "i").await, ["registered 0".to_owned(), format!("heartbeat {}", TTL_MS - 1)]);
    }

    async fn an_older_heartbeat_moves_nothing_back(h) {
        register(&h, "i", 500).await;
        assert!(matches!(heartbeat(&h, "i", 100).await, HeartbeatWorkerOutcome::Refreshed { .. }));
        assert_eq!(listed(&h).await[0].last_heartbeat_ms, time(500));
    }

    async fn an_endless_time_to_live_does_not_overflow(h) {
        for (ttl_ms, stored) in [(u64::MAX, i64::MAX as u64), (i64::MAX as u64, i64::MAX as u64)] {
            let mut args = registration("i", 0);
            args.liveness_ttl_ms = ttl_ms;
            h.backend.register_worker(args).await.unwrap();
            assert_eq!(listed(&h).await[0].liveness_ttl_ms, stored);
            let next_expiry_ms = TimestampMs::from_millis(i64::MAX);
            assert_eq!(heartbeat(&h, "i", 1).await, HeartbeatWorkerOutcome::Refreshed { next_expiry_ms });
        }
    }

    async fn a_dead_instance_is_gone(h) {
        register(&h, "i", 0).await;
        let marked = h.backend.mark_worker_dead(death("i", "it said \"good bye\"")).await.unwrap();
        assert_eq!(marked, MarkWorkerDeadOutcome::Marked);
        assert!(listed(&h).await.is_empty());
        let again = h.backend.mark_worker_dead(death("i", "")).await.unwrap();
        assert_eq!(again, MarkWorkerDeadOutcome::NotRegistered);
        assert_eq!(events(&h, "i").await, ["registered 0", "marked_dead 9 it said \"good bye\""]);
        assert_eq!(heartbeat(&h, "i", 10).await, HeartbeatWorkerOutcome::NotRegistered);
        assert_eq!(register(&h, "i", 11).await, RegisterWorkerOutcome::Registered);
    }

    async fn a_reason_is_checked_before_anything(h) {
        register(&h, "i", 0).await;
        let refused = refusal(h.backend.mark_worker_dead(death("i", &"ü".repeat(129))).await);
        assert_eq!(refused, "validation: InvalidInput: reason: exceeds 256 bytes (got 258)");
        for reason in ["a\nb", "\0", "\u{85}", "\u{7f}"] {
            let refused = refusal(h.backend.mark_worker_dead(death("i", reason)).await);
            assert_eq!(refused, "validation: InvalidInput: reason: must not contain control characters");
        }
        assert_eq!(listed(&h).await.len(), 1);
        let marked = h.backend.mark_worker_dead(death("i", &"x".repeat(256))).await.unwrap();
        assert_eq!(marked, MarkWorkerDeadOutcome::Marked);
    }

    async fn the_dead_keep_their_leases(h) {
        let (id, handle) = h.created_and_claimed().await;
        register(&h, "worker-a-1", 0).await;
        h.backend.mark_worker_dead(death("worker-a-1", "gone")).await.unwrap();
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
        h.backend.renew(&handle).await.unwrap();
    }

    async fn instances_are_listed_in_the_order_of_their_bytes(h) {
        for instance in ["b", "Z", "a", "ä", "_", "10", "9"] {
            register(&h, instance, 0).await;
        }
        let names = |entries: Vec<WorkerInfo>| -> Vec<String> {
            entries.into_iter().map(|info| info.worker_instance_id.as_str().to_owned()).collect()
        };
        assert_eq!(names(listed(&h).await), ["10", "9", "Z", "_", "a", "b", "ä"]);
        let page = h.backend.list_workers(listing("space", Some("9"), Some(3))).await.unwrap();
        assert_eq!(page.cursor.as_ref().map(WorkerInstanceId::as_str), Some("a"));
        assert_eq!(names(page.entries), ["Z", "_", "a"]);
        let rest = h.backend.list_workers(listing("space", Some("a"), Some(3))).await.unwrap();
        assert_eq!((names(rest.entries), rest.cursor), (vec!["b".to_owned(), "ä".to_owned()], None));
        let full = h.backend.list_workers(listing("space", Some("a"), Some(2))).await.unwrap();
        assert_eq!(full.cursor.as_ref().map(WorkerInstanceId::as_str), Some("ä"), "a full page has a cursor");
        let one = h.backend.list_workers(listing("space", None, Some(0))).await.unwrap();
        assert_eq!(names(one.entries), ["10"], "a limit of none is one");
        assert!(h.backend.list_workers(listing("elsewhere", None, None)).await.unwrap().entries.is_empty());
    }

    async fn all_namespaces_at_once_are_not_listed(h) {
        let refused = refusal(h.backend.list_workers(ListWorkersArgs::new()).await);
        assert_eq!(refused, format!("unavailable: {}", h.declared().listing_across_namespaces));
    }

    async fn lapsed_registrations_are_swept(h) {
        register(&h, "lapsed", 0).await;
        register(&h, "at the edge", 1).await;
        register(&h, "alive", 500).await;
        h.clock.set(T0 + 1 + TTL_MS);
        let swept = h.swept().await;
        tokio::time::timeout(PATIENCE, async {
            while events(&h, "lapsed").await.len() < 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("the sweep comes");
        assert_eq!(events(&h, "lapsed").await, ["registered 0".to_owned(), format!("ttl_swept {}", TTL_MS + 1)]);
        let left = listed(&h).await;
        let left: Vec<_> = left.iter().map(|info| info.worker_instance_id.as_str()).collect();
        assert_eq!(left, ["alive", "at the edge"]);
        swept.shutdown_prepare(PATIENCE).await.unwrap();
    }
}
