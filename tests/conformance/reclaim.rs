//! Giving the execution of a worker that is gone to another one.

use std::collections::BTreeSet;

use ff_core::backend::HandleKind;
use ff_core::contracts::{
    IssueReclaimGrantArgs, IssueReclaimGrantOutcome, ReclaimExecutionArgs, ReclaimExecutionOutcome, ReclaimGrant,
    RevokeLeaseResult,
};
use ff_core::engine_error::{ContentionKind, EngineError, ValidationKind};
use ff_core::state::PublicState;
use ff_core::types::{AttemptId, AttemptIndex, ExecutionId, LaneId, LeaseId, TimestampMs, WorkerId, WorkerInstanceId};

use crate::harness::{Harness as Opened, LEASE_MS, T0, id_in, on_every_database, payload};

/// Asks for a grant as worker `rescuer`.
pub(crate) fn asking(id: &ExecutionId) -> IssueReclaimGrantArgs {
    IssueReclaimGrantArgs::new(
        id.clone(),
        WorkerId::new("rescuer"),
        WorkerInstanceId::new("rescuer-1"),
        LaneId::new("lane"),
        None,
        60_000,
        None,
        None,
        BTreeSet::from(["b".to_owned(), "a".to_owned()]),
        TimestampMs::from_millis(0),
    )
}

/// Uses a grant as worker `rescuer`.
pub(crate) fn using(id: &ExecutionId) -> ReclaimExecutionArgs {
    ReclaimExecutionArgs::new(
        id.clone(),
        WorkerId::new("rescuer"),
        WorkerInstanceId::new("rescuer-1"),
        LaneId::new("lane"),
        None,
        LeaseId::new(),
        7_000,
        AttemptId::new(),
        String::new(),
        None,
        WorkerInstanceId::new("worker-a-1"),
        AttemptIndex::new(999),
    )
}

