//! Suspending, and the secrets and waitpoints that it needs.

use ff_core::backend::{Handle, HandleKind};
use ff_core::contracts::{
    CompositeBody, CountKind, DeliverSignalArgs, ResumeCondition, ResumePolicy, RotateWaitpointHmacSecretAllArgs,
    RotateWaitpointHmacSecretOutcome, SeedOutcome, SeedWaitpointHmacSecretArgs, SignalMatcher, SuspendArgs,
    SuspendOutcome, SuspendOutcomeDetails, SuspensionReasonCode, TimeoutBehavior, WaitpointBinding,
};
use ff_core::engine_backend::EngineBackend;
use ff_core::partition::{Partition, PartitionFamily, PartitionKey};
use ff_core::types::{
    AttemptId, ExecutionId, LeaseEpoch, LeaseFence, LeaseId, SignalId, SuspensionId, TimestampMs, WaitpointId,
};

use crate::harness::{Harness as Opened, LOST, T0, id_in, on_every_database, payload, refusal};

/// A secret as callers write it.
const SECRET: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
/// Another one.
const OTHER: &str = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

/// Installs the first secret, under `k1`.
pub(crate) async fn seed(h: &Opened) {
    let seeded = h.backend.seed_waitpoint_hmac_secret(SeedWaitpointHmacSecretArgs::new("k1", SECRET)).await.unwrap();
    assert_eq!(seeded, SeedOutcome::Seeded { kid: "k1".to_owned() });
}

/// Changes the secret.
pub(crate) async fn rotate(
    backend: &dyn EngineBackend,
    kid: &str,
    secret: &str,
) -> Result<RotateWaitpointHmacSecretOutcome, String> {
    let args = RotateWaitpointHmacSecretAllArgs::new(kid, secret, 1_000);
    let mut entries = backend.rotate_waitpoint_hmac_secret_all(args).await.map_err(|e| e.to_string())?.entries;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].partition, 0);
    entries.remove(0).result.map_err(|error| error.to_string())
}

/// Waits for the signal of that name at the waitpoint of that key.
pub(crate) fn named(key: &str, name: &str) -> ResumeCondition {
    ResumeCondition::Single { waitpoint_key: key.to_owned(), matcher: SignalMatcher::ByName(name.to_owned()) }
}

/// A new waitpoint of that key.
pub(crate) fn fresh(key: &str) -> WaitpointBinding {
    WaitpointBinding::Fresh { waitpoint_id: WaitpointId::new(), waitpoint_key: key.to_owned() }
}

/// Suspends for approval, now.
pub(crate) fn suspending(h: &Opened, binding: WaitpointBinding, condition: ResumeCondition) -> SuspendArgs {
    SuspendArgs::new(
        SuspensionId::new(),
        binding,
        condition,
        ResumePolicy::normal(),
        SuspensionReasonCode::WaitingForApproval,
        TimestampMs::from_millis(h.clock.now_ms()),
    )
}

/// A suspended execution.
pub(crate) struct Suspended {
    pub(crate) id: ExecutionId,
    /// The handle from before the suspension.
    pub(crate) before: Handle,
    /// The handle that the suspension gave.
    pub(crate) handle: Handle,
    pub(crate) details: SuspendOutcomeDetails,
}

/// Creates, claims and suspends an execution; it waits for `go` at the waitpoint `key`.
pub(crate) async fn suspended(h: &Opened) -> Suspended {
    suspended_with(h, |args| args).await
}

/// The same after a change to the arguments of the suspension.
pub(crate) async fn suspended_with(h: &Opened, change: impl FnOnce(SuspendArgs) -> SuspendArgs) -> Suspended {
    if h.number("SELECT count(*) FROM ff_waitpoint_hmac").await == 0 {
        seed(h).await;
    }
    let (id, before) = h.created_and_claimed().await;
    let args = change(suspending(h, fresh("key"), named("key", "go")));
    let (handle, details) = taken(h.backend.suspend(&before, args).await.unwrap());
    Suspended { id, before, handle, details }
}

pub(crate) fn taken(outcome: SuspendOutcome) -> (Handle, SuspendOutcomeDetails) {
    match outcome {
        SuspendOutcome::Suspended { details, handle } => (handle, details),
        other => panic!("not suspended: {other:?}"),
    }
}

