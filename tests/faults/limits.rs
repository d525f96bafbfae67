//! What is at an end: the disk, rights, locks, connections, numbers, sizes, time. Each is a clear error, or no
//! error at all; nothing panics and nothing is lost.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use ff_backend_sql::testing::{Clock, Step};
use ff_backend_sql::{PostgresBackend, PostgresConnection, SqliteBackend};
use ff_core::backend::{
    BackendConfig, BackendConnection, CapabilitySet, ClaimPolicy, FailureClass, FailureReason, Frame, FrameKind,
    Handle, TailVisibility,
};
use ff_core::contracts::{IssueClaimGrantArgs, IssueClaimGrantOutcome, ListExpiredLeasesArgs, StreamCursor};
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily};
use ff_core::state::PublicState;
use ff_core::types::{AttemptIndex, ExecutionId, LaneId, TimestampMs, WorkerId, WorkerInstanceId};
use sqlx::Connection as _;
use tracing::field::Field;
use tracing::{Event, Level, Metadata, span};

use crate::harness::{
    Harness as Opened, Kind, LEASE_MS, Place, T0, creation, id_in, on_every_database, payload, policy, refusal,
    run as run_on,
};
use crate::polled;

/// The size of a large payload.
const LARGE: usize = 64 << 20;

/// What every operation on one execution answers.
async fn everything(h: &Opened, id: &ExecutionId, handle: &Handle) -> Vec<(&'static str, Result<(), EngineError>)> {
    let b = &h.backend;
    let first = AttemptIndex::new(0);
    let soon = TimestampMs::from_millis(h.clock.now_ms() + 1);
    vec![
        ("describe_execution", b.describe_execution(id).await.map(drop)),
        ("read_execution_info", b.read_execution_info(id).await.map(drop)),
        ("read_execution_state", b.read_execution_state(id).await.map(drop)),
        ("read_execution_context", b.read_execution_context(id).await.map(drop)),
        ("get_execution_result", b.get_execution_result(id).await.map(drop)),
        ("get_execution_namespace", b.get_execution_namespace(id).await.map(drop)),
        ("get_execution_tag", b.get_execution_tag(id, "team.color").await.map(drop)),
        ("read_total_attempt_count", b.read_total_attempt_count(id).await.map(drop)),
        ("read_summary", b.read_summary(id, first).await.map(drop)),
        ("read_stream", b.read_stream(id, first, StreamCursor::Start, StreamCursor::End, 10).await.map(drop)),
        ("set_execution_tag", b.set_execution_tag(id, "team.color", "blue").await),
        ("renew", b.renew(handle).await.map(drop)),
        ("progress", b.progress(handle, Some(1), None).await),
        ("append_frame", b.append_frame(handle, Frame::new(b"x".to_vec(), FrameKind::Event)).await.map(drop)),
        ("delay", b.delay(handle, soon).await),
        ("fail", b.fail(handle, FailureReason::new("broken"), FailureClass::Transient).await.map(drop)),
        ("complete", b.complete(handle, None).await),
        ("cancel", b.cancel(handle, "unwanted").await),
    ]
}

fn ttl_policy(lease_ttl_ms: u32) -> ClaimPolicy {
    ClaimPolicy::new(WorkerId::new("w"), WorkerInstanceId::new("w-1"), lease_ttl_ms, None)
}

async fn claim_for(h: &Opened, lease_ttl_ms: u32) -> Handle {
    let none = CapabilitySet::new(std::iter::empty::<&str>());
    let claimed = h.backend.claim(&LaneId::new("lane"), &none, ttl_policy(lease_ttl_ms)).await;
    claimed.expect("the claim is answered").expect("there is something to claim")
}

