//! Claims whose caller goes away: what they took can be taken again at once. Time stands still here, so no lease runs
//! out by itself.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::{Duration, Instant};

use ff_core::backend::CapabilitySet;
use ff_core::contracts::{ClaimForWorkerOutcome, IssueGrantAndClaimArgs, ReclaimExecutionOutcome, ScanEligibleArgs};
use ff_core::types::{ExecutionId, LaneId};

use crate::every_method::{claimed, created, granted, granted_again, lane, resumable};
use crate::harness::{Harness as Opened, PATIENCE, on_every_database, payload, policy};
use crate::suspend::partition_of;
use crate::{lease, operator, reclaim, resume, schedule};

/// How many moments a claim is dropped at.
const MOMENTS: u32 = 24;

/// Polls a future until a moment, at moment 0 once, and drops it; its answer, when that came before.
async fn until<F: Future>(moment: u32, future: F) -> Option<F::Output> {
    let passing = async {
        if moment > 0 && moment.is_multiple_of(4) {
            tokio::time::sleep(Duration::from_millis(u64::from(moment / 4))).await;
        } else {
            for _ in 0..moment {
                tokio::task::yield_now().await;
            }
        }
    };
    tokio::select! {
        biased;
        answer = future => Some(answer),
        () = passing => None,
    }
}