/// A signal of that name for the first waitpoint of a suspension.
pub(crate) fn signal(h: &Opened, suspended: &Suspended, name: &str) -> DeliverSignalArgs {
    DeliverSignalArgs {
        execution_id: suspended.id.clone(),
        waitpoint_id: suspended.details.waitpoint_id.clone(),
        signal_id: SignalId::new(),
        signal_name: name.to_owned(),
        signal_category: "external".to_owned(),
        source_type: "user".to_owned(),
        source_identity: "alice".to_owned(),
        payload: None,
        payload_encoding: None,
        correlation_id: None,
        idempotency_key: None,
        target_scope: "waitpoint".to_owned(),
        created_at: None,
        dedup_ttl_ms: None,
        resume_delay_ms: None,
        max_signals_per_execution: None,
        signal_maxlen: None,
        waitpoint_token: suspended.details.waitpoint_token.token().clone(),
        now: TimestampMs::from_millis(h.clock.now_ms()),
    }
}

/// The partition of an execution.
pub(crate) fn partition_of(id: &ExecutionId) -> Partition {
    Partition { family: PartitionFamily::Execution, index: id.partition() }
}

/// The stored waitpoints of an execution, one column, in the order of their keys.
pub(crate) async fn waitpoints(h: &Opened, id: &ExecutionId, column: &str) -> Vec<String> {
    let sql = format!("SELECT CAST({column} AS text) FROM ff_waitpoint_pending WHERE {}", h.of(id));
    h.texts(&format!("{sql} ORDER BY waitpoint_key")).await
}

/// A column of the stored suspension of an execution; none when there is no suspension.
pub(crate) async fn suspension(h: &Opened, id: &ExecutionId, column: &str) -> Option<String> {
    let sql = format!("SELECT CAST({column} AS text) FROM ff_suspension_current WHERE {}", h.of(id));
    h.texts(&sql).await.pop()
}

pub(crate) fn triple(handle: &Handle) -> LeaseFence {
    let held = payload(handle);
    LeaseFence { lease_id: held.lease_id, lease_epoch: held.lease_epoch, attempt_id: held.attempt_id }
}

/// How many rows suspending has written, all together.
pub(crate) async fn written(h: &Opened) -> i64 {
    let mut rows = 0;
    for table in ["ff_waitpoint_pending", "ff_suspension_current", "ff_suspend_dedup", "ff_lease_event"] {
        rows += h.number(&format!("SELECT count(*) FROM {table}")).await;
    }
    rows
}

