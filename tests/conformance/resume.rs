//! What follows a suspension: the claim of the resumed execution, the resumption by the control plane, and the
//! timeout.

use ff_core::backend::HandleKind;
use ff_core::contracts::{
    ClaimResumedExecutionArgs, ClaimResumedExecutionResult, ClaimedResumedExecution, ResumeExecutionArgs,
    ResumeExecutionResult, TimeoutBehavior,
};
use ff_core::state::PublicState;
use ff_core::types::{AttemptIndex, ExecutionId, LaneId, LeaseId, TimestampMs, WorkerId, WorkerInstanceId};

use crate::harness::{Harness as Opened, T0, id_in, on_every_database, payload, refusal};
use crate::suspend::{Suspended, partition_of, signal, suspended, suspended_with, suspension, waitpoints};

const NOT_RESUMED: &str = "contention: NotAResumedExecution";
const NOT_SUSPENDED: &str = "state: ExecutionNotSuspended";

pub(crate) fn claiming(id: &ExecutionId) -> ClaimResumedExecutionArgs {
    ClaimResumedExecutionArgs {
        execution_id: id.clone(),
        worker_id: WorkerId::new("worker-b"),
        worker_instance_id: WorkerInstanceId::new("worker-b-1"),
        lane_id: LaneId::new("lane"),
        lease_id: LeaseId::new(),
        lease_ttl_ms: 7_000,
        current_attempt_index: AttemptIndex::new(99),
        remaining_attempt_timeout_ms: None,
        now: TimestampMs::from_millis(0),
    }
}

async fn claim(h: &Opened, args: ClaimResumedExecutionArgs) -> ClaimedResumedExecution {
    let ClaimResumedExecutionResult::Claimed(claimed) = h.backend.claim_resumed_execution(args).await.unwrap();
    claimed
}

/// A suspended execution whose signal came.
pub(crate) async fn resumable(h: &Opened) -> Suspended {
    let s = suspended(h).await;
    h.backend.deliver_signal(signal(h, &s, "go")).await.unwrap();
    s
}

pub(crate) fn resuming(id: &ExecutionId, resume_delay_ms: u64) -> ResumeExecutionArgs {
    ResumeExecutionArgs { execution_id: id.clone(), trigger_type: "operator".to_owned(), resume_delay_ms }
}

/// A suspension that times out 10 ms from now.
async fn short(h: &Opened, behavior: TimeoutBehavior) -> Suspended {
    let end = TimestampMs::from_millis(h.clock.now_ms() + 10);
    suspended_with(h, |args| args.with_timeout(end, behavior)).await
}

async fn expire(h: &Opened, id: &ExecutionId) {
    let far = TimestampMs::from_millis(i64::MAX);
    h.backend.expire_suspension(partition_of(id), id, far).await.unwrap();
}

