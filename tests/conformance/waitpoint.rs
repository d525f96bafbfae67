//! Waitpoints: making, listing and closing them, and reading their tokens.

use std::time::Duration;

use ff_core::contracts::{ListPendingWaitpointsArgs, RotateWaitpointHmacSecretOutcome};
use ff_core::crypto::hmac::hmac_verify;
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionKey};
use ff_core::types::{ExecutionId, TimestampMs, WaitpointId};

use crate::harness::{Harness as Opened, T0, id_in, on_every_database, refusal};
use crate::suspend::{named, partition_of, rotate, seed, signal, suspended, suspended_with, suspension, waitpoints};

async fn listed(h: &Opened, args: ListPendingWaitpointsArgs) -> (Vec<WaitpointId>, Option<WaitpointId>) {
    let page = h.backend.list_pending_waitpoints(args).await.unwrap();
    (page.entries.into_iter().map(|info| info.waitpoint_id).collect(), page.next_cursor)
}

async fn close(h: &Opened, id: &ExecutionId, waitpoint: &WaitpointId, now_ms: i64) -> Result<(), EngineError> {
    let (partition, now) = (partition_of(id), TimestampMs::from_millis(now_ms));
    h.backend.close_waitpoint(partition, id, &waitpoint.to_string(), now).await
}

