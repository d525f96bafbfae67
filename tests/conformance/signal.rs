//! Delivering signals, and what becomes of the execution that waits for them.

use ff_core::contracts::{
    CompositeBody, CountKind, DeliverApprovalSignalArgs, DeliverSignalArgs, DeliverSignalResult, ResumeCondition,
    SignalMatcher,
};
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::types::{ExecutionId, LaneId, WaitpointId, WaitpointToken};

use crate::harness::{Harness as Opened, T0, id_in, on_every_database, refusal, uuid_of};
use crate::suspend::{Suspended, fresh, named, signal, suspended, suspended_with, suspension, waitpoints};

const SATISFIED: &str = "resume_condition_satisfied";
const APPENDED: &str = "appended_to_waitpoint";

/// Delivers and answers the effect.
async fn deliver(h: &Opened, args: DeliverSignalArgs) -> String {
    match h.backend.deliver_signal(args.clone()).await.expect("it is delivered") {
        DeliverSignalResult::Accepted { signal_id, effect } => {
            assert_eq!(signal_id, args.signal_id);
            effect
        }
        DeliverSignalResult::Duplicate { .. } => "duplicate".to_owned(),
    }
}

async fn signal_events(h: &Opened, id: &ExecutionId) -> Vec<String> {
    let shown = "source_identity || ' ' || delivered_at_ms || ' ' || coalesce(namespace, '-') || ' ' || \
                 coalesce(instance_tag, '-')";
    let uuid = uuid_of(id);
    h.texts(&format!("SELECT {shown} FROM ff_signal_event WHERE execution_id = '{uuid}' ORDER BY event_id")).await
}

fn counting(n: u32, kind: CountKind) -> ResumeCondition {
    ResumeCondition::Composite(CompositeBody::count(n, kind, None, ["key".to_owned()]))
}

fn operator(s: &Suspended, name: &str, suffix: &str) -> DeliverApprovalSignalArgs {
    let (id, waitpoint) = (s.id.clone(), s.details.waitpoint_id.clone());
    DeliverApprovalSignalArgs::new(id, LaneId::new("lane"), waitpoint, name, suffix, 1_000, None, None)
}

