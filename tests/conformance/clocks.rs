//! Processes whose hosts' clocks are apart, by seconds to days and in either direction: none takes the others' work, and
//! none loses its own. On a server its clock is everybody's; processes on a file share their host's.

use ff_backend_sql::FullScannerConfig;
use ff_backend_sql::testing::Clock;
use ff_core::backend::Handle;
use ff_core::contracts::{ClaimExecutionResult, IssueReclaimGrantOutcome, ListExpiredLeasesArgs, TimeoutBehavior};
use ff_core::engine_backend::ExpirePhase;
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, TimestampMs};

use crate::every_method::{in_space, instance, lane, registration};
use crate::harness::{Harness, Kind, payload, run};
use crate::sessions::url;
use crate::suspend::{partition_of, suspended_with};
use crate::{reclaim, schedule, typed};

const HOUR_MS: i64 = 60 * 60 * 1_000;

/// How far one host's clock is ahead of the others'. Leases last 30 s.
const AHEAD_MS: [i64; 8] = [-400 * 24 * HOUR_MS, -HOUR_MS, -45_000, -2_000, 2_000, 45_000, HOUR_MS, 400 * 24 * HOUR_MS];

/// All sweeps that look at times.
const SWEEPS: [&str; 13] = [
    "attempt_timeout",
    "budget_reset",
    "delayed_promoter",
    "execution_deadline",
    "grant_expiry",
    "growth",
    "lease_expiry",
    "pending_wp_expiry",
    "quota_reconciler",
    "retention_trimmer",
    "suspension_timeout",
    "unblock",
    "worker_registry_ttl_sweep",
];

/// A process on a host whose clock is right, and one on a host whose clock is not.
struct Hosts {
    right: Harness,
    wrong: Harness,
    ahead_ms: i64,
}

impl Hosts {
    async fn new(h: &Harness, ahead_ms: i64) -> Self {
        let right = Harness::open_at(url(h), Clock::of_server()).await;
        let wrong = Harness::open_at(url(h), Clock::of_server_from(ahead_ms)).await;
        Self { right, wrong, ahead_ms }
    }

    /// What a program on the host with the wrong clock takes for the present time.
    fn wrong_now(&self) -> TimestampMs {
        TimestampMs::from_millis(Clock::system().now_ms() + self.ahead_ms)
    }
}

/// Whatever a process does to work that it takes for abandoned.
async fn take_what_seems_over(on: &Harness, id: &ExecutionId) {
    for sweep in SWEEPS {
        on.sweep_with(sweep, &FullScannerConfig::default()).await;
    }
    let partition = || partition_of(id);
    on.backend.mark_lease_expired_if_due(partition(), id).await.expect("it is answered");
    let now = TimestampMs::from_millis(on.clock.now_ms());
    on.backend.expire_execution(partition(), id, ExpirePhase::AttemptTimeout, now).await.expect("it is answered");
    assert!(on.claim("thief").await.is_none(), "nothing is to be claimed");
}

async fn state(h: &Harness, id: &ExecutionId) -> Option<PublicState> {
    h.backend.read_execution_state(id).await.expect("it is read")
}

/// The holder's lease outlives whatever the other process does.
async fn holds(holder: &Harness, other: &Harness, id: &ExecutionId, handle: &Handle) {
    take_what_seems_over(other, id).await;
    let asked = other.backend.issue_reclaim_grant(reclaim::asking(id)).await;
    assert!(!matches!(asked, Ok(IssueReclaimGrantOutcome::Granted(_))), "{asked:?}");
    let now = TimestampMs::from_millis(other.clock.now_ms());
    let expired = other.backend.list_expired_leases(ListExpiredLeasesArgs::new(now)).await.expect("it is read");
    assert!(expired.entries.is_empty(), "{expired:?}");
    holder.backend.renew(handle).await.expect("the lease is held");
    holder.backend.progress(handle, Some(50), None).await.expect("the lease is held");
    holder.backend.complete(handle, None).await.expect("the lease is held");
    assert_eq!(state(other, id).await, Some(PublicState::Completed), "it is kept, too");
    take_what_seems_over(other, id).await;
    assert_eq!(state(other, id).await, Some(PublicState::Completed), "it is kept, too");
}