on_every_database! {
    async fn a_resumed_execution_goes_on_with_the_same_attempt_under_the_next_epoch(h) {
        let s = resumable(&h).await;
        h.pass_ms(50);
        let args = claiming(&s.id);
        let claimed = claim(&h, args.clone()).await;
        assert_eq!((claimed.execution_id, claimed.lease_id), (s.id.clone(), args.lease_id.clone()));
        assert_eq!((claimed.lease_epoch.0, claimed.attempt_index.0), (3, 0));
        assert_eq!(claimed.lease_expires_at.0, T0 + 50 + 7_000);
        let held = payload(&claimed.handle);
        assert_eq!((claimed.handle.kind, claimed.handle.backend), (HandleKind::Resumed, h.declared().tag));
        assert_eq!((held.lease_epoch.0, held.attempt_index.0, held.lease_ttl_ms), (3, 0, 7_000));
        assert_eq!((held.attempt_id, held.lease_id.clone()), (claimed.attempt_id, args.lease_id));
        for (column, stored) in [
            ("lifecycle_phase", "active"),
            ("ownership_state", "leased"),
            ("eligibility_state", "not_applicable"),
            ("public_state", "running"),
            ("attempt_state", "running_attempt"),
            ("attempt_index", "0"),
            ("started_at_ms", &T0.to_string()),
        ] {
            assert_eq!(h.core(&s.id, column).await, stored, "{column}");
        }
        for (column, stored) in [
            ("worker_id", "worker-b".to_owned()),
            ("worker_instance_id", "worker-b-1".to_owned()),
            ("lease_expires_at_ms", (T0 + 7_050).to_string()),
            ("started_at_ms", (T0 + 50).to_string()),
            ("outcome", "null".to_owned()),
        ] {
            assert_eq!(h.attempts(&s.id, column).await, [stored], "{column}");
        }
        assert_eq!(h.lease_events(&s.id).await, ["acquired", "revoked", "acquired"]);
        let lease = h.texts("SELECT lease_id FROM ff_lease_event ORDER BY event_id DESC LIMIT 1").await;
        assert_eq!(lease, [held.lease_id.to_string()]);
        assert_eq!(refusal(h.backend.claim_resumed_execution(claiming(&s.id)).await), NOT_RESUMED);
        assert_eq!(h.backend.observe_signals(&claimed.handle).await.unwrap().len(), 1);
        h.backend.complete(&claimed.handle, None).await.unwrap();
    }

    async fn only_a_resumable_execution_is_claimed_so(h) {
        assert_eq!(refusal(h.backend.claim_resumed_execution(claiming(&id_in(3))).await), "not found: execution");
        let s = suspended(&h).await;
        assert_eq!(refusal(h.backend.claim_resumed_execution(claiming(&s.id)).await), NOT_RESUMED);
        h.backend.deliver_signal(signal(&h, &s, "go")).await.unwrap();
        h.alter(&format!("DELETE FROM ff_attempt WHERE {}", h.of(&s.id))).await;
        assert_eq!(refusal(h.backend.claim_resumed_execution(claiming(&s.id)).await), "not found: attempt");
        assert_eq!(h.core(&s.id, "public_state").await, "resumable");
    }

    async fn the_attempt_of_a_typed_claim_is_found_behind_the_pointer(h) {
        let s = resumable(&h).await;
        h.alter(&format!("UPDATE ff_exec_core SET attempt_index = 1 WHERE {}", h.of(&s.id))).await;
        let claimed = claim(&h, ClaimResumedExecutionArgs { lease_ttl_ms: u64::MAX, ..claiming(&s.id) }).await;
        assert_eq!((claimed.attempt_index.0, claimed.lease_expires_at.0), (0, i64::MAX));
        assert_eq!(h.core(&s.id, "attempt_index").await, "1");
    }

    async fn one_of_many_claims_a_resumed_execution(h) {
        let s = resumable(&h).await;
        let mut tasks = Vec::new();
        for _ in 0..8 {
            let (h, args) = (Arc::clone(&h), claiming(&s.id));
            tasks.push(tokio::spawn(async move { h.backend.claim_resumed_execution(args).await.is_ok() }));
        }
        let mut claims = 0;
        for task in tasks {
            claims += i32::from(task.await.unwrap());
        }
        assert_eq!(claims, 1);
        assert_eq!(h.attempts(&s.id, "lease_epoch").await, ["3"]);
    }

    async fn a_run_suspends_and_resumes_again_and_again(h) {
        let s = resumable(&h).await;
        let mut handle = claim(&h, claiming(&s.id)).await.handle;
        for round in 0..3 {
            let args = crate::suspend::suspending(&h, crate::suspend::fresh("key"), crate::suspend::named("key", "go"));
            let outcome = h.backend.suspend(&handle, args).await.unwrap();
            assert_eq!(h.backend.observe_signals(&handle).await.unwrap(), []);
            let again = Suspended { details: outcome.details().clone(), handle: handle.clone(), ..suspended_parts(&s) };
            h.backend.deliver_signal(signal(&h, &again, "go")).await.unwrap();
            let claimed = claim(&h, claiming(&s.id)).await;
            assert_eq!(claimed.lease_epoch.0, 5 + 2 * round);
            handle = claimed.handle;
        }
        h.backend.complete(&handle, None).await.unwrap();
        assert_eq!(h.backend.read_execution_state(&s.id).await.unwrap(), Some(PublicState::Completed));
    }

    async fn the_control_plane_resumes_at_once(h) {
        let s = suspended(&h).await;
        let resumed = h.backend.resume_execution(resuming(&s.id, 0)).await.unwrap();
        assert_eq!(resumed, ResumeExecutionResult::Resumed { public_state: PublicState::Waiting });
        for (column, stored) in [
            ("lifecycle_phase", "runnable"),
            ("ownership_state", "unowned"),
            ("eligibility_state", "eligible_now"),
            ("public_state", "waiting"),
            ("attempt_state", "attempt_interrupted"),
            ("blocking_reason", "waiting_for_worker"),
            ("deadline_at_ms", "null"),
        ] {
            assert_eq!(h.core(&s.id, column).await, stored, "{column}");
        }
        let document = h.document(&s.id).await;
        assert_eq!((&document["current_suspension_id"], &document["namespace"]), (&"".into(), &"space".into()));
        assert_eq!(document["current_waitpoint_id"], "");
        assert_eq!((suspension(&h, &s.id, "reason_code").await, waitpoints(&h, &s.id, "state").await), (None, vec![]));
        assert_eq!(h.completions(&s.id).await, [""; 0]);
        assert_eq!(refusal(h.backend.resume_execution(resuming(&s.id, 0)).await), NOT_SUSPENDED);
        assert_eq!(refusal(h.backend.claim_resumed_execution(claiming(&s.id)).await), NOT_RESUMED);
        let handle = h.claim("worker-b").await.unwrap();
        assert_eq!((payload(&handle).attempt_index.0, payload(&handle).lease_epoch.0), (0, 3));
    }

    async fn the_control_plane_resumes_after_a_delay_and_the_deadline_comes_back(h) {
        let s = suspended(&h).await;
        h.alter(&format!("UPDATE ff_exec_core SET deadline_at_ms = 1700000900000 WHERE {}", h.of(&s.id))).await;
        let resumed = h.backend.resume_execution(resuming(&s.id, 500)).await.unwrap();
        assert_eq!(resumed, ResumeExecutionResult::Resumed { public_state: PublicState::Delayed });
        for (column, stored) in [
            ("eligibility_state", "not_eligible_until_time"),
            ("blocking_reason", "waiting_for_resume_delay"),
            ("deadline_at_ms", &(T0 + 500).to_string()),
        ] {
            assert_eq!(h.core(&s.id, column).await, stored, "{column}");
        }
        assert!(h.claim("worker-b").await.is_none());
        h.pass_ms(500);
        assert!(h.claim("worker-b").await.is_some());
        assert_eq!(h.core(&s.id, "deadline_at_ms").await, "1700000900000");
    }

    async fn what_is_not_suspended_is_not_resumed(h) {
        assert_eq!(refusal(h.backend.resume_execution(resuming(&id_in(3), 0)).await), "not found: execution");
        let (id, _) = h.created_and_claimed().await;
        assert_eq!(refusal(h.backend.resume_execution(resuming(&id, 0)).await), NOT_SUSPENDED);
        let s = suspended(&h).await;
        h.alter("DELETE FROM ff_suspension_current").await;
        assert_eq!(refusal(h.backend.resume_execution(resuming(&s.id, 0)).await), NOT_SUSPENDED);
        assert_eq!(waitpoints(&h, &s.id, "state").await, ["active"]);
    }

    async fn a_timeout_ends_the_execution_as_its_suspension_asked(h) {
        for (behavior, state, completion, reason) in [
            (TimeoutBehavior::Fail, "failed", "expired", "suspension_timeout_fail"),
            (TimeoutBehavior::Cancel, "cancelled", "cancelled", "suspension_timeout_cancel"),
            (TimeoutBehavior::Expire, "expired", "expired", "suspension_timeout_expire"),
            (TimeoutBehavior::Escalate, "expired", "expired", "suspension_timeout_escalate"),
        ] {
            let s = short(&h, behavior).await;
            h.pass_ms(10);
            expire(&h, &s.id).await;
            assert_eq!(h.core(&s.id, "public_state").await, "suspended", "not due by our clock");
            h.pass_ms(1);
            expire(&h, &s.id).await;
            expire(&h, &s.id).await;
            let now = h.clock.now_ms().to_string();
            for (column, stored) in [
                ("lifecycle_phase", "terminal"),
                ("ownership_state", "unowned"),
                ("eligibility_state", "not_applicable"),
                ("public_state", state),
                ("attempt_state", "attempt_terminal"),
                ("terminal_at_ms", &now),
                ("cancellation_reason", reason),
            ] {
                assert_eq!(h.core(&s.id, column).await, stored, "{column}");
            }
            assert_eq!(h.document(&s.id).await["last_failure_message"], "suspension_timeout");
            assert_eq!(h.attempts(&s.id, "outcome").await, [state]);
            assert_eq!(h.attempts(&s.id, "terminal_at_ms").await, [now]);
            assert_eq!(h.completions(&s.id).await, [format!("{completion} space instance-1")]);
            assert_eq!((suspension(&h, &s.id, "reason_code").await, waitpoints(&h, &s.id, "state").await), (None, vec![]));
        }
    }

    async fn the_sweep_applies_the_timeouts_that_are_due(h) {
        let due = short(&h, TimeoutBehavior::Fail).await;
        let lasting = suspended(&h).await;
        h.pass_ms(10);
        assert_eq!(h.sweep("suspension_timeout").await, (0, 0));
        h.pass_ms(1);
        assert_eq!(h.sweep("suspension_timeout").await, (1, 0));
        assert_eq!(h.core(&due.id, "public_state").await, "failed");
        assert_eq!(h.core(&lasting.id, "lifecycle_phase").await, "suspended");
        assert_eq!(h.sweep("suspension_timeout").await, (0, 0));
    }

    async fn without_a_stored_behaviour_the_timeout_fails(h) {
        let s = short(&h, TimeoutBehavior::Cancel).await;
        h.alter("UPDATE ff_suspension_current SET timeout_behavior = NULL").await;
        h.pass_ms(11);
        expire(&h, &s.id).await;
        assert_eq!(h.core(&s.id, "cancellation_reason").await, "suspension_timeout_fail");
        let odd = short(&h, TimeoutBehavior::Cancel).await;
        h.alter("UPDATE ff_suspension_current SET timeout_behavior = 'explode'").await;
        h.pass_ms(11);
        let now = TimestampMs::from_millis(0);
        let refused = refusal(h.backend.expire_suspension(partition_of(&odd.id), &odd.id, now).await);
        let detail = "suspension_current: timeout_behavior: 'explode' is not a known value";
        assert_eq!(refused, format!("validation: Corruption: {detail}"));
        assert_eq!(waitpoints(&h, &odd.id, "state").await, ["active"]);
    }

    async fn a_timeout_that_resumes_leaves_a_signal(h) {
        let s = short(&h, TimeoutBehavior::AutoResumeWithTimeoutSignal).await;
        h.backend.deliver_signal(signal(&h, &s, "other")).await.unwrap();
        h.alter("UPDATE ff_suspension_current SET condition = '{}'").await;
        h.pass_ms(11);
        expire(&h, &s.id).await;
        expire(&h, &s.id).await;
        for (column, stored) in
            [("lifecycle_phase", "runnable"), ("ownership_state", "released"), ("public_state", "resumable")]
        {
            assert_eq!(h.core(&s.id, column).await, stored, "{column}");
        }
        assert_eq!(suspension(&h, &s.id, "timeout_at_ms").await.as_deref(), Some("null"));
        assert_eq!(waitpoints(&h, &s.id, "state").await, [""; 0]);
        let stored: serde_json::Value =
            serde_json::from_str(&suspension(&h, &s.id, "member_map").await.unwrap()).unwrap();
        let entries = stored["__timeout__"].as_array().unwrap();
        assert_eq!((entries.len(), &entries[0]["signal_name"]), (1, &"timeout".into()));
        assert_eq!(entries[0]["source"], "suspension_timeout");
        let names = h.backend.observe_signals(&s.handle).await.unwrap();
        let names: Vec<_> = names.into_iter().map(|signal| (signal.signal_name, signal.accepted_at.0)).collect();
        assert_eq!(names, [("other".to_owned(), T0), ("timeout".to_owned(), T0 + 11)]);
        assert_eq!(h.completions(&s.id).await, ["resumable space instance-1"]);
        let handle = claim(&h, claiming(&s.id)).await.handle;
        h.backend.complete(&handle, None).await.unwrap();
    }

    async fn a_suspension_that_is_over_is_not_expired(h) {
        let s = short(&h, TimeoutBehavior::Fail).await;
        h.backend.deliver_signal(signal(&h, &s, "go")).await.unwrap();
        assert_eq!(suspension(&h, &s.id, "timeout_at_ms").await.as_deref(), Some("null"));
        claim(&h, claiming(&s.id)).await;
        h.alter("UPDATE ff_suspension_current SET timeout_at_ms = 1").await;
        h.pass_ms(11);
        expire(&h, &s.id).await;
        assert_eq!(h.core(&s.id, "public_state").await, "running");
        assert_eq!(suspension(&h, &s.id, "timeout_at_ms").await.as_deref(), Some("null"));
        expire(&h, &id_in(3)).await;
        let endless = suspended(&h).await;
        h.pass_ms(1_000_000);
        expire(&h, &endless.id).await;
        assert_eq!(h.core(&endless.id, "public_state").await, "suspended");
    }
}

/// The same execution again.
fn suspended_parts(s: &Suspended) -> Suspended {
    let (id, before) = (s.id.clone(), s.before.clone());
    Suspended { id, before, handle: s.handle.clone(), details: s.details.clone() }
}
