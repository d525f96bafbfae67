//! Following completions: when they happen, when a payload tells of them, and when somebody finds them forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ff_backend_sql::testing::Step;
use ff_backend_sql::{FullScannerConfig, PostgresBackend, SqliteBackend};
use ff_core::backend::ScannerFilter;
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::{ContentionKind, EngineError};

use crate::dependency::{
    cascade, claim, completion, counts, downstream, edge, ended_elsewhere, group, member, payload, quorum, succeed,
};
use crate::flow::created;
use crate::harness::{PATIENCE, T0, on_every_database};
use crate::sessions;
use crate::sibling::holding;

/// Hops that fail while the switch is on.
#[derive(Default)]
struct Broken {
    on: AtomicBool,
    failed: AtomicU32,
}

impl Broken {
    fn mend(&self) {
        self.on.store(false, Ordering::SeqCst);
    }

    /// Waits until that many hops have failed, those of a follower in the background among them.
    async fn failed(&self, times: u32) {
        let started = Instant::now();
        while self.failed.load(Ordering::SeqCst) < times {
            assert!(started.elapsed() < PATIENCE, "a hop fails");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Makes the hops of a backend fail from the given one on, counted from 0.
fn fail_hops(backend: &Arc<dyn EngineBackend>, from: u32) -> Arc<Broken> {
    let (broken, hops) = (Arc::new(Broken { on: AtomicBool::new(true), ..Broken::default() }), AtomicU32::new(0));
    let switch = Arc::clone(&broken);
    let hook = Box::new(move |step: Step, name: &'static str| {
        let is_hop = step == Step::Run && name == "dependency_hop";
        let fails = is_hop && hops.fetch_add(1, Ordering::SeqCst) >= from && switch.on.load(Ordering::SeqCst);
        if fails {
            switch.failed.fetch_add(1, Ordering::SeqCst);
        }
        fails.then_some(sqlx::Error::WorkerCrashed)
    });
    if let Some(backend) = backend.as_any().downcast_ref::<SqliteBackend>() {
        backend.fail_for_test(hook);
    } else if let Some(backend) = backend.as_any().downcast_ref::<PostgresBackend>() {
        backend.fail_for_test(hook);
    }
    broken
}

on_every_database! {
    async fn a_completion_is_followed_once_and_only_if_there_is_one(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, None, 2).await;
        assert_eq!(cascade(&h, &ups[0], 5).await, 0, "there is none yet");
        ended_elsewhere(&h, &flow, &ups[0], "success", 5).await;
        assert_eq!(cascade(&h, &ups[0], 4).await, 0, "not at that time");
        assert_eq!(cascade(&h, &ups[0], 5).await, 1);
        assert_eq!(cascade(&h, &ups[0], 5).await, 0, "again");
        assert_eq!(counts(&h, &down).await, "1 0 0 1");
    }

    async fn of_two_completions_at_one_time_the_one_is_followed_that_nobody_followed(h) {
        let flow = created(&h).await;
        let (_, ups) = group(&h, &flow, None, 1).await;
        ended_elsewhere(&h, &flow, &ups[0], "success", 5).await;
        completion(&h, &flow, &ups[0], "success", 5).await;
        assert_eq!(cascade(&h, &ups[0], 5).await, 1);
        assert_eq!(cascade(&h, &ups[0], 5).await, 1);
        assert_eq!(cascade(&h, &ups[0], 5).await, 0);
    }

    async fn two_completions_of_one_execution_count_once(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, quorum(2), 3).await;
        ended_elsewhere(&h, &flow, &ups[0], "success", 9).await;
        completion(&h, &flow, &ups[0], "cancelled", 5).await;
        assert_eq!((cascade(&h, &ups[0], 9).await, cascade(&h, &ups[0], 5).await), (1, 1));
        assert_eq!(counts(&h, &down).await, "1 0 0 2");
    }

