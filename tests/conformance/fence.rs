//! Who may write with a handle: every method that takes one, on every way to lose the lease.

use ff_core::backend::{
    BackendTag, FailOutcome, FailureClass, FailureReason, Frame, FrameKind, Handle, HandleKind, HandleOpaque,
    StreamMode,
};
use ff_core::contracts::{
    IssueReclaimGrantArgs, IssueReclaimGrantOutcome, ReclaimExecutionArgs, ReclaimExecutionOutcome,
};
use ff_core::handle_codec;
use ff_core::types::{AttemptId, AttemptIndex, ExecutionId, LaneId, LeaseId, TimestampMs, WorkerId, WorkerInstanceId};

use crate::harness::{Harness as Opened, LEASE_MS, LOST, T0, on_every_database, payload, refusal};

/// What every method answers to a handle, as text; `ok` when it worked.
async fn answers(h: &Opened, handle: &Handle) -> Vec<(&'static str, String)> {
    fn said<T>(answer: Result<T, ff_core::EngineError>) -> String {
        answer.map_or_else(|error| error.to_string(), |_| "ok".to_owned())
    }
    let b = &h.backend;
    let frame = || Frame::new(b"{}".to_vec(), FrameKind::Stdout);
    let reason = || FailureReason::new("no");
    vec![
        ("renew", said(b.renew(handle).await)),
        ("progress", said(b.progress(handle, Some(1), Some("m".to_owned())).await)),
        ("progress of nothing", said(b.progress(handle, None, None).await)),
        ("durable frame", said(b.append_frame(handle, frame()).await)),
        ("patch", said(b.append_frame(handle, frame().with_mode(StreamMode::durable_summary())).await)),
        ("live frame", said(b.append_frame(handle, frame().with_mode(StreamMode::best_effort_live(9))).await)),
        ("complete", said(b.complete(handle, Some(b"stolen".to_vec())).await)),
        ("fail", said(b.fail(handle, reason(), FailureClass::Transient).await)),
        ("fail for good", said(b.fail(handle, reason(), FailureClass::Permanent).await)),
        ("delay", said(b.delay(handle, TimestampMs::from_millis(T0 + 77)).await)),
        ("wait for children", said(b.wait_children(handle).await)),
        ("cancel", said(b.cancel(handle, "stolen").await)),
    ]
}

/// Everything that a write with a handle could change, as text.
async fn footprint(h: &Opened, id: &ExecutionId) -> Vec<String> {
    let mut seen = h.lease_events(id).await;
    seen.extend(h.completions(id).await);
    for column in ["lifecycle_phase", "public_state", "attempt_index", "raw_fields", "terminal_at_ms", "deadline_at_ms"]
    {
        let sql = format!("SELECT CAST({column} AS text) FROM ff_exec_core WHERE {}", h.of(id));
        seen.extend(h.texts(&sql).await);
    }
    for column in ["lease_expires_at_ms", "lease_epoch", "outcome", "terminal_at_ms", "worker_id"] {
        seen.extend(h.attempts(id, column).await);
    }
    for table in ["ff_stream_frame", "ff_stream_summary", "ff_stream_meta"] {
        seen.push(h.number(&format!("SELECT count(*) FROM {table}")).await.to_string());
    }
    seen
}

/// Every method refuses the handle with that text and leaves no trace.
async fn all_refuse(h: &Opened, id: &ExecutionId, handle: &Handle, expected: &str) {
    let before = footprint(h, id).await;
    for (method, answer) in answers(h, handle).await {
        assert_eq!(answer, expected, "{method}");
    }
    assert_eq!(footprint(h, id).await, before);
}

/// Reclaims an execution whose lease ran out as worker `rescuer`.
async fn reclaimed(h: &Opened, id: &ExecutionId, lease_ttl_ms: u64) -> Handle {
    try_reclaim(h, id, lease_ttl_ms).await.expect("reclaimed")
}