/// Asks until there is an answer.
macro_rules! soon {
    ($what:literal, $ask:expr) => {{
        let begin = Instant::now();
        loop {
            if let Some(answer) = $ask {
                break answer;
            }
            assert!(begin.elapsed() < PATIENCE, "{} is not there again", $what);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }};
}

/// Waits until every lease that was taken has been taken back.
async fn balanced(h: &Opened, id: &ExecutionId, revoked_before: usize) {
    soon!("the lease", {
        let events = h.lease_events(id).await;
        let revoked = events.iter().filter(|event| *event == "revoked").count();
        (revoked > revoked_before && events.last().is_some_and(|event| event == "revoked")).then_some(())
    });
}

/// An execution whose worker lost its lease in the middle.
async fn interrupted(h: &Opened) -> ExecutionId {
    let (id, _) = claimed(h).await;
    h.backend.revoke_lease(operator::revoking(&id)).await.expect("it is revoked");
    id
}

async fn phase(h: &Opened, id: &ExecutionId) -> [String; 5] {
    [
        h.core(id, "lifecycle_phase").await,
        h.core(id, "ownership_state").await,
        h.core(id, "eligibility_state").await,
        h.core(id, "public_state").await,
        h.core(id, "attempt_state").await,
    ]
}

/// Drops a claim at many moments. Each time `scene` makes what it takes, and `again` finds it there again.
macro_rules! dropped_at_every_moment {
    ($h:ident, $scene:expr, |$s:ident| $claim:expr, |$t:ident| $again:expr) => {
        let mut dropped = 0;
        for moment in 0..MOMENTS {
            $h.alter("UPDATE ff_exec_core SET lane_id = 'aside' WHERE lane_id = 'lane'").await;
            let $s = $scene;
            if until(moment, $claim).await.is_none() {
                dropped += 1;
                let $t = &$s;
                $again;
            }
        }
        // At moment 0 nobody can have answered yet; how far later ones get is the server's and the machine's affair.
        assert!(dropped > 0, "no claim was dropped");
    };
}

on_every_database! {
    async fn a_claim(h) {
        let (lane, nothing) = (lane(), CapabilitySet::default());
        dropped_at_every_moment!(h, created(&h).await, |_s| h.backend.claim(&lane, &nothing, policy("w")), |id| {
            balanced(&h, id, 0).await;
            assert_eq!(phase(&h, id).await, ["runnable", "unowned", "eligible_now", "waiting", "pending_first_attempt"]);
            assert_eq!(h.backend.read_total_attempt_count(id).await.unwrap().0, 0);
            let offered = ScanEligibleArgs::new(lane.clone(), partition_of(id), 10);
            assert_eq!(h.backend.scan_eligible_executions(offered).await.unwrap(), std::slice::from_ref(id));
            // A second caller goes away as well, and a third one stays.
            assert!(until(0, h.backend.claim(&lane, &nothing, policy("w"))).await.is_none());
            balanced(&h, id, 1).await;
            assert_eq!(h.core(id, "attempt_state").await, "pending_first_attempt");
            let held = payload(&h.claim("worker-b").await.expect("it is claimed"));
            assert_eq!((held.execution_id, held.attempt_index.0, held.lease_epoch.0), (id.clone(), 0, 5));
            assert_eq!(h.backend.read_total_attempt_count(id).await.unwrap().0, 1);
        });
    }

    async fn a_claim_of_an_attempt_that_ran_before(h) {
        let (lane, nothing) = (lane(), CapabilitySet::default());
        dropped_at_every_moment!(h, interrupted(&h).await, |_s| h.backend.claim(&lane, &nothing, policy("w")), |id| {
            balanced(&h, id, 1).await;
            assert_eq!(phase(&h, id).await, ["runnable", "unowned", "eligible_now", "waiting", "attempt_interrupted"]);
            assert_eq!(h.backend.read_total_attempt_count(id).await.unwrap().0, 1);
            assert_eq!(payload(&h.claim("worker-b").await.expect("it is claimed")).execution_id, *id);
        });
    }

    async fn a_claim_from_a_resume_grant(h) {
        dropped_at_every_moment!(h, resumable(&h).await, |s| h.backend.claim_from_resume_grant(lease::token(&s)), |id| {
            balanced(&h, id, 1).await;
            h.backend.claim_resumed_execution(resume::claiming(id)).await.expect("it can be resumed");
        });
    }

    async fn a_claim_of_a_resumed_execution(h) {
        dropped_at_every_moment!(h, resumable(&h).await, |s| h.backend.claim_resumed_execution(resume::claiming(&s)), |id| {
            balanced(&h, id, 1).await;
            assert_eq!(phase(&h, id).await, ["runnable", "released", "eligible_now", "resumable", "attempt_interrupted"]);
            h.backend.claim_from_resume_grant(lease::token(id)).await.unwrap().expect("it can be resumed");
        });
    }

    async fn a_typed_claim(h) {
        dropped_at_every_moment!(h, granted(&h).await, |s| h.backend.claim_execution(schedule::claiming(&h, &s)), |id| {
            balanced(&h, id, 0).await;
            h.backend.issue_claim_grant(schedule::asking(&h, id, &[])).await.expect("it is granted again");
            h.backend.claim_execution(schedule::claiming(&h, id)).await.expect("it is claimed");
        });
    }

    async fn an_operators_claim(h) {
        let asking = |id: &ExecutionId| IssueGrantAndClaimArgs::new(id.clone(), lane(), 30_000);
        dropped_at_every_moment!(h, created(&h).await, |s| h.backend.issue_grant_and_claim(asking(&s)), |id| {
            balanced(&h, id, 0).await;
            let taken = h.backend.issue_grant_and_claim(asking(id)).await.expect("it is claimed");
            assert_eq!((taken.attempt_index.0, taken.lease_epoch.0), (0, 3));
        });
    }

    async fn a_reclaim(h) {
        dropped_at_every_moment!(h, granted_again(&h).await, |s| h.backend.reclaim_execution(reclaim::using(&s)), |id| {
            balanced(&h, id, 0).await;
            assert_eq!(h.core(id, "lease_reclaim_count").await, "0");
            reclaim::granted(&h, id).await;
            let again = h.backend.reclaim_execution(reclaim::using(id)).await.unwrap();
            assert!(matches!(again, ReclaimExecutionOutcome::Claimed(_)), "{again:?}");
        });
    }

    async fn a_claim_for_a_worker(h) {
        crate::suspend::seed(&h).await;
        dropped_at_every_moment!(h, created(&h).await, |_s| h.backend.claim_for_worker(schedule::wanting(&[])), |id| {
            let granted = soon!("the execution", {
                match h.backend.claim_for_worker(schedule::wanting(&[])).await.unwrap() {
                    ClaimForWorkerOutcome::Granted(grant) => Some(grant),
                    _ => None,
                }
            });
            assert_eq!(granted.execution_id, *id);
        });
    }

    async fn nothing_is_lost_or_doubled(h) {
        const EXECUTIONS: usize = 20;
        for _ in 0..EXECUTIONS {
            h.create().await;
        }
        let droppers: Vec<_> = (0..3_u32).map(|worker| {
            let h = std::sync::Arc::clone(&h);
            tokio::spawn(async move {
                let (lane, nothing) = (LaneId::new("lane"), CapabilitySet::default());
                let mut kept = Vec::new();
                for moment in 0..MOMENTS {
                    if let Some(handle) = until((moment * 7 + worker) % MOMENTS, h.backend.claim(&lane, &nothing, policy("w"))).await {
                        kept.extend(handle.unwrap().map(|handle| payload(&handle).execution_id.to_string()));
                    }
                }
                kept
            })
        }).collect();
        let mut taken = Vec::new();
        for dropper in droppers {
            taken.extend(dropper.await.unwrap());
        }
        while taken.len() < EXECUTIONS {
            let handle = soon!("an execution", h.claim("last").await);
            taken.push(payload(&handle).execution_id.to_string());
        }
        assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), EXECUTIONS, "{taken:?}");
        assert!(h.claim("last").await.is_none());
        assert_eq!(h.number("SELECT count(*) FROM ff_attempt").await, EXECUTIONS as i64);
        let count = |kind: &str| format!("SELECT count(*) FROM ff_lease_event WHERE event_type = '{kind}'");
        let (acquired, revoked) = (h.number(&count("acquired")).await, h.number(&count("revoked")).await);
        assert_eq!(acquired - revoked, EXECUTIONS as i64);
    }
}