    async fn an_execution_that_goes_on_resolves_nothing(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, None, 1).await;
        completion(&h, &flow, &ups[0], "resumable", 5).await;
        assert_eq!(cascade(&h, &ups[0], 5).await, 0);
        assert_eq!(counts(&h, &down).await, "0 0 0 1");
        assert_eq!(h.number("SELECT count(*) FROM ff_completion_event WHERE dispatched_at_ms IS NULL").await, 0);
    }

    async fn a_process_that_dies_between_hops_loses_nothing(h) {
        let flow = created(&h).await;
        let up = member(&h, &flow).await;
        let mut children = Vec::new();
        for _ in 0..4 {
            let child = member(&h, &flow).await;
            edge(&h, &flow, &up, &child).await;
            children.push(child);
        }
        let broken = fail_hops(&h.backend, 2);
        ended_elsewhere(&h, &flow, &up, "success", 20_000).await;
        let failed = h.backend.cascade_completion(&payload(&h, &up, 20_000)).await;
        assert!(matches!(failed, Err(EngineError::Transport { .. })), "{failed:?}");
        let released = "SELECT count(*) FROM ff_exec_core WHERE blocking_reason = 'waiting_for_worker'";
        assert_eq!(h.number(released).await, 2);
        assert_eq!(h.sweep("dependency").await, (0, 1));
        broken.mend();
        assert_eq!(h.sweep("dependency").await, (1, 0));
        assert_eq!(h.number(released).await, 4);
        for child in &children {
            assert_eq!(counts(&h, child).await, "1 0 0 0");
        }
        assert_eq!(h.sweep("dependency").await, (0, 0));
    }

    /// Only where rows have locks.
    async fn a_hop_that_finds_its_group_locked_gives_up_and_the_completion_stays_open(h) {
        // A node of a cluster has the time limits of its database, whatever a URL asks of the coordinator.
        if h.declared().label == "sqlite" || h.is_spread() {
            return;
        }
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, None, 1).await;
        ended_elsewhere(&h, &flow, &ups[0], "success", 5).await;
        let hasty = sessions::single(&sessions::with_options(&sessions::url(&h), &[("lock_timeout", "20")])).await;
        let holder = holding(&h, "SELECT 1 FROM ff_edge_group FOR UPDATE").await;
        let refused = hasty.cascade_completion(&payload(&h, &ups[0], 5)).await.unwrap_err();
        assert!(matches!(refused, EngineError::Contention(ContentionKind::RetryExhausted)), "{refused}");
        holder.await.unwrap();
        assert_eq!(cascade(&h, &ups[0], 5).await, 1);
        assert_eq!(counts(&h, &down).await, "1 0 0 0");
    }

    async fn a_completion_that_is_not_followed_at_once_is_followed_by_the_sweep(h) {
        let flow = created(&h).await;
        let (down, ups) = group(&h, &flow, None, 1).await;
        let broken = fail_hops(&h.backend, 0);
        succeed(&h, &ups[0]).await;
        broken.failed(1).await;
        h.alter(&format!("UPDATE ff_completion_event SET committed_at_ms = {}", T0 - 15_001)).await;
        assert_eq!(h.sweep("dependency").await, (0, 1));
        assert_eq!(counts(&h, &down).await, "0 0 0 1");
        broken.mend();
        assert_eq!(h.sweep("dependency").await, (1, 0));
        assert_eq!(counts(&h, &down).await, "1 0 0 0");
        assert!(claim(&h, &down).await.is_some());
    }

    async fn the_sweep_takes_what_is_older_than_its_threshold_and_passes_its_filter(h) {
        let flow = created(&h).await;
        let (_, ups) = group(&h, &flow, None, 5).await;
        h.backend.set_execution_tag(&ups[4], "team.name", "blue").await.unwrap();
        for (up, age_ms) in ups.iter().zip([14_999, 15_001, 15_002, 15_003, 15_004]) {
            ended_elsewhere(&h, &flow, up, "success", age_ms).await;
        }
        h.alter(&format!("UPDATE ff_completion_event SET namespace = NULL WHERE {}", h.of(&ups[1]))).await;
        h.alter(&format!("UPDATE ff_completion_event SET instance_tag = 'instance-2' WHERE {}", h.of(&ups[2]))).await;
        let filtered = |filter: ScannerFilter| {
            let mut config = FullScannerConfig::off();
            config.scanner_filter = filter;
            let h = Arc::clone(&h);
            async move { h.sweep_with("dependency", &config).await }
        };
        let open = "SELECT count(*) FROM ff_completion_event WHERE dispatched_at_ms IS NULL";
        assert_eq!(filtered(ScannerFilter::new().with_namespace("elsewhere")).await, (0, 0));
        let tagged = ScannerFilter::new().with_namespace("space").with_instance_tag("team.name", "blue");
        assert_eq!(filtered(tagged).await, (1, 0));
        let tagged = ScannerFilter::new().with_instance_tag("cairn.instance_id", "instance-2");
        assert_eq!(filtered(tagged).await, (1, 0));
        assert_eq!(filtered(ScannerFilter::new().with_namespace("space")).await, (1, 0));
        assert_eq!(filtered(ScannerFilter::NOOP).await, (1, 0));
        assert_eq!(h.number(open).await, 1, "the young one");
        assert_eq!(filtered(ScannerFilter::NOOP).await, (0, 0));
    }

    async fn the_sweep_never_looks_at_executions_outside_a_flow(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        h.alter(&format!("UPDATE ff_completion_event SET committed_at_ms = {}", T0 - 20_000)).await;
        assert_eq!(h.sweep("dependency").await, (0, 0));
        assert_eq!(h.completions(&id).await.len(), 1);
    }

    async fn a_damaged_edge_is_counted_as_an_error_and_keeps_nobody_else_waiting(h) {
        let flow = created(&h).await;
        let (first, ups) = group(&h, &flow, None, 1).await;
        let (second, more) = group(&h, &flow, None, 1).await;
        h.alter(&format!("UPDATE ff_edge_group SET success_count = 2147483647 WHERE {}", downstream(&h, &first))).await;
        ended_elsewhere(&h, &flow, &ups[0], "success", 20_001).await;
        ended_elsewhere(&h, &flow, &more[0], "success", 20_000).await;
        assert_eq!(h.sweep("dependency").await, (1, 1));
        assert_eq!(counts(&h, &second).await, "1 0 0 0");
    }
}