#[tokio::test]
async fn a_lease_is_held_whatever_another_hosts_clock_shows() {
    run(Kind::Postgres, |h| async move {
        for ahead_ms in AHEAD_MS {
            let hosts = Hosts::new(&h, ahead_ms).await;
            for (holder, other) in [(&hosts.right, &hosts.wrong), (&hosts.wrong, &hosts.right)] {
                let (id, handle) = holder.created_and_claimed().await;
                assert_eq!(payload(&handle).execution_id, id);
                holds(holder, other, &id, &handle).await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_typed_claim_is_held_whatever_its_hosts_clock_shows() {
    run(Kind::Postgres, |h| async move {
        for ahead_ms in AHEAD_MS {
            let hosts = Hosts::new(&h, ahead_ms).await;
            let id = hosts.right.create().await;
            let mut asked = schedule::asking(&hosts.wrong, &id, &[]);
            asked.now = hosts.wrong_now();
            hosts.wrong.backend.issue_claim_grant(asked).await.expect("a grant");
            hosts.right.sweep("grant_expiry").await;
            let mut using = schedule::claiming(&hosts.wrong, &id);
            using.now = hosts.wrong_now();
            let claimed = hosts.wrong.backend.claim_execution(using).await.expect("the grant is good");
            let ClaimExecutionResult::Claimed(claimed) = claimed else { panic!("{claimed:?}") };
            take_what_seems_over(&hosts.right, &id).await;
            let mut ending = typed::completing(&hosts.wrong, &claimed);
            ending.now = hosts.wrong_now();
            let ended = hosts.wrong.backend.complete_execution(ending).await;
            ended.unwrap_or_else(|error| panic!("{ahead_ms}: {error}"));
            assert_eq!(state(&hosts.right, &id).await, Some(PublicState::Completed));
        }
    })
    .await;
}

#[tokio::test]
async fn what_waits_for_a_time_waits_whatever_a_hosts_clock_shows() {
    run(Kind::Postgres, |h| async move {
        for ahead_ms in AHEAD_MS {
            let hosts = Hosts::new(&h, ahead_ms).await;
            let (right, wrong) = (&hosts.right, &hosts.wrong);
            let until = TimestampMs::from_millis(right.clock.now_ms() + 10 * 60 * 1_000);
            let delayed = right.create_with(|args| args.delay_until = Some(until)).await;
            let mut bounded = right.args();
            (bounded.delay_until, bounded.execution_deadline_at) = (Some(until), Some(until));
            let ending = bounded.execution_id.clone();
            right.backend.create_execution(bounded).await.expect("it is created");
            let suspended = suspended_with(right, |args| args.with_timeout(until, TimeoutBehavior::Fail)).await;
            for id in [&delayed, &ending, &suspended.id] {
                take_what_seems_over(wrong, id).await;
                let now = hosts.wrong_now();
                wrong.backend.promote_delayed(partition_of(id), &lane(), id, now).await.expect("it is answered");
                let deadline = ExpirePhase::ExecutionDeadline;
                wrong.backend.expire_execution(partition_of(id), id, deadline, now).await.expect("it is answered");
                wrong.backend.expire_suspension(partition_of(id), id, now).await.expect("it is answered");
            }
            assert!(wrong.claim("thief").await.is_none(), "{ahead_ms}: it was let go before its time");
            assert_eq!(state(wrong, &delayed).await, Some(PublicState::Delayed), "{ahead_ms}");
            assert_eq!(state(wrong, &ending).await, Some(PublicState::Delayed), "{ahead_ms}");
            assert_eq!(state(wrong, &suspended.id).await, Some(PublicState::Suspended), "{ahead_ms}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_worker_stays_registered_whatever_its_hosts_clock_shows() {
    run(Kind::Postgres, |h| async move {
        for ahead_ms in AHEAD_MS {
            let hosts = Hosts::new(&h, ahead_ms).await;
            let right_now = TimestampMs::from_millis(Clock::system().now_ms());
            for (registered, other, now) in
                [(&hosts.wrong, &hosts.right, hosts.wrong_now()), (&hosts.right, &hosts.wrong, right_now)]
            {
                let mut args = registration(registered);
                args.now = now;
                registered.backend.register_worker(args).await.expect("it is registered");
                other.sweep("worker_registry_ttl_sweep").await;
                let listed = other.backend.list_workers(in_space()).await.expect("it is listed").entries;
                assert!(listed.iter().any(|worker| worker.worker_instance_id == instance()), "{ahead_ms}");
            }
        }
    })
    .await;
}