pub(crate) async fn granted(h: &Opened, id: &ExecutionId) -> ReclaimGrant {
    match h.backend.issue_reclaim_grant(asking(id)).await.unwrap() {
        IssueReclaimGrantOutcome::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

async fn grants(h: &Opened) -> i64 {
    h.number("SELECT count(*) FROM ff_claim_grant").await
}

on_every_database! {
    async fn a_crashed_workers_execution_is_reclaimed_with_the_defaults_of_a_fresh_database(h) {
        let (id, first) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        let grant = granted(&h, &id).await;
        assert_eq!((grant.execution_id.clone(), grant.lane_id.as_str()), (id.clone(), "lane"));
        assert_eq!(grant.expires_at_ms, (T0 + LEASE_MS + 60_000) as u64);
        assert_eq!(grant.partition_key.as_str(), format!("{{fp:{}}}", id.partition()));
        let args = using(&id);
        let (lease_id, attempt_id) = (args.lease_id.clone(), args.attempt_id.clone());
        let ReclaimExecutionOutcome::Claimed(handle) = h.backend.reclaim_execution(args).await.unwrap() else {
            panic!("the grant is good")
        };
        assert_eq!(handle.kind, HandleKind::Reclaimed);
        let held = payload(&handle);
        assert_eq!((held.attempt_index.0, held.lease_epoch.0, held.lease_ttl_ms), (1, 2, 7_000));
        assert_eq!((held.lease_id, held.attempt_id), (lease_id, attempt_id));
        assert_eq!(h.attempts(&id, "outcome").await, ["interrupted_reclaimed", "null"]);
        let end = (T0 + LEASE_MS + 7_000).to_string();
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, ["null", end.as_str()]);
        for (column, stored) in [
            ("attempt_index", "1"),
            ("lease_reclaim_count", "1"),
            ("lifecycle_phase", "active"),
            ("public_state", "running"),
            ("attempt_state", "running_attempt"),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        assert_eq!(h.lease_events(&id).await, ["acquired", "reclaimed"]);
        assert_eq!(grants(&h).await, 0);
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 2);
        for refused in [
            h.backend.complete(&first, None).await,
            h.backend.progress(&first, Some(1), None).await,
            h.backend.cancel(&first, "mine").await,
        ] {
            assert!(matches!(refused, Err(EngineError::Contention(ContentionKind::LeaseConflict))), "{refused:?}");
        }
        let described = h.backend.describe_execution(&id).await.unwrap().unwrap();
        assert!(described.current_lease.is_some());
        h.backend.complete(&handle, None).await.unwrap();
    }

    async fn a_live_lease_is_not_granted_away(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS - 1);
        let outcome = h.backend.issue_reclaim_grant(asking(&id)).await.unwrap();
        let IssueReclaimGrantOutcome::NotReclaimable { detail, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(detail, "ownership_state=leased (expected lease_expired_reclaimable | lease_revoked)");
        let fresh = h.create().await;
        let outcome = h.backend.issue_reclaim_grant(asking(&fresh)).await.unwrap();
        let IssueReclaimGrantOutcome::NotReclaimable { detail, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(detail, "lifecycle_phase=submitted (expected active)");
        assert_eq!(grants(&h).await, 0);
        let refused = h.backend.issue_reclaim_grant(asking(&id_in(9))).await.unwrap_err();
        assert!(matches!(refused, EngineError::NotFound { entity: "execution" }), "{refused}");
    }

    async fn a_declared_loss_is_granted_at_once(h) {
        for declared in ["lease_revoked", "lease_expired_reclaimable"] {
            let (id, _) = h.created_and_claimed().await;
            h.alter(&format!("UPDATE ff_exec_core SET ownership_state = '{declared}' WHERE {}", h.of(&id))).await;
            granted(&h, &id).await;
        }
    }

    async fn what_a_sweep_or_an_operator_took_away_is_reclaimed(h) {
        for is_swept in [true, false] {
            let (id, lost) = h.created_and_claimed().await;
            if is_swept {
                h.pass_ms(LEASE_MS + 1);
                assert_eq!(h.sweep("lease_expiry").await, (1, 0));
            } else {
                let revoked = h.backend.revoke_lease(crate::operator::revoking(&id)).await.unwrap();
                assert!(matches!(revoked, RevokeLeaseResult::Revoked { .. }), "{revoked:?}");
            }
            granted(&h, &id).await;
            let outcome = h.backend.reclaim_execution(using(&id)).await.unwrap();
            let ReclaimExecutionOutcome::Claimed(handle) = outcome else { panic!("{outcome:?}") };
            assert_eq!(payload(&handle).attempt_index, AttemptIndex::new(1));
            assert!(h.claim("worker-b").await.is_none(), "it is taken");
            assert!(h.backend.complete(&lost, None).await.is_err());
            h.backend.complete(&handle, None).await.unwrap();
            assert_eq!(h.attempts(&id, "outcome").await, ["interrupted_reclaimed", "success"]);
        }
    }

    async fn an_attempt_that_goes_on_by_itself_is_not_reclaimed(h) {
        let resumable = crate::resume::resumable(&h).await.id;
        let outcome = h.backend.issue_reclaim_grant(asking(&resumable)).await.unwrap();
        let IssueReclaimGrantOutcome::NotReclaimable { detail, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(detail, "lifecycle_phase=runnable (expected active)");
        h.alter("UPDATE ff_exec_core SET lane_id = 'aside'").await;
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS + 1);
        assert_eq!(h.sweep("lease_expiry").await, (1, 0));
        granted(&h, &id).await;
        assert!(h.claim("worker-b").await.is_some());
        let outcome = h.backend.reclaim_execution(using(&id)).await.unwrap();
        assert!(matches!(outcome, ReclaimExecutionOutcome::NotReclaimable { .. }), "{outcome:?}");
    }

    async fn a_thousand_reclaims_are_enough(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        h.alter(&format!("UPDATE ff_exec_core SET lease_reclaim_count = 1000 WHERE {}", h.of(&id))).await;
        let outcome = h.backend.issue_reclaim_grant(asking(&id)).await.unwrap();
        let IssueReclaimGrantOutcome::ReclaimCapExceeded { reclaim_count, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!((reclaim_count, grants(&h).await), (1000, 0));
    }

    async fn without_a_grant_nothing_is_reclaimed(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        for id in [id.clone(), id_in(3)] {
            let outcome = h.backend.reclaim_execution(using(&id)).await.unwrap();
            assert!(matches!(outcome, ReclaimExecutionOutcome::GrantNotFound { .. }), "{outcome:?}");
        }
        granted(&h, &id).await;
        h.pass_ms(60_000);
        let outcome = h.backend.reclaim_execution(using(&id)).await.unwrap();
        assert!(matches!(outcome, ReclaimExecutionOutcome::GrantNotFound { .. }), "{outcome:?}");
        assert_eq!(grants(&h).await, 0);
    }

    async fn a_grant_is_for_its_worker(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        granted(&h, &id).await;
        let mut args = using(&id);
        args.worker_id = WorkerId::new("thief");
        let refused = h.backend.reclaim_execution(args).await.unwrap_err();
        let EngineError::Validation { kind: ValidationKind::InvalidInput, detail } = refused else { panic!("{refused}") };
        assert_eq!(detail, "reclaim_execution: grant worker_id=rescuer mismatches caller thief");
        assert_eq!(grants(&h).await, 1);
    }

    async fn a_grant_waits_while_its_execution_is_not_reclaimable(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        granted(&h, &id).await;
        h.backend.renew(&handle).await.unwrap();
        let outcome = h.backend.reclaim_execution(using(&id)).await.unwrap();
        let ReclaimExecutionOutcome::NotReclaimable { detail, .. } = outcome else { panic!("{outcome:?}") };
        assert!(detail.ends_with("; exec transitioned after grant issuance"), "{detail}");
        h.backend.complete(&handle, None).await.unwrap();
        let outcome = h.backend.reclaim_execution(using(&id)).await.unwrap();
        let ReclaimExecutionOutcome::NotReclaimable { detail, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(detail, "lifecycle_phase=terminal (expected active); exec transitioned after grant issuance");
        assert_eq!(grants(&h).await, 1);
    }

    async fn reclaims_beyond_the_cap_fail_the_execution(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        h.alter(&format!("UPDATE ff_exec_core SET lease_reclaim_count = 4 WHERE {}", h.of(&id))).await;
        granted(&h, &id).await;
        granted(&h, &id).await;
        let mut args = using(&id);
        args.max_reclaim_count = Some(4);
        let outcome = h.backend.reclaim_execution(args).await.unwrap();
        let ReclaimExecutionOutcome::ReclaimCapExceeded { reclaim_count, .. } = outcome else { panic!("{outcome:?}") };
        // Callers of each database expect their own count: the stored one, or the one that was refused.
        assert_eq!(reclaim_count, 4 + h.declared().refused_reclaim_counts);
        for (column, stored) in [
            ("lifecycle_phase", "terminal"),
            ("public_state", "failed"),
            ("attempt_state", "attempt_terminal"),
            ("lease_reclaim_count", "4"),
            ("cancellation_reason", "reclaim_cap_exceeded"),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        assert_eq!(h.attempts(&id, "outcome").await, ["interrupted_reclaimed"]);
        assert_eq!(h.attempts(&id, "worker_instance_id").await, ["null"]);
        assert_eq!(h.completions(&id).await, ["failed space instance-1"]);
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert_eq!(grants(&h).await, 0);
        let info = h.backend.read_execution_info(&id).await.unwrap().unwrap();
        assert_eq!(info.public_state, PublicState::Failed);
        assert!(info.state_vector.is_consistent());
    }

    async fn epochs_grow_across_reclaims(h) {
        let (id, _) = h.created_and_claimed().await;
        let mut epochs = Vec::new();
        for _ in 0..3 {
            h.pass_ms(LEASE_MS * 2);
            granted(&h, &id).await;
            let outcome = h.backend.reclaim_execution(using(&id)).await.unwrap();
            let ReclaimExecutionOutcome::Claimed(handle) = outcome else { panic!("{outcome:?}") };
            epochs.push((payload(&handle).attempt_index.0, payload(&handle).lease_epoch.0));
        }
        assert_eq!(epochs, [(1, 2), (2, 3), (3, 4)]);
    }

    async fn an_attempt_policy_that_is_no_json_is_refused(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        granted(&h, &id).await;
        let mut args = using(&id);
        args.attempt_policy_json = "{".to_owned();
        let refused = h.backend.reclaim_execution(args).await.unwrap_err();
        assert!(matches!(refused, EngineError::Validation { kind: ValidationKind::InvalidPolicyJson, .. }), "{refused}");
        let mut args = using(&id);
        args.attempt_policy_json = r#"{"a":1}"#.to_owned();
        h.backend.reclaim_execution(args).await.unwrap();
        assert!(h.attempts(&id, "policy").await[1].contains("\"a\""));
    }

    async fn the_first_grant_makes_the_key_that_later_ones_are_signed_with(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        granted(&h, &id).await;
        granted(&h, &id).await;
        assert_eq!(h.number("SELECT count(*) FROM ff_waitpoint_hmac").await, 1);
        assert_eq!(grants(&h).await, 2);
    }

    async fn one_of_two_rescuers_wins(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        granted(&h, &id).await;
        let (one, two) = tokio::join!(h.backend.reclaim_execution(using(&id)), h.backend.reclaim_execution(using(&id)));
        let claimed = [one.unwrap(), two.unwrap()]
            .iter()
            .filter(|outcome| matches!(outcome, ReclaimExecutionOutcome::Claimed(_)))
            .count();
        assert_eq!(claimed, 1);
        assert_eq!(h.core(&id, "lease_reclaim_count").await, "1");
    }
}