on_every_database! {
    async fn a_signal_that_does_not_satisfy_is_kept(h) {
        let s = suspended(&h).await;
        h.pass_ms(3);
        let args = DeliverSignalArgs {
            payload: Some(vec![0, 0xff, 0x10]),
            correlation_id: Some("c".to_owned()),
            ..signal(&h, &s, "other")
        };
        assert_eq!(deliver(&h, args.clone()).await, APPENDED);
        let stored: serde_json::Value =
            serde_json::from_str(&suspension(&h, &s.id, "member_map").await.unwrap()).unwrap();
        let expected = serde_json::json!({"key": [{
            "signal_id": args.signal_id.to_string(),
            "signal_name": "other",
            "signal_category": "external",
            "source_type": "user",
            "source_identity": "alice",
            "correlation_id": "c",
            "accepted_at": T0 + 3,
            "payload_hex": "00ff10",
        }]});
        assert_eq!(stored, expected);
        let observed = h.backend.observe_signals(&s.handle).await.unwrap();
        assert_eq!(observed.len(), 1);
        assert_eq!((observed[0].signal_name.as_str(), observed[0].accepted_at.0), ("other", T0 + 3));
        assert_eq!(observed[0].payload.as_deref(), Some(&[0, 0xff, 0x10][..]));
        assert_eq!(signal_events(&h, &s.id).await, [format!("alice {} space instance-1", T0 + 3)]);
        let waitpoint = h.texts("SELECT waitpoint_id FROM ff_signal_event").await;
        assert_eq!(waitpoint, [s.details.waitpoint_id.to_string()]);
        assert_eq!(h.core(&s.id, "public_state").await, "suspended");
        assert_eq!(waitpoints(&h, &s.id, "state").await, ["active"]);
        assert_eq!(h.completions(&s.id).await, [""; 0]);
    }

    async fn the_signal_that_satisfies_makes_the_execution_resumable(h) {
        let s = suspended(&h).await;
        deliver(&h, signal(&h, &s, "other")).await;
        h.pass_ms(1);
        assert_eq!(deliver(&h, signal(&h, &s, "go")).await, SATISFIED);
        for (column, stored) in [
            ("lifecycle_phase", "runnable"),
            ("ownership_state", "released"),
            ("eligibility_state", "eligible_now"),
            ("public_state", "resumable"),
            ("attempt_state", "attempt_interrupted"),
        ] {
            assert_eq!(h.core(&s.id, column).await, stored, "{column}");
        }
        assert_eq!(waitpoints(&h, &s.id, "state").await, [""; 0]);
        assert_eq!(h.completions(&s.id).await, ["resumable space instance-1"]);
        let flowless = "SELECT count(*) FROM ff_completion_event WHERE flow_id IS NULL AND occurred_at_ms = ";
        assert_eq!(h.number(&format!("{flowless}{}", T0 + 1)).await, 1);
        assert_eq!(signal_events(&h, &s.id).await.len(), 2);
        let names: Vec<_> = h.backend.observe_signals(&s.handle).await.unwrap();
        let names: Vec<_> = names.into_iter().map(|signal| signal.signal_name).collect();
        assert_eq!(names, ["other", "go"]);
        assert_eq!(refusal(h.backend.deliver_signal(signal(&h, &s, "go")).await), "not found: waitpoint");
        assert!(h.claim("worker-b").await.is_none(), "it waits for the claim of a resumed execution");
    }

    async fn what_does_not_belong_to_the_waitpoint_is_refused_and_nothing_written(h) {
        let s = suspended(&h).await;
        let other = suspended(&h).await;
        let good = || signal(&h, &s, "go");
        let token = |text: String| WaitpointToken::new(text);
        let stored = s.details.waitpoint_token.as_str().to_owned();
        let cases = [
            (DeliverSignalArgs { waitpoint_id: WaitpointId::new(), ..good() }, "not found: waitpoint"),
            (
                DeliverSignalArgs { waitpoint_token: token("nothing".to_owned()), ..good() },
                "validation: InvalidInput: waitpoint_token verify: token malformed; expected kid:hex shape",
            ),
            (
                DeliverSignalArgs { waitpoint_token: token("k9:00".to_owned()), ..good() },
                "validation: InvalidInput: waitpoint_token verify: token kid mismatch; expected k1, got k9",
            ),
            (
                DeliverSignalArgs { waitpoint_token: other.details.waitpoint_token.token().clone(), ..good() },
                "validation: InvalidInput: waitpoint_token verify: HMAC signature mismatch",
            ),
            (
                DeliverSignalArgs { waitpoint_token: token(stored.to_uppercase().replacen('K', "k", 1)), ..good() },
                "validation: InvalidInput: waitpoint_token does not match minted token",
            ),
            (
                DeliverSignalArgs { payload: Some(vec![0; 64 * 1024 + 1]), ..good() },
                "validation: InvalidInput: payload of 65537 bytes exceeds 65536",
            ),
            (
                DeliverSignalArgs { signal_name: "\0".to_owned(), ..good() },
                "validation: InvalidInput: signal_name: must not contain U+0000",
            ),
        ];
        for (args, refused) in cases {
            assert_eq!(refusal(h.backend.deliver_signal(args).await), refused);
        }
        assert_eq!(h.number("SELECT count(*) FROM ff_signal_event").await, 0);
        assert_eq!(suspension(&h, &s.id, "member_map").await.as_deref(), Some("{}"));
        deliver(&h, DeliverSignalArgs { payload: Some(vec![0; 64 * 1024]), ..good() }).await;
    }

    async fn a_waitpoint_of_another_execution_of_the_partition_is_refused(h) {
        crate::suspend::seed(&h).await;
        let mut both = Vec::new();
        for _ in 0..2 {
            let id = h.create_with(|args| args.execution_id = id_in(7)).await;
            let before = h.claim("worker-a").await.unwrap();
            let args = crate::suspend::suspending(&h, fresh("key"), named("key", "go"));
            let outcome = h.backend.suspend(&before, args).await.unwrap();
            let details = outcome.details().clone();
            both.push(Suspended { id, handle: before.clone(), before, details });
        }
        let args = DeliverSignalArgs { execution_id: both[1].id.clone(), ..signal(&h, &both[0], "go") };
        let refused = refusal(h.backend.deliver_signal(args).await);
        assert_eq!(refused, "validation: InvalidInput: waitpoint belongs to a different execution");
    }

    async fn a_secret_that_is_gone_verifies_nothing(h) {
        let s = suspended(&h).await;
        h.alter("DELETE FROM ff_waitpoint_hmac").await;
        let refused = refusal(h.backend.deliver_signal(signal(&h, &s, "go")).await);
        assert_eq!(refused, "validation: InvalidInput: kid k1 missing from keystore");
    }

    async fn only_a_suspended_execution_hears_signals(h) {
        crate::suspend::seed(&h).await;
        let (id, handle) = h.created_and_claimed().await;
        let made = h.backend.create_waitpoint(&handle, "key", std::time::Duration::from_secs(1)).await.unwrap();
        let s = suspended(&h).await;
        let early = DeliverSignalArgs {
            execution_id: id,
            waitpoint_id: made.waitpoint_id,
            waitpoint_token: made.hmac_token.token().clone(),
            ..signal(&h, &s, "go")
        };
        assert_eq!(refusal(h.backend.deliver_signal(early).await), "not found: suspension");
        for phase in ["active", "terminal", "cancelled"] {
            h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = '{phase}' WHERE {}", h.of(&s.id))).await;
            assert_eq!(refusal(h.backend.deliver_signal(signal(&h, &s, "go")).await), "not found: suspension");
            assert_eq!(h.core(&s.id, "lifecycle_phase").await, phase);
        }
    }

    async fn a_document_that_cannot_be_read_is_corruption(h) {
        let s = suspended(&h).await;
        for (column, document, detail) in [
            ("member_map", "[]", "member_map not a JSON object"),
            ("member_map", r#"{"key":{"status":"?"}}"#, "member_map[wp_key] not a JSON array"),
            ("condition", "[]", "condition: "),
        ] {
            let condition = h.of(&s.id);
            h.alter(&format!("UPDATE ff_suspension_current SET {column} = '{document}' WHERE {condition}")).await;
            let refused = h.backend.deliver_signal(signal(&h, &s, "go")).await.unwrap_err();
            assert!(matches!(refused, EngineError::Validation { kind: ValidationKind::Corruption, .. }), "{refused}");
            assert!(refused.to_string().contains(detail), "{refused}");
            h.alter(&format!("UPDATE ff_suspension_current SET member_map = '{{}}' WHERE {condition}")).await;
        }
    }

    async fn all_waitpoints_of_a_condition_must_hear(h) {
        let both = ResumeCondition::all_of_waitpoints(["key", "more"]);
        let s = suspended_with(&h, |mut args| {
            args.resume_condition = both;
            args.with_waitpoint(fresh("more"))
        })
        .await;
        let more = s.details.additional_waitpoints[0].clone();
        assert_eq!(deliver(&h, signal(&h, &s, "a")).await, APPENDED);
        let args = DeliverSignalArgs {
            waitpoint_id: more.waitpoint_id,
            waitpoint_token: more.waitpoint_token.token().clone(),
            ..signal(&h, &s, "b")
        };
        assert_eq!(deliver(&h, args).await, SATISFIED);
        assert_eq!(waitpoints(&h, &s.id, "state").await, [""; 0]);
    }

    async fn one_source_twice_is_one_source(h) {
        let s = suspended_with(&h, |mut args| {
            args.resume_condition = counting(2, CountKind::DistinctSources);
            args
        })
        .await;
        assert_eq!(deliver(&h, signal(&h, &s, "a")).await, APPENDED);
        assert_eq!(deliver(&h, signal(&h, &s, "b")).await, APPENDED);
        let bob = DeliverSignalArgs { source_identity: "bob".to_owned(), ..signal(&h, &s, "c") };
        assert_eq!(deliver(&h, bob).await, SATISFIED);
    }

    async fn a_key_is_delivered_once_per_suspension(h) {
        let s = suspended(&h).await;
        let once = |name: &str, key: &str| DeliverSignalArgs {
            idempotency_key: Some(key.to_owned()),
            ..signal(&h, &s, name)
        };
        let first = once("other", "k");
        assert_eq!(deliver(&h, first.clone()).await, APPENDED);
        match h.backend.deliver_signal(once("go", "k")).await.unwrap() {
            DeliverSignalResult::Duplicate { existing_signal_id } => assert_eq!(existing_signal_id, first.signal_id),
            other => panic!("{other:?}"),
        }
        for _ in 0..2 {
            assert_eq!(deliver(&h, once("other", "")).await, APPENDED);
        }
        assert_eq!(signal_events(&h, &s.id).await.len(), 3);
        assert_eq!(deliver(&h, once("go", "other")).await, SATISFIED);
    }

    async fn deliveries_at_once_are_all_kept_and_one_of_them_satisfies(h) {
        let s = suspended_with(&h, |mut args| {
            args.resume_condition = counting(12, CountKind::DistinctSignals);
            args
        })
        .await;
        let mut tasks = Vec::new();
        for _ in 0..12 {
            let (h, args) = (Arc::clone(&h), signal(&h, &s, "go"));
            tasks.push(tokio::spawn(async move { deliver(&h, args).await }));
        }
        let mut effects = Vec::new();
        for task in tasks {
            effects.push(task.await.unwrap());
        }
        assert_eq!(effects.iter().filter(|effect| *effect == SATISFIED).count(), 1, "{effects:?}");
        assert_eq!(h.backend.observe_signals(&s.handle).await.unwrap().len(), 12);
        assert_eq!(signal_events(&h, &s.id).await.len(), 12);
        assert_eq!(h.completions(&s.id).await.len(), 1);
    }

    async fn an_operator_decides_without_the_token(h) {
        let s = suspended_with(&h, |mut args| {
            args.resume_condition = named("key", "approved");
            args
        })
        .await;
        let effect = |result| match result {
            DeliverSignalResult::Accepted { effect, .. } => effect,
            DeliverSignalResult::Duplicate { .. } => "duplicate".to_owned(),
        };
        let mut wrong = operator(&s, "approved", "1");
        wrong.lane_id = LaneId::new("x");
        let refused = refusal(h.backend.deliver_approval_signal(wrong).await);
        assert_eq!(refused, "validation: InvalidInput: lane_mismatch: args.lane_id=x exec_core.lane_id=lane");
        let unknown = Suspended { id: id_in(3), ..suspended(&h).await };
        assert_eq!(refusal(h.backend.deliver_approval_signal(operator(&unknown, "a", "1")).await), "not found: execution");
        let mut gone = operator(&s, "approved", "1");
        gone.waitpoint_id = WaitpointId::new();
        assert_eq!(refusal(h.backend.deliver_approval_signal(gone).await), "not found: waitpoint");
        let rejected = || h.backend.deliver_approval_signal(operator(&s, "rejected", "1"));
        assert_eq!(effect(rejected().await.unwrap()), APPENDED);
        assert_eq!(effect(rejected().await.unwrap()), "duplicate");
        let approved = h.backend.deliver_approval_signal(operator(&s, "approved", "1")).await.unwrap();
        assert_eq!(effect(approved), SATISFIED);
        let observed = h.backend.observe_signals(&s.handle).await.unwrap();
        assert_eq!((observed[0].signal_category.as_str(), observed[0].source_type.as_str()), ("approval", "operator"));
    }

    async fn nothing_is_observed_without_a_suspension(h) {
        let (_, handle) = h.created_and_claimed().await;
        assert_eq!(h.backend.observe_signals(&handle).await.unwrap(), []);
        let s = suspended_with(&h, |mut args| {
            let matcher = SignalMatcher::Wildcard;
            args.resume_condition = ResumeCondition::Single { waitpoint_key: "key".to_owned(), matcher };
            args
        })
        .await;
        assert_eq!(deliver(&h, signal(&h, &s, "")).await, SATISFIED);
    }
}