on_every_database! {
    async fn a_first_secret_is_seeded_once(h) {
        seed(&h).await;
        for (secret, same_secret) in [(SECRET, true), (OTHER, false)] {
            let args = SeedWaitpointHmacSecretArgs::new("k1", secret);
            let again = h.backend.seed_waitpoint_hmac_secret(args).await.unwrap();
            assert_eq!(again, SeedOutcome::AlreadySeeded { kid: "k1".to_owned(), same_secret });
        }
        let refused = refusal(h.backend.seed_waitpoint_hmac_secret(SeedWaitpointHmacSecretArgs::new("k2", OTHER)).await);
        assert_eq!(refused, "validation: InvalidInput: seed_waitpoint_hmac_secret: a different kid \"k1\" is already \
                             active; use rotate_waitpoint_hmac_secret_all to change kid");
        assert_eq!(h.number("SELECT count(*) FROM ff_waitpoint_hmac WHERE active AND rotated_at_ms = 1700000000000").await, 1);
    }

    async fn a_key_or_a_secret_of_the_wrong_shape_is_refused(h) {
        let long = format!("{SECRET}0");
        let foreign = "ä".repeat(32);
        for (kid, secret, detail) in [
            ("", "x", "kid must be non-empty"),
            ("a:b", "x", "kid must not contain ':' (token wire shape is `<kid>:<hex>`)"),
            ("k", "abcd", "secret_hex must be 64 hex characters (256-bit secret)"),
            ("k", &long, "secret_hex must be 64 hex characters (256-bit secret)"),
            ("k", &foreign, "secret_hex must be 64 hex characters (256-bit secret)"),
        ] {
            let expected = format!("validation: InvalidInput: {detail}");
            let seeded = h.backend.seed_waitpoint_hmac_secret(SeedWaitpointHmacSecretArgs::new(kid, secret)).await;
            assert_eq!(refusal(seeded), expected);
            assert_eq!(rotate(&*h.backend, kid, secret).await.unwrap_err(), expected);
        }
        assert_eq!(h.number("SELECT count(*) FROM ff_waitpoint_hmac").await, 0);
    }

    async fn secrets_are_rotated_and_old_ones_stay(h) {
        let rotated = |previous: Option<&str>, new: &str| RotateWaitpointHmacSecretOutcome::Rotated {
            previous_kid: previous.map(str::to_owned),
            new_kid: new.to_owned(),
            gc_count: 0,
        };
        assert_eq!(rotate(&*h.backend, "k1", SECRET).await, Ok(rotated(None, "k1")));
        h.pass_ms(1);
        assert_eq!(rotate(&*h.backend, "k2", OTHER).await, Ok(rotated(Some("k1"), "k2")));
        h.pass_ms(1);
        let noop = |kid: &str| RotateWaitpointHmacSecretOutcome::Noop { kid: kid.to_owned() };
        assert_eq!(rotate(&*h.backend, "k1", SECRET).await, Ok(noop("k1")));
        let conflict = rotate(&*h.backend, "k2", SECRET).await.unwrap_err();
        assert!(conflict.contains("kid k2 already installed with a different secret"), "{conflict}");
        let stored = h.texts("SELECT kid FROM ff_waitpoint_hmac WHERE active").await;
        assert_eq!(stored, ["k2"]);
        assert_eq!(h.number("SELECT count(*) FROM ff_waitpoint_hmac").await, 2);
    }

    async fn suspending_gives_the_lease_up_and_opens_the_waitpoint(h) {
        seed(&h).await;
        let (id, before) = h.created_and_claimed().await;
        h.pass_ms(5);
        let args = suspending(&h, fresh("key"), named("key", "go"));
        let wanted = args.clone();
        let (handle, details) = taken(h.backend.suspend(&before, args).await.unwrap());
        assert_eq!((handle.kind, payload(&handle)), (HandleKind::Suspended, payload(&before)));
        assert_eq!((details.suspension_id, details.waitpoint_key.as_str()), (wanted.suspension_id, "key"));
        let token = details.waitpoint_token.as_str().to_owned();
        assert!(token.starts_with("k1:") && token.len() == 3 + 64, "{token}");
        for (column, stored) in [
            ("lifecycle_phase", "suspended"),
            ("ownership_state", "released"),
            ("eligibility_state", "not_applicable"),
            ("public_state", "suspended"),
            ("attempt_state", "attempt_interrupted"),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        for (column, stored) in [
            ("worker_id", "null"),
            ("worker_instance_id", "null"),
            ("lease_expires_at_ms", "null"),
            ("lease_epoch", "2"),
            ("outcome", "attempt_interrupted"),
        ] {
            assert_eq!(h.attempts(&id, column).await, [stored], "{column}");
        }
        let now = (T0 + 5).to_string();
        for (column, stored) in [
            ("token", token.as_str()),
            ("token_kid", "k1"),
            ("state", "active"),
            ("created_at_ms", &now),
            ("activated_at_ms", &now),
            ("expires_at_ms", "null"),
        ] {
            assert_eq!(waitpoints(&h, &id, column).await, [stored], "{column}");
        }
        for (column, stored) in [
            ("suspended_at_ms", now.as_str()),
            ("timeout_at_ms", "null"),
            ("reason_code", "waiting_for_approval"),
            ("satisfied_set", "[]"),
            ("member_map", "{}"),
            ("timeout_behavior", "fail"),
        ] {
            assert_eq!(suspension(&h, &id, column).await.as_deref(), Some(stored), "{column}");
        }
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        let told = h.texts("SELECT lease_id || ' ' || namespace || ' ' || instance_tag FROM ff_lease_event \
                            WHERE event_type = 'revoked'").await;
        assert_eq!(told, [format!("{} space instance-1", payload(&before).lease_id)]);
        assert!(h.claim("worker-b").await.is_none());
        let state = h.backend.describe_execution(&id).await.unwrap().unwrap();
        assert_eq!(state.public_state, ff_core::state::PublicState::Suspended);
    }

    async fn a_suspended_execution_is_not_written_to_by_its_handles(h) {
        let s = suspended(&h).await;
        for handle in [&s.before, &s.handle] {
            assert_eq!(refusal(h.backend.complete(handle, None).await), LOST);
            assert_eq!(refusal(h.backend.renew(handle).await), LOST);
            let again = suspending(&h, fresh("key"), named("key", "go"));
            assert_eq!(refusal(h.backend.suspend(handle, again).await), LOST);
        }
        assert_eq!(h.core(&s.id, "public_state").await, "suspended");
        assert_eq!(waitpoints(&h, &s.id, "waitpoint_key").await.len(), 1);
    }

    async fn a_timeout_is_stored_with_the_suspension_and_its_waitpoint(h) {
        let at = TimestampMs::from_millis(T0 + 60_000);
        let s = suspended_with(&h, |args| args.with_timeout(at, TimeoutBehavior::Escalate)).await;
        assert_eq!(suspension(&h, &s.id, "timeout_at_ms").await, Some((T0 + 60_000).to_string()));
        assert_eq!(suspension(&h, &s.id, "timeout_behavior").await.as_deref(), Some("escalate"));
        assert_eq!(waitpoints(&h, &s.id, "expires_at_ms").await, [(T0 + 60_000).to_string()]);
    }

    async fn a_repetition_with_its_key_answers_the_same_and_writes_nothing(h) {
        seed(&h).await;
        let (id, before) = h.created_and_claimed().await;
        let key = || ff_core::contracts::IdempotencyKey::new("once");
        let args = || {
            let args = suspending(&h, fresh("key"), named("key", "go")).with_waitpoint(fresh("more"));
            args.with_idempotency_key(key())
        };
        let first = taken(h.backend.suspend(&before, args()).await.unwrap());
        let rows = written(&h).await;
        let second = taken(h.backend.suspend(&before, args()).await.unwrap());
        assert_eq!(first, second);
        assert_eq!(first.1.waitpoint_token.as_str(), second.1.waitpoint_token.as_str());
        assert_eq!(second.1.additional_waitpoints.len(), 1);
        let third = taken(h.backend.suspend_by_triple(id, triple(&before), args()).await.unwrap());
        assert_eq!(first.1, third.1);
        assert_eq!(written(&h).await, rows);
    }

    async fn an_empty_key_is_none(h) {
        let empty = ff_core::contracts::IdempotencyKey::new("");
        let s = suspended_with(&h, |args| args.with_idempotency_key(empty.clone())).await;
        let again = suspending(&h, fresh("key"), named("key", "go")).with_idempotency_key(empty);
        assert_eq!(refusal(h.backend.suspend(&s.before, again).await), LOST);
        assert_eq!(h.number("SELECT count(*) FROM ff_suspend_dedup").await, 0);
    }

    async fn a_key_of_another_execution_is_no_answer(h) {
        seed(&h).await;
        let key = || ff_core::contracts::IdempotencyKey::new("shared");
        let mut kept = Vec::new();
        for _ in 0..2 {
            let id = h.create_with(|args| args.execution_id = id_in(3)).await;
            let handle = h.claim("worker-a").await.unwrap();
            let args = suspending(&h, fresh("key"), named("key", "go")).with_idempotency_key(key());
            let (_, details) = taken(h.backend.suspend(&handle, args).await.unwrap());
            assert_eq!(h.core(&id, "public_state").await, "suspended");
            kept.push(details.suspension_id.to_string());
        }
        let stored = h.texts("SELECT CAST(outcome_json AS text) FROM ff_suspend_dedup ORDER BY 1").await;
        assert!(kept.iter().all(|kept| stored.iter().any(|stored| stored.contains(kept))), "{stored:?}");
        assert_eq!(stored.len(), 2);
    }

    async fn a_key_that_another_execution_uses_gives_idempotency_all_the_same(h) {
        seed(&h).await;
        for _ in 0..2 {
            h.create_with(|args| args.execution_id = id_in(3)).await;
            let handle = h.claim("worker-a").await.unwrap();
            let key = ff_core::contracts::IdempotencyKey::new("shared");
            let args = || suspending(&h, fresh("key"), named("key", "go")).with_idempotency_key(key.clone());
            let first = taken(h.backend.suspend(&handle, args()).await.unwrap());
            let rows = written(&h).await;
            assert_eq!(first, taken(h.backend.suspend(&handle, args()).await.unwrap()));
            assert_eq!(written(&h).await, rows);
        }
    }

    /// Programs that keep the key alone are understood where it is about the same execution.
    async fn a_key_that_was_kept_without_its_execution_counts_for_that_execution(h) {
        let key = ff_core::contracts::IdempotencyKey::new("once");
        let mut first = None;
        for _ in 0..2 {
            if first.is_none() {
                seed(&h).await;
            }
            let id = h.create_with(|args| args.execution_id = id_in(3)).await;
            let handle = h.claim("worker-a").await.unwrap();
            let args = || suspending(&h, fresh("key"), named("key", "go")).with_idempotency_key(key.clone());
            let done = taken(h.backend.suspend(&handle, args()).await.unwrap());
            assert_eq!(h.core(&id, "public_state").await, "suspended");
            if first.is_none() {
                h.alter("UPDATE ff_suspend_dedup SET idempotency_key = 'once'").await;
            }
            let rows = written(&h).await;
            assert_eq!(done, taken(h.backend.suspend(&handle, args()).await.unwrap()));
            assert_eq!(written(&h).await, rows);
            first.get_or_insert(done);
        }
    }

    async fn a_kept_outcome_that_cannot_be_read_is_corruption(h) {
        let key = ff_core::contracts::IdempotencyKey::new("once");
        let s = suspended_with(&h, |args| args.with_idempotency_key(key.clone())).await;
        for (document, detail) in [
            (r#"{"details":{"suspension_id":"?"}}"#, "dedup suspension_id: "),
            (r#"{"details":{"suspension_id":"00000000-0000-4000-8000-000000000001"}}"#, "dedup waitpoint_id: "),
            (
                r#"{"details":{"suspension_id":"00000000-0000-4000-8000-000000000001",
                    "waitpoint_id":"00000000-0000-4000-8000-000000000001","extras":[{}]}}"#,
                "dedup extra wp_id: ",
            ),
            (
                r#"{"details":{"suspension_id":"00000000-0000-4000-8000-000000000001",
                    "waitpoint_id":"00000000-0000-4000-8000-000000000001"},"handle_opaque_hex":"zz"}"#,
                "dedup handle hex: ",
            ),
        ] {
            h.alter(&format!("UPDATE ff_suspend_dedup SET outcome_json = '{document}'")).await;
            let again = suspending(&h, fresh("key"), named("key", "go")).with_idempotency_key(key.clone());
            let refused = refusal(h.backend.suspend(&s.before, again).await);
            assert!(refused.starts_with(&format!("validation: Corruption: {detail}")), "{refused}");
        }
    }

    async fn what_cannot_be_suspended_is_refused_and_nothing_written(h) {
        let (_, handle) = h.created_and_claimed().await;
        let args = || suspending(&h, fresh("key"), named("key", "go"));
        let rows = written(&h).await;
        let none = refusal(h.backend.suspend(&handle, args().with_waitpoints(Vec::new())).await);
        assert_eq!(none, "validation: InvalidInput: suspend requires at least one waitpoint binding");
        let unsigned = refusal(h.backend.suspend(&handle, args()).await);
        assert_eq!(unsigned, "validation: InvalidInput: ff_waitpoint_hmac empty — seed a kid before suspend");
        let unsigned = refusal(h.backend.create_waitpoint(&handle, "key", std::time::Duration::from_secs(1)).await);
        assert_eq!(unsigned, "validation: InvalidInput: ff_waitpoint_hmac empty — seed a kid before create_waitpoint");
        for nul in [
            suspending(&h, fresh("k\0"), named("key", "go")),
            suspending(&h, fresh("key"), named("key", "g\0")),
            args().with_idempotency_key(ff_core::contracts::IdempotencyKey::new("\0")),
        ] {
            let refused = refusal(h.backend.suspend(&handle, nul).await);
            assert!(refused.ends_with("must not contain U+0000"), "{refused}");
        }
        assert_eq!(written(&h).await, rows);
        h.alter("DELETE FROM ff_attempt").await;
        assert_eq!(refusal(h.backend.suspend(&handle, args()).await), "not found: attempt");
    }

    async fn a_secret_rotated_elsewhere_signs_the_next_waitpoint(h) {
        suspended(&h).await;
        let elsewhere = h.another_handle().await;
        h.pass_ms(1);
        rotate(&*elsewhere, "k2", OTHER).await.unwrap();
        let s = suspended(&h).await;
        assert!(s.details.waitpoint_token.as_str().starts_with("k2:"));
        rotate(&*elsewhere, "k3", SECRET).await.unwrap();
        h.pass_ms(1);
        let (_, handle) = h.created_and_claimed().await;
        h.alter("UPDATE ff_waitpoint_hmac SET rotated_at_ms = rotated_at_ms + 5 WHERE kid = 'k3'").await;
        let pending = h.backend.create_waitpoint(&handle, "key", std::time::Duration::from_secs(1)).await.unwrap();
        assert!(pending.hmac_token.as_str().starts_with("k3:"));
    }

    async fn several_waitpoints_are_opened_in_their_order_with_their_names(h) {
        let members = vec![
            named("b", "left"),
            named("a", "right"),
            ResumeCondition::Composite(CompositeBody::count(
                1,
                CountKind::DistinctSignals,
                Some(SignalMatcher::ByName("both".to_owned())),
                ["a".to_owned(), "b".to_owned()],
            )),
        ];
        let s = suspended_with(&h, |mut args| {
            args.resume_condition = ResumeCondition::Composite(CompositeBody::all_of(members));
            args.with_waitpoints(vec![fresh("b"), fresh("c"), fresh("a")])
        })
        .await;
        let extras: Vec<_> = s.details.additional_waitpoints.iter().map(|extra| extra.waitpoint_key.as_str()).collect();
        assert_eq!((s.details.waitpoint_key.as_str(), extras), ("b", vec!["c", "a"]));
        let listed = h.backend.list_pending_waitpoints(ff_core::contracts::ListPendingWaitpointsArgs::new(s.id.clone()));
        let mut listed = listed.await.unwrap().entries;
        listed.sort_by(|x, y| x.waitpoint_key.cmp(&y.waitpoint_key));
        let names: Vec<_> = listed.iter().map(|info| info.required_signal_names.join(" ")).collect();
        assert_eq!(names, ["right both", "left both", ""]);
        assert_eq!(waitpoints(&h, &s.id, "state").await, ["active"; 3]);
        assert_eq!(h.lease_events(&s.id).await, ["acquired", "revoked"]);
    }

    async fn a_pending_waitpoint_becomes_active_under_its_own_key(h) {
        seed(&h).await;
        let (id, handle) = h.created_and_claimed().await;
        let pending = h.backend.create_waitpoint(&handle, "later", std::time::Duration::from_secs(9)).await.unwrap();
        assert_eq!(waitpoints(&h, &id, "state").await, ["pending"]);
        h.pass_ms(7);
        let args = suspending(&h, WaitpointBinding::use_pending(&pending), named("later", "go"));
        let (_, details) = taken(h.backend.suspend(&handle, args).await.unwrap());
        assert_eq!((details.waitpoint_id, details.waitpoint_key.as_str()), (pending.waitpoint_id, "later"));
        assert_eq!(details.waitpoint_token.as_str(), pending.hmac_token.as_str());
        for (column, stored) in [
            ("state", "active".to_owned()),
            ("created_at_ms", T0.to_string()),
            ("activated_at_ms", (T0 + 7).to_string()),
            ("expires_at_ms", (T0 + 9_000).to_string()),
        ] {
            assert_eq!(waitpoints(&h, &id, column).await, [stored], "{column}");
        }
    }

    async fn a_pending_waitpoint_that_is_gone_is_made_with_an_empty_key(h) {
        seed(&h).await;
        let (id, handle) = h.created_and_claimed().await;
        let binding = WaitpointBinding::UsePending { waitpoint_id: WaitpointId::new() };
        let args = suspending(&h, binding, named("", "go"));
        let (_, details) = taken(h.backend.suspend(&handle, args).await.unwrap());
        assert_eq!(details.waitpoint_key, "");
        assert_eq!(waitpoints(&h, &id, "state").await, ["active"]);
    }

    async fn a_caller_without_a_handle_suspends_by_the_lease(h) {
        seed(&h).await;
        let (id, handle) = h.created_and_claimed().await;
        let args = || suspending(&h, fresh("key"), named("key", "go"));
        let stale = LeaseFence { lease_epoch: LeaseEpoch::new(7), ..triple(&handle) };
        assert_eq!(refusal(h.backend.suspend_by_triple(id.clone(), stale, args()).await), LOST);
        // A typed claim leaves the pointer one ahead of the attempt that runs.
        h.alter(&format!("UPDATE ff_exec_core SET attempt_index = 1 WHERE {}", h.of(&id))).await;
        let (suspended, _) = taken(h.backend.suspend_by_triple(id.clone(), triple(&handle), args()).await.unwrap());
        let held = payload(&suspended);
        assert_eq!((held.execution_id, held.attempt_index.0, held.lease_epoch.0), (id.clone(), 0, 1));
        assert_eq!((held.lease_ttl_ms, held.lane_id.as_str(), held.worker_instance_id.as_str()), (0, "", ""));
        assert_eq!(h.core(&id, "public_state").await, "suspended");
        assert_eq!(h.attempts(&id, "lease_epoch").await, ["2"]);
    }

    async fn without_an_execution_or_an_attempt_there_is_nothing_to_suspend(h) {
        seed(&h).await;
        let lease = || LeaseFence {
            lease_id: LeaseId::new(),
            lease_epoch: LeaseEpoch::new(1),
            attempt_id: AttemptId::new(),
        };
        let args = || suspending(&h, fresh("key"), named("key", "go"));
        let unknown = h.backend.suspend_by_triple(id_in(3), lease(), args()).await;
        assert_eq!(refusal(unknown), "not found: execution");
        let id = h.create().await;
        assert_eq!(refusal(h.backend.suspend_by_triple(id, lease(), args()).await), "not found: attempt");
    }

    async fn suspended_executions_are_listed_in_the_order_of_their_suspension(h) {
        let mut ids = Vec::new();
        seed(&h).await;
        for at in [30, 10, 20] {
            let id = h.create_with(|args| args.execution_id = id_in(5)).await;
            let handle = h.claim("worker-a").await.unwrap();
            let mut args = suspending(&h, fresh("key"), named("key", "go"));
            args.now = TimestampMs::from_millis(at);
            taken(h.backend.suspend(&handle, args).await.unwrap());
            ids.push(id);
        }
        let key = PartitionKey::from(partition_of(&ids[0]));
        let shown = |page: &ff_core::contracts::ListSuspendedPage| {
            page.entries.iter().map(|entry| entry.suspended_at_ms).collect::<Vec<_>>()
        };
        let first = h.backend.list_suspended(key.clone(), None, 2).await.unwrap();
        assert_eq!((shown(&first), &first.next_cursor), (vec![10, 20], &Some(ids[2].clone())));
        assert_eq!(first.entries[0].execution_id, ids[1]);
        assert_eq!(first.entries[0].reason, "waiting_for_approval");
        let second = h.backend.list_suspended(key.clone(), first.next_cursor, 2).await.unwrap();
        assert_eq!((shown(&second), second.next_cursor), (vec![30], None));
        assert!(h.backend.list_suspended(key.clone(), None, 0).await.unwrap().entries.is_empty());
        h.alter(&format!("DELETE FROM ff_suspension_current WHERE {}", h.of(&ids[1]))).await;
        let after_gone = h.backend.list_suspended(key.clone(), Some(ids[1].clone()), 9).await.unwrap();
        let greater = [&ids[0], &ids[2]].into_iter().filter(|id| id.as_str() > ids[1].as_str()).count();
        assert_eq!(after_gone.entries.len(), greater);
        h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'active' WHERE {}", h.of(&ids[2]))).await;
        assert_eq!(shown(&h.backend.list_suspended(key, None, 9).await.unwrap()), [30]);
        let malformed = serde_json::from_str::<PartitionKey>("\"nothing\"").unwrap();
        let refused = refusal(h.backend.list_suspended(malformed, None, 9).await);
        assert!(refused.starts_with("validation: InvalidInput: list_suspended: partition: "), "{refused}");
    }

    async fn many_suspend_at_once(h) {
        seed(&h).await;
        let mut tasks = Vec::new();
        for worker in 0..16 {
            h.create().await;
            let h = Arc::clone(&h);
            tasks.push(tokio::spawn(async move {
                let handle = h.claim(&format!("worker-{worker}")).await.expect("there is one for each");
                let args = suspending(&h, fresh("key"), named("key", "go"));
                h.backend.suspend(&handle, args).await.expect("each has a lease");
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(h.number("SELECT count(*) FROM ff_exec_core WHERE public_state = 'suspended'").await, 16);
    }
}
