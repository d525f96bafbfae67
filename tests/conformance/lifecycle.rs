//! Opening, closing, and what a backend says about itself.

use std::time::Duration;

use ff_core::backend::{CapabilitySet, PrepareOutcome, TailVisibility};
use ff_core::contracts::StreamCursor;
use ff_core::state::PublicState;
use ff_core::types::{AttemptIndex, LaneId};

use crate::every_method::lane;
use crate::harness::{PATIENCE, Sweeps, on_every_database, payload, policy};

on_every_database! {
    async fn a_live_database_answers(h) {
        h.backend.ping().await.unwrap();
        assert_eq!(h.backend.prepare().await.unwrap(), PrepareOutcome::NoOp);
        assert_eq!(h.backend.backend_label(), h.declared().label);
    }

    async fn the_database_tells_its_own_time(h) {
        // The backend's clock stands still in the past; the database's does not.
        assert!(h.backend.server_time_ms().await.unwrap() > h.clock.now_ms() as u64);
    }

    async fn capabilities_name_the_family_and_what_works(h) {
        let reported = h.backend.capabilities();
        let identity = (reported.identity.family, reported.identity.rfc017_stage);
        assert_eq!(identity, (h.declared().label, h.declared().stage));
        let supports = reported.supports;
        for (name, supported) in [
            ("prepare", supports.prepare),
            ("read_execution_state", supports.read_execution_state),
            ("read_execution_info", supports.read_execution_info),
            ("get_execution_result", supports.get_execution_result),
            ("rotate_waitpoint_hmac_secret_all", supports.rotate_waitpoint_hmac_secret_all),
            ("seed_waitpoint_hmac_secret", supports.seed_waitpoint_hmac_secret),
            ("list_pending_waitpoints", supports.list_pending_waitpoints),
            ("stream_durable_summary", supports.stream_durable_summary),
            ("stream_best_effort_live", supports.stream_best_effort_live),
            ("issue_reclaim_grant", supports.issue_reclaim_grant),
            ("budget_admin", supports.budget_admin),
            ("quota_admin", supports.quota_admin),
            ("release_admission", supports.release_admission),
            ("read_quota_policy_limits", supports.read_quota_policy_limits),
            ("block_execution_for_admission", supports.block_execution_for_admission),
            ("read_budget_usage_and_limits", supports.read_budget_usage_and_limits),
            ("cancel_flow_header", supports.cancel_flow_header),
            ("cancel_flow_wait_timeout", supports.cancel_flow_wait_timeout),
            ("cancel_flow_wait_indefinite", supports.cancel_flow_wait_indefinite),
            ("ack_cancel_member", supports.ack_cancel_member),
            ("register_worker", supports.register_worker),
            ("heartbeat_worker", supports.heartbeat_worker),
            ("mark_worker_dead", supports.mark_worker_dead),
            ("list_expired_leases", supports.list_expired_leases),
            ("list_workers", supports.list_workers),
            ("cancel_execution", supports.cancel_execution),
            ("revoke_lease", supports.revoke_lease),
            ("change_priority", supports.change_priority),
            ("replay_execution", supports.replay_execution),
            ("subscribe_lease_history", supports.subscribe_lease_history),
            ("subscribe_completion", supports.subscribe_completion),
            ("subscribe_signal_delivery", supports.subscribe_signal_delivery),
        ] {
            assert!(supported, "{name}");
        }
        assert!(!supports.subscribe_instance_tags);
    }

    async fn shutdown_leaves_the_database_usable(h) {
        let id = h.create().await;
        for _ in 0..2 {
            h.backend.shutdown_prepare(Duration::from_secs(1)).await.unwrap();
        }
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Waiting));
        assert!(h.claim("worker-a").await.is_none(), "nothing is claimed any more where it was shut down");
        let policy = policy("worker-b");
        let claimed = h.another_handle().await.claim(&lane(), &CapabilitySet::default(), policy).await.unwrap();
        assert!(claimed.is_some(), "and elsewhere it is");
    }

    async fn shutdown_stops_the_sweeps(h) {
        let swept = h.swept().await;
        tokio::time::timeout(PATIENCE, swept.shutdown_prepare(PATIENCE)).await.expect("they stop").unwrap();
        swept.ping().await.unwrap();
    }

    async fn another_handle_sees_the_same_rows(h) {
        let other = h.another_handle().await;
        let id = h.create().await;
        assert_eq!(other.read_execution_state(&id).await.unwrap(), Some(PublicState::Waiting));
        let handle = other.claim(&LaneId::new("lane"), &Default::default(), policy("worker-b")).await.unwrap().unwrap();
        h.backend.complete(&handle, None).await.unwrap();
        assert_eq!(other.read_execution_state(&id).await.unwrap(), Some(PublicState::Completed));
        drop(other);
        h.backend.ping().await.unwrap();
    }

    async fn reopening_finds_the_rows_that_are_kept(h) {
        let place = h.another_place();
        let first = place.open(&h.clock, Sweeps::Off).await;
        let args = h.args();
        let id = args.execution_id.clone();
        first.create_execution(args).await.unwrap();
        let claimed = first.claim(&LaneId::new("lane"), &Default::default(), policy("worker-a")).await;
        let claimed = claimed.unwrap().expect("there is one");
        drop(first);
        let second = place.open(&h.clock, Sweeps::Off).await;
        if h.declared().keeps_rows {
            assert_eq!(second.read_execution_state(&id).await.unwrap(), Some(PublicState::Active));
            assert_eq!(payload(&claimed).execution_id, id);
            second.complete(&claimed, Some(b"later".to_vec())).await.unwrap();
            assert_eq!(second.get_execution_result(&id).await.unwrap().as_deref(), Some(&b"later"[..]));
        } else {
            assert_eq!(second.read_execution_state(&id).await.unwrap(), None);
        }
    }

    async fn writers_that_are_dropped_leave_every_connection_clean(h) {
        let (id, handle) = h.created_and_claimed().await;
        for polls in 0..24_u32 {
            let work = async {
                let frame = ff_core::backend::Frame::new(b"{}".to_vec(), ff_core::backend::FrameKind::Event)
                    .with_mode(ff_core::backend::StreamMode::durable_summary());
                h.backend.append_frame(&handle, frame).await.unwrap();
                h.backend.renew(&handle).await.unwrap();
                h.backend.progress(&handle, Some(1), None).await.unwrap();
            };
            tokio::pin!(work);
            for _ in 0..polls {
                tokio::select! {
                    biased;
                    () = &mut work => break,
                    () = tokio::task::yield_now() => {}
                }
            }
        }
        let after = async {
            for _ in 0..12 {
                h.backend.renew(&handle).await.unwrap();
                h.backend.read_execution_state(&id).await.unwrap();
            }
            let start = StreamCursor::At("0".to_owned());
            let tail = h.backend.tail_stream(&id, AttemptIndex::new(0), start, 0, 999, TailVisibility::All);
            let frames = tail.await.unwrap().frames.len() as u64;
            let summary = h.backend.read_summary(&id, AttemptIndex::new(0)).await.unwrap();
            assert_eq!(summary.map_or(0, |summary| summary.version), frames, "every frame was merged, or is not there");
            h.backend.complete(&handle, None).await.unwrap();
        };
        tokio::time::timeout(PATIENCE, after).await.expect("work goes on");
    }
}

/// Says to the process that the test below starts that it is the inner one.
const INNER: &str = "FF_CONFORMANCE_INNER";

#[tokio::test]
async fn the_embedded_backend_opens_only_in_development() {
    use ff_backend_sql::SqliteBackend;
    if std::env::var_os(INNER).is_some() {
        let refused = SqliteBackend::new(":memory:").await.expect_err("it is not development").to_string();
        assert!(refused.contains("SqliteBackend requires FF_DEV_MODE=1"), "{refused}");
        return;
    }
    for mode in [None, Some("0"), Some("true"), Some("")] {
        let mut inner = std::process::Command::new(std::env::current_exe().expect("this program"));
        inner.args(["--exact", "lifecycle::the_embedded_backend_opens_only_in_development", "--nocapture"]);
        inner.env(INNER, "1").env_remove("FF_DEV_MODE");
        if let Some(mode) = mode {
            inner.env("FF_DEV_MODE", mode);
        }
        let output = inner.output().expect("the inner run");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{mode:?}: {said}");
    }
}
