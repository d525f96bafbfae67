//! What the holder of a lease does, and what everybody else is told who tries the same.

use ff_core::backend::{BackendTag, FailOutcome, FailureClass, FailureReason, Handle, HandleKind, HandleOpaque};
use ff_core::engine_error::{ContentionKind, EngineError, ValidationKind};
use ff_core::handle_codec::{self, HandlePayload};
use ff_core::state::PublicState;
use ff_core::types::{AttemptId, AttemptIndex, LaneId, LeaseEpoch, LeaseId, TimestampMs, WorkerInstanceId};
use serde_json::json;

use crate::harness::{T0, id_in, on_every_database, payload};

/// Whether the lease was lost.
fn lost<T: std::fmt::Debug>(answer: Result<T, EngineError>) -> bool {
    matches!(answer, Err(EngineError::Contention(ContentionKind::LeaseConflict)))
}

/// A failure that may be tried again.
fn transient() -> (FailureReason, FailureClass) {
    (FailureReason::new("no luck"), FailureClass::Transient)
}

/// The same handle with another payload.
pub(crate) fn forged(handle: &Handle, change: impl FnOnce(&mut HandlePayload)) -> Handle {
    let mut payload = payload(handle);
    change(&mut payload);
    Handle::new(handle.backend, handle.kind, handle_codec::encode(handle.backend, &payload))
}

/// A backend that is not this one.
fn other(tag: BackendTag) -> BackendTag {
    if tag == BackendTag::Sqlite { BackendTag::Postgres } else { BackendTag::Sqlite }
}