on_every_database! {
    async fn a_damaged_document_is_named_and_spares_the_others(h) {
        for damage in h.declared().damaged_documents {
            let (id, handle) = h.created_and_claimed().await;
            let of = h.of(&id);
            h.alter(&format!("UPDATE ff_exec_core SET raw_fields = '{damage}' WHERE {of}")).await;
            for (name, answer) in everything(&h, &id, &handle).await {
                let Err(error) = answer else { continue };
                let refused = matches!(
                    error,
                    EngineError::Validation { kind: ValidationKind::Corruption, .. }
                        | EngineError::Contention(_) | EngineError::State(_) | EngineError::NotFound { .. }
                );
                assert!(refused, "{name} on {damage}: {error}");
            }
            let (_, other) = h.created_and_claimed().await;
            h.backend.complete(&other, None).await.unwrap();
            h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'terminal' WHERE {of}")).await;
        }
    }

    async fn a_partition_beyond_the_column_is_refused(h) {
        let (id, handle) = h.created_and_claimed().await;
        let beyond = id_in(40_000);
        let mut found = payload(&handle);
        found.execution_id = beyond.clone();
        let opaque = ff_core::handle_codec::encode(handle.backend, &found);
        let foreign = Handle::new(handle.backend, handle.kind, opaque);
        for (name, answer) in everything(&h, &beyond, &foreign).await {
            let error = answer.expect_err(name);
            assert!(matches!(error, EngineError::Validation { kind: ValidationKind::InvalidInput, .. }), "{name}: {error}");
            assert!(error.to_string().contains("40000 exceeds i16 range"), "{name}: {error}");
        }
        let state = h.backend.read_execution_state(&id).await.unwrap();
        assert_eq!(state, Some(PublicState::Active));
    }

    async fn attempts_and_epochs_beyond_the_columns_hold_no_lease(h) {
        let (id, handle) = h.created_and_claimed().await;
        let found = payload(&handle);
        for (attempt, epoch) in [(u32::MAX, 1), (0, u64::MAX), (u32::MAX, u64::MAX), (0, 0)] {
            let mut beyond = found.clone();
            beyond.attempt_index = AttemptIndex::new(attempt);
            beyond.lease_epoch = ff_core::types::LeaseEpoch::new(epoch);
            let opaque = ff_core::handle_codec::encode(handle.backend, &beyond);
            let foreign = Handle::new(handle.backend, handle.kind, opaque);
            for (name, answer) in [
                ("renew", h.backend.renew(&foreign).await.map(drop)),
                ("progress", h.backend.progress(&foreign, Some(1), None).await),
                ("complete", h.backend.complete(&foreign, None).await),
                ("cancel", h.backend.cancel(&foreign, "x").await),
            ] {
                let error = answer.expect_err(name);
                assert!(!matches!(error, EngineError::Transport { .. }), "{name} {attempt} {epoch}: {error}");
            }
        }
        let far = AttemptIndex::new(u32::MAX);
        for answer in [
            h.backend.read_summary(&id, far).await.map(drop),
            h.backend.read_stream(&id, far, StreamCursor::Start, StreamCursor::End, 10).await.map(drop),
            h.backend.tail_stream(&id, far, StreamCursor::At("0-0".into()), 0, 1, TailVisibility::All).await.map(drop),
        ] {
            if let Err(error) = answer {
                assert!(!matches!(error, EngineError::Transport { .. }), "{error}");
            }
        }
        h.backend.complete(&handle, None).await.unwrap();
    }

    async fn the_ends_of_the_priorities_are_kept(h) {
        let low = h.create_with(|args| args.priority = i32::MIN).await;
        let high = h.create_with(|args| args.priority = i32::MAX).await;
        assert_eq!(payload(&h.claim("worker").await.unwrap()).execution_id, high);
        assert_eq!(payload(&h.claim("worker").await.unwrap()).execution_id, low);
    }

    async fn payloads_of_64_mib_come_back_as_they_were(h) {
        let bytes: Vec<u8> = (0..LARGE).map(|at| (at % 251) as u8).collect();
        let input = bytes.clone();
        let id = h.create_with(|args| args.input_payload = input).await;
        let context = h.backend.read_execution_context(&id).await.unwrap();
        assert!(context.input_payload == bytes, "the input comes back");
        let handle = h.claim("worker").await.unwrap();
        h.backend.append_frame(&handle, Frame::new(bytes.clone(), FrameKind::Blob)).await.unwrap();
        h.backend.complete(&handle, Some(bytes.clone())).await.unwrap();
        let result = h.backend.get_execution_result(&id).await.unwrap();
        assert!(result.as_ref() == Some(&bytes), "the result comes back");
        let frames = h.backend.read_stream(&id, AttemptIndex::new(0), StreamCursor::Start, StreamCursor::End, 1).await;
        assert_eq!(frames.unwrap().frames.len(), 1);
    }

    async fn the_shortest_and_the_longest_leases_hold(h) {
        for ttl_ms in [0, 1, u32::MAX] {
            let id = h.create().await;
            let handle = claim_for(&h, ttl_ms).await;
            let end = (T0 + i64::from(ttl_ms)).to_string();
            assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, [end]);
            assert_eq!(h.backend.renew(&handle).await.unwrap().expires_at_ms, (T0 + i64::from(ttl_ms)) as u64);
            h.backend.complete(&handle, None).await.unwrap();
        }
    }

    async fn a_lease_that_would_end_after_the_end_of_time_ends_there(h) {
        let id = h.create().await;
        h.clock.set(i64::MAX - 10);
        let handle = claim_for(&h, u32::MAX).await;
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, [i64::MAX.to_string()]);
        let renewed = h.backend.renew(&handle).await.unwrap();
        assert_eq!(renewed.expires_at_ms, i64::MAX as u64);
        h.backend.append_frame(&handle, Frame::new(b"x".to_vec(), FrameKind::Event)).await.unwrap();
        h.backend.complete(&handle, None).await.unwrap();
    }

    async fn a_grant_may_last_until_the_end_of_time(h) {
        let id = h.create().await;
        let outcome = h.backend.issue_claim_grant(granting(&h, &id, u64::MAX)).await;
        match outcome {
            Ok(outcome) => assert_eq!(outcome, IssueClaimGrantOutcome::Granted { execution_id: id }),
            Err(error) => assert!(matches!(error, EngineError::Validation { .. }), "{error}"),
        }
    }

    async fn a_clock_that_jumps_back_loses_no_lease_and_no_order(h) {
        let (id, handle) = h.created_and_claimed().await;
        let first = h.backend.append_frame(&handle, Frame::new(b"1".to_vec(), FrameKind::Event)).await.unwrap();
        h.clock.set(T0 - 86_400_000);
        let second = h.backend.append_frame(&handle, Frame::new(b"2".to_vec(), FrameKind::Event)).await.unwrap();
        assert!(place_of(&second.stream_id) > place_of(&first.stream_id), "{} {}", second.stream_id, first.stream_id);
        let expired = h.backend.list_expired_leases(ListExpiredLeasesArgs::new(TimestampMs::from_millis(h.clock.now_ms())));
        assert!(expired.await.unwrap().entries.is_empty());
        let (other, _) = h.created_and_claimed().await;
        assert_ne!(other, id);
        let renewed = h.backend.renew(&handle).await.unwrap();
        assert_eq!(renewed.expires_at_ms as i64, T0 - 86_400_000 + LEASE_MS);
        h.backend.complete(&handle, None).await.unwrap();
        for now_ms in [0, -1, i64::MIN] {
            h.clock.set(now_ms);
            let (id, handle) = h.created_and_claimed().await;
            for (name, answer) in everything(&h, &id, &handle).await {
                if let Err(error) = answer {
                    assert!(!matches!(error, EngineError::Transport { .. }), "{name} at {now_ms}: {error}");
                }
            }
            // Whatever the answers were, nothing waits for the next round.
            h.alter("UPDATE ff_exec_core SET lifecycle_phase = 'terminal'").await;
        }
    }
}

