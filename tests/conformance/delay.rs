//! Delayed work of many lanes: none waits for another's.

use std::collections::BTreeSet;
use std::time::Duration;

use ff_backend_sql::FullScannerConfig;
use ff_core::contracts::{ClaimForWorkerArgs, ClaimForWorkerOutcome, IssueGrantAndClaimArgs, ScanEligibleArgs};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{ExecutionId, LaneId, TimestampMs, WorkerId, WorkerInstanceId};

use crate::harness::{Harness as Opened, T0, on_every_database, payload};
use crate::trim::random;

/// More than any promotion takes at once.
const FLOOD: i64 = 1_000;

/// Work of another lane that is due, and one execution of the lane `lane` that became due after all of it.
async fn behind_a_flood(h: &Opened) -> ExecutionId {
    h.alter(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {FLOOD})
         INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                eligibility_state, public_state, attempt_state, created_at_ms, deadline_at_ms, raw_fields)
         SELECT 1, {}, 'busy', 'submitted', 'unowned', 'not_eligible_until_time', 'delayed', 'pending_first_attempt',
                {T0}, {T0}, '{{}}' FROM n",
        random(h)
    ))
    .await;
    let id = h.create_with(|args| args.delay_until = Some(TimestampMs::from_millis(T0 + 1))).await;
    h.pass_ms(1_000);
    id
}

async fn delayed(h: &Opened) -> i64 {
    h.number("SELECT count(*) FROM ff_exec_core WHERE eligibility_state = 'not_eligible_until_time'").await
}

on_every_database! {
    async fn a_claim_finds_what_is_due_behind_the_flood_of_another_lane(h) {
        let id = behind_a_flood(&h).await;
        let handle = h.claim("worker-a").await.expect("it is due");
        assert_eq!(payload(&handle).execution_id, id);
    }

    async fn a_scheduler_finds_it_too(h) {
        let id = behind_a_flood(&h).await;
        let args = ClaimForWorkerArgs::new(
            LaneId::new("lane"),
            WorkerId::new("worker"),
            WorkerInstanceId::new("instance"),
            BTreeSet::new(),
            60_000,
        );
        match h.backend.claim_for_worker(args).await.expect("it answers") {
            ClaimForWorkerOutcome::Granted(grant) => assert_eq!(grant.execution_id, id),
            other => panic!("{other:?}"),
        }
    }

    async fn a_scan_lists_it(h) {
        let id = behind_a_flood(&h).await;
        let partition = Partition { family: PartitionFamily::Execution, index: id.partition() };
        let args = ScanEligibleArgs::new(LaneId::new("lane"), partition, 10);
        assert_eq!(h.backend.scan_eligible_executions(args).await.expect("it answers"), [id]);
    }

    async fn an_operator_gets_it(h) {
        let id = behind_a_flood(&h).await;
        let args = IssueGrantAndClaimArgs::new(id.clone(), LaneId::new("lane"), 30_000);
        h.backend.issue_grant_and_claim(args).await.expect("it is due");
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
    }

    async fn a_run_of_the_sweep_takes_from_every_lane_and_goes_on(h) {
        let id = behind_a_flood(&h).await;
        let mut config = FullScannerConfig::default();
        config.sweep_time_limit = Duration::ZERO;
        let (first, failed) = h.sweep_with("delayed_promoter", &config).await;
        assert_eq!(failed, 0);
        assert_eq!(h.core(&id, "eligibility_state").await, "eligible_now", "one page takes something of both lanes");
        assert!(i64::from(first) < FLOOD, "{first} are more than a page");
        let (rest, _) = h.sweep("delayed_promoter").await;
        assert_eq!(i64::from(first + rest), FLOOD + 1);
        assert_eq!(delayed(&h).await, 0);
    }
}