on_every_database! {
    async fn a_waitpoint_is_made_with_a_token_that_verifies(h) {
        seed(&h).await;
        let (id, handle) = h.created_and_claimed().await;
        let first = h.backend.create_waitpoint(&handle, "key", Duration::from_millis(1_500)).await.unwrap();
        let second = h.backend.create_waitpoint(&handle, "key", Duration::MAX).await.unwrap();
        assert_ne!(first.waitpoint_id, second.waitpoint_id);
        assert_eq!(waitpoints(&h, &id, "state").await, ["pending", "pending"]);
        let mut ends = waitpoints(&h, &id, "expires_at_ms").await;
        ends.sort_by_key(String::len);
        assert_eq!(ends, [(T0 + 1_500).to_string(), i64::MAX.to_string()]);
        assert_eq!(waitpoints(&h, &id, "activated_at_ms").await, ["null", "null"]);
        let secret: Vec<u8> = (0..32).collect();
        let token = first.hmac_token.as_str();
        let message = |waitpoint: &WaitpointId| format!("{id}:{waitpoint}").into_bytes();
        assert!(hmac_verify(&secret, "k1", &message(&first.waitpoint_id), token).is_ok());
        assert!(hmac_verify(&secret, "k1", &message(&second.waitpoint_id), token).is_err());
        assert_eq!(h.lease_events(&id).await, ["acquired"]);
        let refused = refusal(h.backend.create_waitpoint(&handle, "\0", Duration::ZERO).await);
        assert!(refused.ends_with("waitpoint_key: must not contain U+0000"), "{refused}");
    }

    async fn a_token_is_read_as_long_as_its_waitpoint_is_stored(h) {
        let s = suspended(&h).await;
        let key = PartitionKey::from(partition_of(&s.id));
        let waitpoint = &s.details.waitpoint_id;
        let token = h.backend.read_waitpoint_token(key.clone(), waitpoint).await.unwrap();
        assert_eq!(token.as_deref(), Some(s.details.waitpoint_token.as_str()));
        assert_eq!(h.backend.read_waitpoint_token(key.clone(), &WaitpointId::new()).await.unwrap(), None);
        h.alter("UPDATE ff_waitpoint_pending SET token = ''").await;
        assert_eq!(h.backend.read_waitpoint_token(key, waitpoint).await.unwrap(), None);
        let malformed = serde_json::from_str::<PartitionKey>("\"nothing\"").unwrap();
        let refused = refusal(h.backend.read_waitpoint_token(malformed, waitpoint).await);
        assert!(refused.starts_with("validation: InvalidInput: partition_key: "), "{refused}");
    }

    async fn waitpoints_are_listed_in_pages_without_their_tokens(h) {
        seed(&h).await;
        let (id, handle) = h.created_and_claimed().await;
        let mut made = Vec::new();
        for _ in 0..5 {
            made.push(h.backend.create_waitpoint(&handle, "key", Duration::from_secs(1)).await.unwrap().waitpoint_id);
        }
        made.sort_by_key(|waitpoint| *waitpoint.as_bytes());
        let args = || ListPendingWaitpointsArgs::new(id.clone()).with_limit(2);
        let (first, next) = listed(&h, args()).await;
        assert_eq!((&first[..], next.as_ref()), (&made[..2], Some(&made[1])));
        let (second, next) = listed(&h, args().with_after(made[1].clone())).await;
        assert_eq!((&second[..], next.as_ref()), (&made[2..4], Some(&made[3])));
        let (third, next) = listed(&h, args().with_after(made[3].clone())).await;
        assert_eq!((&third[..], next), (&made[4..], None));
        assert_eq!(listed(&h, args().with_limit(0)).await.0.len(), 1);
        h.pass_ms(5_000);
        assert_eq!(listed(&h, ListPendingWaitpointsArgs::new(id.clone())).await.0, made);
        h.alter("UPDATE ff_waitpoint_pending SET state = 'closed'").await;
        assert!(listed(&h, ListPendingWaitpointsArgs::new(id)).await.0.is_empty());
        let unknown = h.backend.list_pending_waitpoints(ListPendingWaitpointsArgs::new(id_in(3))).await;
        assert_eq!(refusal(unknown), "not found: execution");
    }

    async fn a_listed_waitpoint_says_what_it_waits_for_and_how_it_was_signed(h) {
        let s = suspended(&h).await;
        let mut page = h.backend.list_pending_waitpoints(ListPendingWaitpointsArgs::new(s.id.clone())).await.unwrap();
        let info = page.entries.remove(0);
        assert_eq!((info.waitpoint_key.as_str(), info.state.as_str(), info.token_kid.as_str()), ("key", "active", "k1"));
        assert_eq!(info.required_signal_names, ["go"]);
        assert_eq!((info.created_at.0, info.activated_at.map(|at| at.0), info.expires_at), (T0, Some(T0), None));
        assert_eq!(info.execution_id, s.id);
        assert_eq!(info.token_fingerprint, s.details.waitpoint_token.as_str()[3..19]);
        for (stored, kid, fingerprint) in [("no colon", "", ""), ("k:äöüäöüäöüäöüäöüäöü", "k", "äöüäöüäöüäöüäöüä")] {
            h.alter(&format!("UPDATE ff_waitpoint_pending SET token = '{stored}'")).await;
            let page = h.backend.list_pending_waitpoints(ListPendingWaitpointsArgs::new(s.id.clone())).await.unwrap();
            let info = &page.entries[0];
            assert_eq!((info.token_kid.as_str(), info.token_fingerprint.as_str()), (kid, fingerprint));
        }
    }

    async fn a_waitpoint_is_closed_once_its_time_has_passed(h) {
        seed(&h).await;
        let (id, handle) = h.created_and_claimed().await;
        let made = h.backend.create_waitpoint(&handle, "key", Duration::from_millis(100)).await.unwrap().waitpoint_id;
        // Neither the caller's clock nor ours alone makes it due.
        close(&h, &id, &made, T0 + 900).await.unwrap();
        h.pass_ms(100);
        close(&h, &id, &made, T0 + 900).await.unwrap();
        h.pass_ms(1);
        close(&h, &id, &made, T0 + 100).await.unwrap();
        assert_eq!(waitpoints(&h, &id, "state").await, ["pending"]);
        close(&h, &id, &made, T0 + 101).await.unwrap();
        close(&h, &id, &made, T0 + 101).await.unwrap();
        assert_eq!(waitpoints(&h, &id, "state").await, [""; 0]);
        let refused = refusal(h.backend.close_waitpoint(partition_of(&id), &id, "?", TimestampMs::from_millis(0)).await);
        assert!(refused.starts_with("validation: InvalidInput: waitpoint_id not a UUID: "), "{refused}");
        let far = Partition { index: 40_000, ..partition_of(&id) };
        let refused = refusal(h.backend.close_waitpoint(far, &id, "?", TimestampMs::from_millis(0)).await);
        assert_eq!(refused, "validation: InvalidInput: partition index 40000 exceeds i16 range (max 32767)");
    }

    async fn closing_leaves_a_marker_unless_a_signal_came(h) {
        let end = TimestampMs::from_millis(T0 + 10);
        let lasting = |args: ff_core::contracts::SuspendArgs| {
            args.with_timeout(end, ff_core::contracts::TimeoutBehavior::Fail)
        };
        let silent = suspended_with(&h, lasting).await;
        let heard = suspended_with(&h, lasting).await;
        h.backend.deliver_signal(signal(&h, &heard, "other")).await.unwrap();
        h.pass_ms(11);
        for s in [&silent, &heard] {
            close(&h, &s.id, &s.details.waitpoint_id, T0 + 11).await.unwrap();
            assert_eq!(waitpoints(&h, &s.id, "state").await, [""; 0]);
        }
        let marked: serde_json::Value =
            serde_json::from_str(&suspension(&h, &silent.id, "member_map").await.unwrap()).unwrap();
        assert_eq!(marked["key"]["status"], "never_committed");
        assert_eq!(h.backend.observe_signals(&silent.handle).await.unwrap(), []);
        assert_eq!(h.backend.observe_signals(&heard.handle).await.unwrap().len(), 1);
        // Delivered to under the same key again, the marker gives way.
        let binding = crate::suspend::fresh("key");
        h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'active' WHERE {}", h.of(&silent.id))).await;
        h.alter("UPDATE ff_attempt SET lease_epoch = 1, outcome = NULL").await;
        let args = crate::suspend::suspending(&h, binding, named("key", "go"));
        let outcome = h.backend.suspend(&silent.before, args).await.unwrap();
        h.alter(&format!("UPDATE ff_suspension_current SET member_map = '{marked}' WHERE {}", h.of(&silent.id))).await;
        let again = crate::suspend::Suspended { details: outcome.details().clone(), ..silent };
        h.backend.deliver_signal(signal(&h, &again, "other")).await.unwrap();
        assert_eq!(h.backend.observe_signals(&again.handle).await.unwrap().len(), 1);
    }

    async fn a_token_of_an_older_secret_stays_good(h) {
        let s = suspended(&h).await;
        h.pass_ms(1);
        let rotated = rotate(&*h.backend, "k2", &"ab".repeat(32)).await.unwrap();
        assert!(matches!(rotated, RotateWaitpointHmacSecretOutcome::Rotated { .. }));
        h.backend.deliver_signal(signal(&h, &s, "go")).await.unwrap();
        assert_eq!(h.core(&s.id, "public_state").await, "resumable");
    }
}