/// The two numbers of a frame's id.
fn place_of(id: &str) -> (i64, i64) {
    let (ms, seq) = id.split_once('-').expect("an id");
    (ms.parse().expect("a time"), seq.parse().expect("a number"))
}

fn granting(h: &Opened, id: &ExecutionId, ttl_ms: u64) -> IssueClaimGrantArgs {
    IssueClaimGrantArgs::new(
        id.clone(),
        LaneId::new("lane"),
        WorkerId::new("w"),
        WorkerInstanceId::new("w-1"),
        Partition { family: PartitionFamily::Execution, index: id.partition() },
        Default::default(),
        ttl_ms,
        TimestampMs::from_millis(h.clock.now_ms()),
    )
}

#[tokio::test]
async fn a_full_disk_is_told_and_writing_goes_on_when_there_is_room_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.db").display().to_string();
    // The schema fits, and little more.
    let roomy = SqliteBackend::new(&path).await.unwrap();
    let pages: u32 = sqlx::query_scalar("PRAGMA page_count").fetch_one(roomy.pool_for_test()).await.unwrap();
    drop(roomy);
    let backend = SqliteBackend::new_with_page_limit(&path, pages + 40).await.unwrap();
    let args = |size| {
        let mut args = creation(id_in(0), T0);
        args.input_payload = vec![7; size];
        args
    };
    let small = args(10);
    let kept = small.execution_id.clone();
    backend.create_execution(small).await.unwrap();
    let full = loop {
        match EngineBackend::create_execution(&*backend, args(20_000)).await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(full.to_string().contains("database or disk is full"), "{full}");
    assert_eq!(backend.read_execution_state(&kept).await.unwrap(), Some(PublicState::Waiting), "reading goes on");
    let room = "DELETE FROM ff_exec_core WHERE length(payload) > 10";
    sqlx::query(room).execute(backend.pool_for_test()).await.unwrap();
    backend.create_execution(args(20_000)).await.unwrap();
}

