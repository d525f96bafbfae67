//! Work that kills its worker, or fails whenever it runs, is not handed out for ever.

use ff_core::backend::{FailOutcome, FailureClass, FailureReason};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::state::PublicState;
use ff_core::types::ExecutionId;

use crate::harness::{Harness as Opened, LEASE_MS, Tables, on_every_database};
use crate::operator;

/// How often it may crash, and fail without a policy, unless the setting says otherwise.
const LIMIT: u32 = 25;

/// A worker takes what waits and is never heard of again.
async fn crash(h: &Opened) {
    h.claim("worker-a").await.expect("it is handed out");
    h.pass_ms(LEASE_MS + 1);
    assert_eq!(h.sweep("lease_expiry").await, (1, 0));
}

fn limit_crashes(h: &Opened, times: u32) {
    match h.tables() {
        Tables::Sqlite(backend, _) => backend.set_crash_limit(times),
        Tables::Postgres(backend) => backend.set_crash_limit(times),
    }
}

async fn detail(h: &Opened, id: &ExecutionId) -> Option<String> {
    h.backend.describe_execution(id).await.unwrap().expect("it is there").blocking_detail
}

async fn fail(h: &Opened) -> FailOutcome {
    let handle = h.claim("worker-a").await.expect("it is handed out");
    h.backend.fail(&handle, FailureReason::new("no luck"), FailureClass::Transient).await.unwrap()
}

on_every_database! {
    async fn what_crashes_is_counted_and_ends_as_failed_in_the_end(h) {
        let id = h.create().await;
        crash(&h).await;
        assert_eq!(detail(&h, &id).await.as_deref(), Some("1 worker that ran it crashed"));
        for _ in 2..LIMIT {
            crash(&h).await;
        }
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Waiting));
        assert_eq!(h.backend.read_execution_info(&id).await.unwrap().unwrap().blocking_detail, "24 workers that ran it crashed");
        crash(&h).await;
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Failed));
        assert_eq!(h.document(&id).await["last_failure_message"], "crash_limit");
        assert_eq!(h.attempts(&id, "outcome").await, ["failed"]);
        assert_eq!(h.completions(&id).await, ["failed space instance-1"]);
        assert_eq!(h.lease_events(&id).await.last().unwrap(), "expired");
        assert_eq!(detail(&h, &id).await.as_deref(), Some("25 workers that ran it crashed"));
        assert!(h.claim("worker-b").await.is_none());
        assert_eq!(h.sweep("index_reconciler").await, (0, 0));
    }

    async fn a_replay_begins_to_count_anew(h) {
        limit_crashes(&h, 2);
        let id = h.create().await;
        crash(&h).await;
        crash(&h).await;
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Failed));
        h.backend.replay_execution(operator::replaying(&id)).await.unwrap();
        assert_eq!(detail(&h, &id).await, None);
        crash(&h).await;
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Waiting));
    }

    async fn a_limit_of_zero_is_none(h) {
        limit_crashes(&h, 0);
        let id = h.create().await;
        for _ in 0..=LIMIT {
            crash(&h).await;
        }
        for _ in 0..=LIMIT {
            assert!(matches!(fail(&h).await, FailOutcome::RetryScheduled { .. }));
        }
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Waiting));
        let partition = Partition { family: PartitionFamily::Execution, index: id.partition() };
        let fields = h.backend.read_exec_core_fields(partition, &id, &["crash_count", "retry_count"]).await.unwrap();
        assert_eq!(fields["crash_count"].as_deref(), Some("26"));
        assert_eq!(fields["retry_count"].as_deref(), Some("26"));
    }

    async fn a_failure_is_tried_again_without_a_policy_until_the_limit(h) {
        let id = h.create().await;
        for _ in 1..LIMIT {
            assert!(matches!(fail(&h).await, FailOutcome::RetryScheduled { .. }));
        }
        assert_eq!(fail(&h).await, FailOutcome::TerminalFailed);
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Failed));
        assert_eq!(h.document(&id).await["last_failure_message"], "no luck");
    }
}