on_every_database! {
    async fn progress_merges_what_is_given(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.progress(&handle, None, None).await.unwrap();
        let document = h.document(&id).await;
        assert!(document.get("progress_pct").is_none() && document.get("progress_message").is_none());
        h.backend.progress(&handle, Some(5), None).await.unwrap();
        h.backend.progress(&handle, None, Some("half \"way\"".to_owned())).await.unwrap();
        let document = h.document(&id).await;
        assert_eq!((&document["progress_pct"], &document["progress_message"]), (&json!(5), &json!("half \"way\"")));
        assert_eq!((&document["namespace"], &document["tags"]["cairn.instance_id"]), (&json!("space"), &json!("instance-1")));
        assert_eq!(h.lease_events(&id).await, ["acquired"]);
    }

    async fn progress_with_a_nul_is_refused(h) {
        let (id, handle) = h.created_and_claimed().await;
        let refused = h.backend.progress(&handle, Some(1), Some("\0".to_owned())).await.unwrap_err();
        assert!(matches!(refused, EngineError::Validation { kind: ValidationKind::InvalidInput, .. }), "{refused}");
        assert!(h.document(&id).await.get("progress_pct").is_none());
    }

    async fn completion_ends_attempt_and_execution(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.pass_ms(9);
        h.backend.complete(&handle, Some(b"result".to_vec())).await.unwrap();
        for (column, stored) in [
            ("lifecycle_phase", "terminal"),
            ("ownership_state", "unowned"),
            ("eligibility_state", "not_applicable"),
            ("public_state", "completed"),
            ("attempt_state", "attempt_terminal"),
            ("terminal_at_ms", &(T0 + 9).to_string()),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        assert_eq!(h.attempts(&id, "outcome").await, ["success"]);
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, ["null"]);
        assert_eq!(h.attempts(&id, "lease_epoch").await, ["1"]);
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert_eq!(h.completions(&id).await, ["success space instance-1"]);
    }

    async fn a_completion_without_a_result_has_none(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        assert_eq!(h.backend.get_execution_result(&id).await.unwrap(), None);
        h.backend.complete(&handle, None).await.unwrap();
    }

    async fn completing_twice_is_answered_and_written_once(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, Some(b"one".to_vec())).await.unwrap();
        h.pass_ms(5);
        h.backend.complete(&handle, Some(b"one".to_vec())).await.unwrap();
        assert_eq!(h.completions(&id).await.len(), 1);
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert_eq!(h.core(&id, "terminal_at_ms").await, T0.to_string());
        assert!(lost(h.backend.complete(&handle, Some(b"two".to_vec())).await));
        assert_eq!(h.backend.get_execution_result(&id).await.unwrap().as_deref(), Some(&b"one"[..]));
    }

    async fn failing_after_completion_schedules_nothing(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        let (reason, class) = transient();
        assert!(lost(h.backend.fail(&handle, reason, class).await));
        assert!(lost(h.backend.fail(&handle, FailureReason::new("x"), FailureClass::Permanent).await));
        assert!(lost(h.backend.delay(&handle, TimestampMs::from_millis(T0 + 1)).await));
        assert!(lost(h.backend.wait_children(&handle).await));
        assert!(lost(h.backend.renew(&handle).await));
        assert!(lost(h.backend.progress(&handle, Some(1), None).await));
        assert!(h.claim("worker-b").await.is_none());
        assert_eq!(h.completions(&id).await, ["success space instance-1"]);
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Completed));
    }

    async fn a_handle_of_an_earlier_attempt_ends_nothing(h) {
        let (id, a) = h.created_and_claimed().await;
        let (reason, class) = transient();
        h.backend.fail(&a, reason, class).await.unwrap();
        let b = h.claim("worker-b").await.expect("it is tried again");
        assert_eq!(payload(&b).attempt_index.0, 1);
        assert!(lost(h.backend.complete(&a, None).await));
        assert!(lost(h.backend.cancel(&a, "mine").await));
        assert!(lost(h.backend.renew(&a).await));
        assert!(lost(h.backend.progress(&a, Some(1), None).await));
        assert!(lost(h.backend.delay(&a, TimestampMs::from_millis(T0 + 5)).await));
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
        h.backend.complete(&b, None).await.unwrap();
    }

    async fn only_the_epoch_and_the_attempt_decide(h) {
        let (_, handle) = h.created_and_claimed().await;
        assert!(lost(h.backend.complete(&forged(&handle, |p| p.lease_epoch = LeaseEpoch::new(2)), None).await));
        let same_epoch = forged(&handle, |p| {
            p.lease_id = LeaseId::new();
            p.attempt_id = AttemptId::new();
            p.worker_instance_id = WorkerInstanceId::new("somebody");
            p.lane_id = LaneId::new("somewhere");
        });
        h.backend.complete(&same_epoch, None).await.unwrap();
    }

    async fn a_handle_without_an_attempt_finds_none(h) {
        let (_, handle) = h.created_and_claimed().await;
        let nowhere = forged(&handle, |p| p.attempt_index = AttemptIndex::new(4));
        for answer in [
            h.backend.complete(&nowhere, None).await,
            h.backend.renew(&nowhere).await.map(drop),
            h.backend.progress(&nowhere, None, None).await,
            h.backend.fail(&nowhere, transient().0, transient().1).await.map(drop),
            h.backend.delay(&nowhere, TimestampMs::from_millis(1)).await,
            h.backend.wait_children(&nowhere).await,
        ] {
            assert!(matches!(answer, Err(EngineError::NotFound { entity: "attempt" })), "{answer:?}");
        }
    }

    async fn a_handle_of_another_backend_is_refused(h) {
        let (_, handle) = h.created_and_claimed().await;
        let (own, foreign) = (h.declared().tag, other(handle.backend));
        let outer = Handle::new(foreign, handle.kind, handle.opaque.clone());
        let refused = h.backend.complete(&outer, None).await.unwrap_err().to_string();
        assert_eq!(refused, format!("validation: HandleFromOtherBackend: expected={own:?} actual={foreign:?}"));
        let inner = Handle::new(own, handle.kind, handle_codec::encode(foreign, &payload(&handle)));
        let refused = h.backend.renew(&inner).await.unwrap_err().to_string();
        assert!(refused.ends_with(&format!("expected={own:?} actual={foreign:?} (embedded tag)")), "{refused}");
        let torn = Handle::new(own, HandleKind::Fresh, HandleOpaque::new(Box::new([2, 1, own.wire_byte()])));
        let refused = h.backend.progress(&torn, None, None).await.unwrap_err().to_string();
        assert!(refused.starts_with("validation: Corruption: handle_codec: "), "{refused}");
    }

    async fn a_retryable_failure_moves_to_the_next_attempt(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.pass_ms(3);
        let (reason, class) = transient();
        let outcome = h.backend.fail(&handle, reason, class).await.unwrap();
        assert_eq!(outcome, FailOutcome::RetryScheduled { delay_until: TimestampMs::from_millis(T0 + 3) });
        for (column, stored) in [
            ("lifecycle_phase", "runnable"),
            ("ownership_state", "unowned"),
            ("eligibility_state", "eligible_now"),
            ("public_state", "waiting"),
            ("attempt_state", "pending_retry_attempt"),
            ("attempt_index", "1"),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        assert_eq!(h.document(&id).await["last_failure_message"], "no luck");
        assert_eq!(h.attempts(&id, "outcome").await, ["retry"]);
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert!(h.completions(&id).await.is_empty());
    }

    async fn failing_twice_is_answered_and_counted_once(h) {
        let (id, handle) = h.created_and_claimed().await;
        let (reason, class) = transient();
        let first = h.backend.fail(&handle, reason.clone(), class).await.unwrap();
        h.pass_ms(50);
        assert_eq!(h.backend.fail(&handle, reason.clone(), class).await.unwrap(), first);
        assert_eq!(h.core(&id, "attempt_index").await, "1");
        h.claim("worker-b").await.expect("it is tried again");
        assert_eq!(h.backend.fail(&handle, reason, class).await.unwrap(), first);
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked", "acquired"]);
    }

    async fn a_final_failure_ends_the_execution_once(h) {
        for class in [FailureClass::Permanent, FailureClass::Timeout, FailureClass::Cancelled] {
            let (id, handle) = h.created_and_claimed().await;
            for _ in 0..2 {
                let outcome = h.backend.fail(&handle, FailureReason::new("broken"), class).await.unwrap();
                assert_eq!(outcome, FailOutcome::TerminalFailed);
            }
            assert_eq!(h.core(&id, "public_state").await, "failed");
            assert_eq!(h.core(&id, "lifecycle_phase").await, "terminal");
            assert_eq!(h.document(&id).await["last_failure_message"], "broken");
            assert_eq!(h.completions(&id).await, ["failed space instance-1"]);
            assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
            let info = h.backend.read_execution_info(&id).await.unwrap().unwrap();
            assert!(info.state_vector.is_consistent());
        }
    }

    async fn a_cancelled_execution_stays_cancelled(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.cancel(&handle, "enough").await.unwrap();
        for (column, stored) in [
            ("lifecycle_phase", "terminal"),
            ("public_state", "cancelled"),
            ("attempt_state", "cancelled"),
            ("cancellation_reason", "enough"),
            ("cancelled_by", "worker"),
            ("terminal_at_ms", &T0.to_string()),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        assert_eq!(h.document(&id).await["last_mutation_at"], T0.to_string());
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, ["null"]);
        h.backend.cancel(&handle, "again").await.unwrap();
        assert_eq!(h.core(&id, "cancellation_reason").await, "enough");
        assert_eq!(h.completions(&id).await, ["cancelled space instance-1"]);
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert_eq!(h.backend.describe_execution(&id).await.unwrap().unwrap().public_state, PublicState::Cancelled);
        let info = h.backend.read_execution_info(&id).await.unwrap().unwrap();
        assert!(info.state_vector.is_consistent());
    }

    async fn an_execution_that_was_never_claimed_can_be_cancelled(h) {
        let (_, template) = h.created_and_claimed().await;
        let id = h.create().await;
        let handle = forged(&template, |p| p.execution_id = id.clone());
        h.backend.cancel(&handle, "early").await.unwrap();
        assert_eq!(h.core(&id, "public_state").await, "cancelled");
        assert!(h.lease_events(&id).await.is_empty());
        assert_eq!(h.completions(&id).await.len(), 1);
    }

    async fn what_cannot_be_cancelled_says_why(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        let refused = h.backend.cancel(&handle, "late").await.unwrap_err().to_string();
        let expected = format!("cancel: execution_id={id}: already terminal in state 'completed'");
        assert!(refused.ends_with(&expected), "{refused}");
        let unknown = id_in(3);
        let refused = h.backend.cancel(&forged(&handle, |p| p.execution_id = unknown.clone()), "x").await.unwrap_err();
        let expected = format!("cancel: execution_id={unknown}: row not found on partition_key=3");
        assert!(refused.to_string().ends_with(&expected), "{refused}");
        h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'cancelled' WHERE {}", h.of(&id))).await;
        h.backend.cancel(&handle, "operator was first").await.unwrap();
    }

    async fn a_delayed_attempt_goes_on_with_its_next_epoch(h) {
        let id = h
            .create_with(|args| args.execution_deadline_at = Some(TimestampMs::from_millis(T0 + 900_000)))
            .await;
        let handle = h.claim("worker-a").await.unwrap();
        let until = TimestampMs::from_millis(T0 + 10_000);
        h.backend.delay(&handle, until).await.unwrap();
        for (column, stored) in [
            ("lifecycle_phase", "runnable"),
            ("eligibility_state", "not_eligible_until_time"),
            ("public_state", "delayed"),
            ("attempt_state", "attempt_interrupted"),
            ("deadline_at_ms", &(T0 + 10_000).to_string()),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, ["null"]);
        assert_eq!(h.attempts(&id, "outcome").await, ["interrupted"]);
        h.backend.delay(&handle, until).await.unwrap();
        assert!(lost(h.backend.delay(&handle, TimestampMs::from_millis(T0 + 20_000)).await));
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert!(h.claim("worker-b").await.is_none());
        h.pass_ms(10_000);
        let again = h.claim("worker-b").await.expect("it is due");
        assert_eq!((payload(&again).attempt_index.0, payload(&again).lease_epoch.0), (0, 2));
        assert_eq!(h.core(&id, "deadline_at_ms").await, (T0 + 900_000).to_string());
        assert!(lost(h.backend.complete(&handle, None).await));
        assert!(lost(h.backend.delay(&handle, until).await));
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 1);
    }

    async fn an_attempt_that_waits_for_children_is_not_claimed(h) {
        let (id, handle) = h.created_and_claimed().await;
        for _ in 0..2 {
            h.backend.wait_children(&handle).await.unwrap();
        }
        for (column, stored) in [
            ("lifecycle_phase", "runnable"),
            ("eligibility_state", "blocked_by_dependencies"),
            ("public_state", "waiting_children"),
            ("blocking_reason", "waiting_for_children"),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        assert_eq!(h.attempts(&id, "outcome").await, ["waiting_children"]);
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert!(h.claim("worker-b").await.is_none());
        h.alter(&format!("UPDATE ff_exec_core SET eligibility_state = 'eligible_now' WHERE {}", h.of(&id))).await;
        h.claim("worker-b").await.expect("the children are done");
        assert_eq!(h.core(&id, "blocking_reason").await, "null");
    }

    async fn two_ends_at_once_make_one(h) {
        for _ in 0..10 {
            let (id, handle) = h.created_and_claimed().await;
            let (one, two) = tokio::join!(
                h.backend.complete(&handle, Some(b"x".to_vec())),
                h.backend.fail(&handle, FailureReason::new("x"), FailureClass::Permanent),
            );
            assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
            assert_eq!(h.completions(&id).await.len(), 1);
            assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        }
    }
}