#[tokio::test]
async fn a_file_that_may_only_be_read_is_read_and_refuses_to_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flow.db").display().to_string();
    let fresh = SqliteBackend::new(&format!("sqlite://{path}?mode=ro")).await.expect_err("there is no file");
    assert!(fresh.to_string().contains("unable to open database file"), "{fresh}");
    let writable = SqliteBackend::new(&path).await.unwrap();
    let args = creation(id_in(0), T0);
    let id = args.execution_id.clone();
    writable.create_execution(args).await.unwrap();
    drop(writable);
    let backend = SqliteBackend::new(&format!("sqlite://{path}?mode=ro")).await.unwrap();
    assert_eq!(backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Waiting));
    let refused = refusal(backend.set_execution_tag(&id, "team.color", "blue").await);
    assert!(refused.contains("attempt to write a readonly database"), "{refused}");
}

#[tokio::test]
async fn a_file_that_somebody_else_holds_is_told_of_and_written_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flow.db").display().to_string();
    let backend = SqliteBackend::new(&path).await.unwrap();
    let mut other = backend.pool_for_test().acquire().await.unwrap();
    let held = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let id = id_in(0);
    let locked = refusal(backend.create_execution(creation(id.clone(), T0)).await);
    assert!(locked.contains("database is locked"), "{locked}");
    held.rollback().await.unwrap();
    backend.create_execution(creation(id, T0)).await.unwrap();
}

#[tokio::test]
async fn a_log_that_a_reader_made_long_is_told_of_and_short_again_when_the_reader_has_ended() {
    const PAGES: u32 = 30;
    const LIMIT: u64 = 30 * (4_096 + 24);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flow.db").display().to_string();
    let heard = warnings();
    let opened = SqliteBackend::new_with_faults(&path, Clock::frozen(T0), PAGES, Box::new(|_, _| None));
    let backend = opened.await.unwrap();
    let length = || std::fs::metadata(format!("{path}-wal")).unwrap().len();
    let mut reader = backend.pool_for_test().begin().await.unwrap();
    let looked = sqlx::query("SELECT count(*) FROM ff_exec_core").execute(&mut *reader);
    looked.await.unwrap();
    while length() < 20 * LIMIT {
        backend.create_execution(creation(id_in(0), T0)).await.unwrap();
    }
    let is_told = |text: &&String| text.contains("a read that stays open") && text.contains(&path);
    let told = heard.lock().unwrap().iter().filter(is_told).count();
    assert!((2..=5).contains(&told), "each time that it is twice as long: {told}");
    reader.rollback().await.unwrap();
    for _ in 0..100 {
        backend.create_execution(creation(id_in(0), T0)).await.unwrap();
    }
    assert!(length() < 2 * LIMIT, "{} bytes", length());
}

/// Another process moves the log's pages, and SQLite tells whoever asks meanwhile less than none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_somebody_else_moves_is_left_to_them() {
    const PAGES: u32 = 30;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flow.db").display().to_string();
    let (reached, looks) = channel();
    let (allow, allowed) = channel();
    let (reached, allowed) = (Mutex::new(reached), Mutex::new(allowed));
    let (is_moving, has_looked) = (AtomicBool::new(true), AtomicBool::new(false));
    let hook = move |step: Step, _: &'static str| {
        // What comes next on the writer tells that it has looked.
        let is_writer = matches!(step, Step::Begin | Step::Checkpoint);
        if is_writer && has_looked.swap(false, Ordering::SeqCst) {
            reached.lock().unwrap().send(()).unwrap();
        }
        if step == Step::Checkpoint && is_moving.swap(false, Ordering::SeqCst) {
            reached.lock().unwrap().send(()).unwrap();
            allowed.lock().unwrap().recv().unwrap();
            has_looked.store(true, Ordering::SeqCst);
        }
        None
    };
    let backend = SqliteBackend::new_with_faults(&path, Clock::frozen(T0), PAGES, Box::new(hook)).await.unwrap();
    let mut reader = backend.pool_for_test().begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM ff_exec_core").execute(&mut *reader).await.unwrap();
    let writing = tokio::spawn(async move {
        for _ in 0..100 {
            backend.create_execution(creation(id_in(0), T0)).await.unwrap();
        }
    });
    let reached = tokio::task::block_in_place(|| looks.recv().map(|()| looks)).unwrap();
    // It waits for the reader with the log in its hands.
    let url = format!("sqlite://{path}");
    let mut other = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let moving = tokio::spawn(async move {
        sqlx::raw_sql("PRAGMA busy_timeout = 600000").execute(&mut other).await.unwrap();
        // Whoever asks at the same moment may be first.
        while log_state(&mut other, "PRAGMA wal_checkpoint(FULL)").await.0 != 0 {}
    });
    let mut third = sqlx::SqliteConnection::connect(&url).await.unwrap();
    while log_state(&mut third, "PRAGMA wal_checkpoint(PASSIVE)").await.1 >= 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    allow.send(()).unwrap();
    while reached.try_recv().is_err() {
        assert!(!writing.is_finished(), "it writes on");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    reader.rollback().await.unwrap();
    moving.await.unwrap();
    writing.await.expect("it writes on");
}