/// The same; nothing when the execution ended first.
async fn try_reclaim(h: &Opened, id: &ExecutionId, lease_ttl_ms: u64) -> Option<Handle> {
    let (worker, instance, lane) = (WorkerId::new("rescuer"), WorkerInstanceId::new("rescuer-1"), LaneId::new("lane"));
    let now = TimestampMs::from_millis(0);
    let asking = IssueReclaimGrantArgs::new(
        id.clone(),
        worker.clone(),
        instance.clone(),
        lane.clone(),
        None,
        60_000,
        None,
        None,
        Default::default(),
        now,
    );
    if !matches!(h.backend.issue_reclaim_grant(asking).await.unwrap(), IssueReclaimGrantOutcome::Granted(_)) {
        return None;
    }
    let using = ReclaimExecutionArgs::new(
        id.clone(),
        worker,
        instance,
        LaneId::new("another"),
        None,
        LeaseId::new(),
        lease_ttl_ms,
        AttemptId::new(),
        String::new(),
        None,
        WorkerInstanceId::new("worker-a-1"),
        AttemptIndex::new(0),
    );
    match h.backend.reclaim_execution(using).await.unwrap() {
        ReclaimExecutionOutcome::Claimed(handle) => Some(handle),
        _ => None,
    }
}

on_every_database! {
    async fn an_end_that_races_with_a_reclaim_never_ends_the_rescuers_run(h) {
        for _ in 0..12 {
            let (id, handle) = h.created_and_claimed().await;
            h.pass_ms(LEASE_MS + 1);
            let late = h.backend.complete(&handle, None);
            let (late, rescued) = tokio::join!(late, try_reclaim(&h, &id, 60_000));
            match (late, rescued) {
                (Ok(()), None) => {}
                (Err(refused), Some(held)) => {
                    assert_eq!(refused.to_string(), LOST);
                    h.backend.complete(&held, None).await.unwrap();
                }
                (late, rescued) => panic!("both or neither: {late:?}, {rescued:?}"),
            }
        }
    }

    async fn handles_of_other_backends_write_nothing(h) {
        let (id, handle) = h.created_and_claimed().await;
        let own = h.declared().tag;
        assert_eq!(handle.backend, own);
        for foreign in [BackendTag::Valkey, BackendTag::Sqlite, BackendTag::Postgres] {
            if foreign == own {
                continue;
            }
            let outer = Handle::new(foreign, handle.kind, handle.opaque.clone());
            let expected = format!("validation: HandleFromOtherBackend: expected={own:?} actual={foreign:?}");
            all_refuse(&h, &id, &outer, &expected).await;
            let inner = Handle::new(own, handle.kind, handle_codec::encode(foreign, &payload(&handle)));
            all_refuse(&h, &id, &inner, &format!("{expected} (embedded tag)")).await;
        }
    }

    async fn handles_that_do_not_decode_write_nothing(h) {
        let (id, handle) = h.created_and_claimed().await;
        let whole = handle.opaque.as_bytes().to_vec();
        let mut longer = whole.clone();
        longer.push(0);
        for bytes in [Vec::new(), vec![2], vec![2, 9, 3], vec![7, 7, 7], whole[..whole.len() - 1].to_vec(), longer] {
            let torn = Handle::new(handle.backend, HandleKind::Fresh, HandleOpaque::new(bytes.into()));
            let before = footprint(&h, &id).await;
            for (method, answer) in answers(&h, &torn).await {
                assert!(answer.starts_with("validation: Corruption: handle_codec: "), "{method}: {answer}");
            }
            assert_eq!(footprint(&h, &id).await, before);
        }
    }

    async fn another_epoch_writes_nothing(h) {
        let (id, handle) = h.created_and_claimed().await;
        for epoch in [0, 2, i64::MAX as u64] {
            let mut said = payload(&handle);
            said.lease_epoch = ff_core::types::LeaseEpoch::new(epoch);
            let other = Handle::new(handle.backend, handle.kind, handle_codec::encode(handle.backend, &said));
            all_refuse(&h, &id, &other, LOST).await;
        }
    }

    async fn the_handle_before_a_retry_writes_nothing_into_the_next_attempt(h) {
        let (id, old) = h.created_and_claimed().await;
        h.backend.fail(&old, FailureReason::new("no"), FailureClass::Transient).await.unwrap();
        let new = h.claim("worker-b").await.expect("it is tried again");
        assert_eq!((payload(&new).attempt_index.0, payload(&new).lease_epoch.0), (1, 1));
        let before = footprint(&h, &id).await;
        for (method, answer) in answers(&h, &old).await {
            // The failure that this handle did report is answered as before.
            assert_eq!(answer, if method == "fail" { "ok" } else { LOST }, "{method}");
        }
        assert_eq!(footprint(&h, &id).await, before);
        h.backend.complete(&new, None).await.unwrap();
    }

    async fn the_handle_before_a_reclaim_writes_nothing(h) {
        let (id, old) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        let new = reclaimed(&h, &id, 5_000).await;
        all_refuse(&h, &id, &old, LOST).await;
        h.backend.complete(&new, None).await.unwrap();
        all_refuse_but_cancel(&h, &id, &old).await;
    }

    async fn a_handle_writes_nothing_after_the_end(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        all_refuse_but_cancel(&h, &id, &handle).await;
    }

    async fn a_handle_writes_nothing_once_a_sweep_took_its_lease(h) {
        let (id, handle) = h.created_and_claimed().await;
        let swept = "lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now'";
        h.alter(&format!("UPDATE ff_exec_core SET {swept} WHERE {}", h.of(&id))).await;
        for (method, answer) in answers(&h, &handle).await {
            // Nobody else has begun, so the worker's word that it is not wanted any more still counts.
            assert_eq!(answer, if method == "cancel" { "ok" } else { LOST }, "{method}");
        }
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert_eq!(h.completions(&id).await, ["cancelled space instance-1"]);
        assert_eq!(h.number("SELECT count(*) FROM ff_stream_frame").await, 0);
    }

    async fn a_final_failure_is_not_answered_by_an_earlier_retry(h) {
        let (_, handle) = h.created_and_claimed().await;
        h.backend.fail(&handle, FailureReason::new("no"), FailureClass::Transient).await.unwrap();
        assert_eq!(refusal(h.backend.fail(&handle, FailureReason::new("no"), FailureClass::Permanent).await), LOST);
    }

    async fn a_delayed_retry_is_answered_again_with_its_time(h) {
        let backoff = ff_core::policy::BackoffStrategy::Fixed { delay_ms: 60_000 };
        let retry_policy = ff_core::policy::RetryPolicy { max_retries: 1, backoff, ..Default::default() };
        h.create_with(|args| {
            let policy = ff_core::policy::ExecutionPolicy::default();
            args.policy = Some(ff_core::policy::ExecutionPolicy { retry_policy: Some(retry_policy), ..policy });
        })
        .await;
        let handle = h.claim("worker-a").await.unwrap();
        let expected = FailOutcome::RetryScheduled { delay_until: TimestampMs::from_millis(T0 + 60_000) };
        for _ in 0..3 {
            let outcome = h.backend.fail(&handle, FailureReason::new("no"), FailureClass::Transient).await.unwrap();
            assert_eq!(outcome, expected);
            h.pass_ms(100);
        }
    }

    async fn the_new_lease_of_a_reclaim_may_last_for_ever(h) {
        let (id, _) = h.created_and_claimed().await;
        h.alter(&format!("UPDATE ff_exec_core SET lease_reclaim_count = -7 WHERE {}", h.of(&id))).await;
        h.pass_ms(LEASE_MS);
        let handle = reclaimed(&h, &id, u64::MAX).await;
        assert_eq!(payload(&handle).lane_id.as_str(), "lane", "the grant's lane");
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await[1], i64::MAX.to_string());
        assert_eq!(h.core(&id, "lease_reclaim_count").await, "1", "a negative count is none");
        let told = h.texts("SELECT lease_id FROM ff_lease_event ORDER BY event_id").await;
        assert_eq!(told[1], payload(&handle).lease_id.to_string());
        h.backend.renew(&handle).await.unwrap();
    }
}

/// As [`all_refuse`] for an execution that ended otherwise than by a cancellation.
async fn all_refuse_but_cancel(h: &Opened, id: &ExecutionId, handle: &Handle) {
    let before = footprint(h, id).await;
    let too_late =
        format!("validation: InvalidInput: cancel: execution_id={id}: already terminal in state 'completed'");
    for (method, answer) in answers(h, handle).await {
        assert_eq!(answer, if method == "cancel" { too_late.as_str() } else { LOST }, "{method}");
    }
    assert_eq!(footprint(h, id).await, before);
}