/// Whether the log could not be moved, and its length.
async fn log_state(connection: &mut sqlx::SqliteConnection, moving: &'static str) -> (i64, i64) {
    let (is_busy, pages, _): (i64, i64, i64) = sqlx::query_as(moving).fetch_one(connection).await.unwrap();
    (is_busy, pages)
}

/// What is told in this process from here on by warnings, whoever is meant.
fn warnings() -> Arc<Mutex<Vec<String>>> {
    static HEARD: OnceLock<Arc<Mutex<Vec<String>>>> = OnceLock::new();
    let heard = HEARD.get_or_init(|| {
        let heard = Arc::default();
        let _ = tracing::subscriber::set_global_default(Ear(Arc::clone(&heard)));
        heard
    });
    Arc::clone(heard)
}

struct Ear(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Ear {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = String::new();
        event.record(&mut |field: &Field, value: &dyn Debug| text.push_str(&format!("{field}={value:?} ")));
        if let Ok(mut heard) = self.0.lock() {
            heard.push(text);
        }
    }

    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// A backend whose pool has a single connection, on the database of the test.
async fn with_one_connection(h: &Opened, acquire_timeout: Duration) -> Arc<PostgresBackend> {
    let Place::Postgres { url } = h.place() else { panic!("Postgres was asked for") };
    let mut connection = PostgresConnection::new(url);
    connection.max_connections = 1;
    connection.acquire_timeout = acquire_timeout;
    let config = BackendConfig::new(BackendConnection::Postgres(connection));
    let opened = PostgresBackend::connect_with_clock(config, PartitionConfig::default(), h.clock.clone());
    opened.await.unwrap()
}

#[tokio::test]
async fn a_pool_without_a_free_connection_says_so() {
    run_on(Kind::Postgres, |h| async move {
        let backend = with_one_connection(&h, Duration::from_millis(100)).await;
        let only = backend.pool().acquire().await.unwrap();
        let none = CapabilitySet::new(std::iter::empty::<&str>());
        for answer in [
            backend.ping().await,
            EngineBackend::create_execution(&*backend, h.args()).await.map(drop),
            backend.claim(&LaneId::new("lane"), &none, policy("worker")).await.map(drop),
        ] {
            let waited = refusal(answer);
            assert!(waited.contains("pool timed out while waiting for an open connection"), "{waited}");
        }
        drop(only);
        backend.ping().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn an_operation_that_is_given_up_does_not_keep_the_next_one_from_its_commit() {
    run_on(Kind::Postgres, |h| async move {
        let backend = with_one_connection(&h, Duration::from_secs(60)).await;
        for polls in 1.. {
            let (held, handle) = h.created_and_claimed().await;
            // After a read the connection is at hand, so that the begin is among the first things waited for.
            EngineBackend::read_execution_state(&*backend, &held).await.unwrap();
            let given_up = polled(polls, EngineBackend::cancel(&*backend, &handle, "no longer wanted")).await;
            let next = h.args();
            let id = next.execution_id.clone();
            EngineBackend::create_execution(&*backend, next).await.unwrap();
            let seen = h.backend.read_execution_state(&id).await.unwrap();
            assert_eq!(seen, Some(PublicState::Waiting), "after {polls} polls");
            h.alter(&format!("DELETE FROM ff_exec_core WHERE {}", h.of(&id))).await;
            if given_up.is_some() {
                return;
            }
        }
    })
    .await;
}
