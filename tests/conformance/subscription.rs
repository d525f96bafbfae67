//! Following the outboxes: from a place or from now on, all partitions, with filters.

use std::time::Duration;

use ff_backend_sql::{PostgresBackend, SqliteBackend};
use ff_core::backend::{FailureClass, FailureReason, ScannerFilter};
use ff_core::completion_backend::CompletionBackend;
use ff_core::contracts::CancelExecutionArgs;
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::stream_events::{CompletionOutcome, LeaseHistoryEvent, SignalDeliveryEffect};
use ff_core::stream_subscribe::{StreamCursor, encode_postgres_event_cursor, encode_valkey_cursor};
use ff_core::types::{CancelSource, ExecutionId, TimestampMs};
use futures_core::Stream;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::harness::{Harness as Opened, PATIENCE, Sweeps, T0, on_every_database, uuid_of};

/// How long nothing may come before a test believes that nothing does.
const SILENCE: Duration = Duration::from_millis(100);

/// From the first event on.
fn beginning() -> StreamCursor {
    encode_postgres_event_cursor(0)
}

fn everything() -> ScannerFilter {
    ScannerFilter::new()
}

async fn next<T>(stream: &mut (impl Stream<Item = T> + Unpin)) -> T {
    timeout(PATIENCE, stream.next()).await.expect("something comes").expect("the stream goes on")
}

async fn take<T>(stream: &mut (impl Stream<Item = Result<T, EngineError>> + Unpin), count: usize) -> Vec<T> {
    let mut taken = Vec::new();
    for _ in 0..count {
        taken.push(next(stream).await.unwrap());
    }
    taken
}

async fn nothing_comes<T: std::fmt::Debug>(stream: &mut (impl Stream<Item = T> + Unpin)) {
    if let Ok(found) = timeout(SILENCE, stream.next()).await {
        panic!("nothing was to come, but {found:?} did");
    }
}

fn kind(event: &LeaseHistoryEvent) -> &'static str {
    match event {
        LeaseHistoryEvent::Acquired { .. } => "acquired",
        LeaseHistoryEvent::Renewed { .. } => "renewed",
        LeaseHistoryEvent::Expired { .. } => "expired",
        LeaseHistoryEvent::Reclaimed { .. } => "reclaimed",
        LeaseHistoryEvent::Revoked { .. } => "revoked",
        _ => "unknown",
    }
}

/// Writes lease events behind the backend's back: partition, execution, kind, lease, namespace, tag.
async fn tell_leases(h: &Opened, rows: &[&str]) {
    let rows = rows.join(", ");
    h.alter(&format!(
        "INSERT INTO ff_lease_event (partition_key, execution_id, event_type, occurred_at_ms, lease_id, namespace,
                                     instance_tag) VALUES {rows}"
    ))
    .await;
}

const SOME: &str = "11111111-1111-4111-8111-111111111111";

/// The backend under the trait of the engine's stream of completions.
fn completion_backend(h: &Opened) -> &dyn CompletionBackend {
    let backend = h.backend.as_any();
    match backend.downcast_ref::<SqliteBackend>() {
        Some(sqlite) => sqlite,
        None => backend.downcast_ref::<PostgresBackend>().expect("one of the two"),
    }
}

on_every_database! {
    async fn lease_events_are_followed_from_now_on(h) {
        h.created_and_claimed().await;
        let mut events = h.backend.subscribe_lease_history(StreamCursor::empty(), &everything()).await.unwrap();
        let (id, handle) = h.created_and_claimed().await;
        h.pass_ms(5);
        h.backend.renew(&handle).await.unwrap();
        h.backend.complete(&handle, None).await.unwrap();
        let found = take(&mut events, 3).await;
        assert_eq!(found.iter().map(kind).collect::<Vec<_>>(), ["acquired", "renewed", "revoked"]);
        for (event, at) in found.iter().zip([T0, T0 + 5, T0 + 5]) {
            assert_eq!((event.execution_id(), event.at().0), (&id, at));
        }
        assert!(found.is_sorted_by_key(|event| event.cursor().as_bytes().to_vec()));
        let LeaseHistoryEvent::Revoked { revoked_by, .. } = &found[2] else { panic!("{:?}", found[2]) };
        assert_eq!(revoked_by, "operator");
        nothing_comes(&mut events).await;
    }

    async fn a_cursor_leads_to_what_came_after_it(h) {
        let (_, handle) = h.created_and_claimed().await;
        h.backend.renew(&handle).await.unwrap();
        h.backend.complete(&handle, None).await.unwrap();
        let mut all = h.backend.subscribe_lease_history(beginning(), &everything()).await.unwrap();
        let first = take(&mut all, 3).await;
        drop(all);
        let mut rest = h.backend.subscribe_lease_history(first[0].cursor().clone(), &everything()).await.unwrap();
        assert_eq!(take(&mut rest, 2).await, first[1..]);
        h.created_and_claimed().await;
        assert_eq!(kind(&take(&mut rest, 1).await[0]), "acquired");
    }

    async fn a_completion_missed_while_away_comes_on_return(h) {
        let mut here = h.backend.subscribe_completion(StreamCursor::empty(), &everything()).await.unwrap();
        let (first, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        let seen = take(&mut here, 1).await.remove(0);
        assert_eq!(seen.execution_id, first);
        drop(here);
        let mut missed = Vec::new();
        for _ in 0..2 {
            let (id, handle) = h.created_and_claimed().await;
            h.backend.complete(&handle, None).await.unwrap();
            missed.push(id);
        }
        let mut back = h.backend.subscribe_completion(seen.cursor, &everything()).await.unwrap();
        let found: Vec<_> = take(&mut back, 2).await.into_iter().map(|event| event.execution_id).collect();
        assert_eq!(found, missed);
    }

    async fn outcomes_are_told_as_what_they_mean(h) {
        let mut events = h.backend.subscribe_completion(StreamCursor::empty(), &everything()).await.unwrap();
        let (_, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        let (_, handle) = h.created_and_claimed().await;
        let reason = FailureReason::new("broken");
        h.backend.fail(&handle, reason, FailureClass::Permanent).await.unwrap();
        let id = h.create().await;
        let args = CancelExecutionArgs {
            execution_id: id.clone(),
            reason: "no".to_owned(),
            source: CancelSource::OperatorOverride,
            lease_id: None,
            lease_epoch: None,
            attempt_id: None,
            now: TimestampMs::from_millis(T0 + 9),
        };
        h.backend.cancel_execution(args).await.unwrap();
        let found = take(&mut events, 3).await;
        let outcomes: Vec<_> = found.iter().map(|event| event.outcome.clone()).collect();
        assert_eq!(outcomes, [CompletionOutcome::Success, CompletionOutcome::Failure, CompletionOutcome::Cancelled]);
        assert_eq!((&found[2].execution_id, found[2].at.0), (&id, T0 + 9));
    }

    async fn unknown_outcomes_keep_their_word(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        for (stored, told) in [
            ("failure", CompletionOutcome::Failure),
            ("skipped", CompletionOutcome::Other("skipped".to_owned())),
        ] {
            h.alter(&format!("UPDATE ff_completion_event SET outcome = '{stored}' WHERE {}", h.of(&id))).await;
            let mut events = h.backend.subscribe_completion(beginning(), &everything()).await.unwrap();
            assert_eq!(take(&mut events, 1).await[0].outcome, told);
        }
    }

    async fn deliveries_of_signals_are_followed(h) {
        let id = h.create().await;
        let (uuid, partition) = (uuid_of(&id), id.partition());
        h.alter(&format!(
            "INSERT INTO ff_signal_event (execution_id, signal_id, waitpoint_id, source_identity, delivered_at_ms,
                                          partition_key)
             VALUES ('{uuid}', '{SOME}', '{SOME}', 'someone', 7, {partition}),
                    ('{uuid}', 'no uuid', NULL, NULL, 8, {partition}),
                    ('{uuid}', '{SOME}', 'no uuid', NULL, 9, {partition})"
        ))
        .await;
        let mut events = h.backend.subscribe_signal_delivery(beginning(), &everything()).await.unwrap();
        let found = take(&mut events, 2).await;
        let [first, second] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((&first.execution_id, first.signal_id.to_string().as_str()), (&id, SOME));
        assert_eq!(first.waitpoint_id.as_ref().map(ToString::to_string).as_deref(), Some(SOME));
        assert_eq!(first.source_identity.as_deref(), Some("someone"));
        assert_eq!((&first.effect, first.at.0), (&SignalDeliveryEffect::Satisfied, 7));
        assert_eq!((&second.waitpoint_id, &second.source_identity, second.at.0), (&None, &None, 9));
        assert!(second.cursor.as_bytes() > first.cursor.as_bytes());
    }

    async fn every_partition_is_followed(h) {
        tell_leases(&h, &[
            &format!("(0, '{SOME}', 'acquired', 1, '{SOME}', NULL, NULL)"),
            &format!("(1, '{SOME}', 'expired', 2, 'no uuid', NULL, NULL)"),
            &format!("(255, '{SOME}', 'reclaimed', 3, '{SOME}', NULL, NULL)"),
        ])
        .await;
        let mut events = h.backend.subscribe_lease_history(beginning(), &everything()).await.unwrap();
        let found = take(&mut events, 3).await;
        for (event, partition) in found.iter().zip([0, 1, 255]) {
            assert_eq!(event.execution_id().as_str(), format!("{{fp:{partition}}}:{SOME}"));
        }
        let LeaseHistoryEvent::Acquired { lease_id: Some(_), worker_instance_id: None, .. } = &found[0] else {
            panic!("{:?}", found[0])
        };
        let LeaseHistoryEvent::Expired { lease_id: None, prev_owner: None, .. } = &found[1] else {
            panic!("{:?}", found[1])
        };
        let LeaseHistoryEvent::Reclaimed { new_lease_id: Some(_), new_owner: None, .. } = &found[2] else {
            panic!("{:?}", found[2])
        };
    }

    async fn rows_that_cannot_be_read_are_passed_over(h) {
        // Where the tables are spread an outbox has no wider number than other tables.
        let beyond = if h.is_spread() { -2 } else { 70_000 };
        tell_leases(&h, &[
            "(0, 'no uuid', 'acquired', 1, NULL, NULL, NULL)",
            &format!("(0, '{SOME}', 'stolen', 2, NULL, NULL, NULL)"),
            &format!("(-1, '{SOME}', 'acquired', 3, NULL, NULL, NULL)"),
            &format!("({beyond}, '{SOME}', 'acquired', 4, NULL, NULL, NULL)"),
            &format!("(0, '{SOME}', 'renewed', 5, NULL, NULL, NULL)"),
        ])
        .await;
        let mut events = h.backend.subscribe_lease_history(beginning(), &everything()).await.unwrap();
        assert_eq!(take(&mut events, 1).await[0].at().0, 5);
        h.created_and_claimed().await;
        assert_eq!(kind(&take(&mut events, 1).await[0]), "acquired");
    }

    async fn a_filter_picks_by_namespace_and_by_tag(h) {
        let mut ids: Vec<ExecutionId> = Vec::new();
        for (namespace, instance, team) in [("space", "one", "red"), ("space", "two", "blue"), ("other", "one", "blue")] {
            let id = h
                .create_with(|args| {
                    args.namespace = ff_core::types::Namespace::new(namespace);
                    args.tags = [("cairn.instance_id", instance), ("app.team", team)]
                        .map(|(key, value)| (key.to_owned(), value.to_owned()))
                        .into();
                })
                .await;
            let handle = h.claim("worker-a").await.unwrap();
            h.backend.complete(&handle, None).await.unwrap();
            ids.push(id);
        }
        tell_leases(&h, &[&format!("(0, '{SOME}', 'renewed', 5, NULL, NULL, NULL)")]).await;
        for (filter, picked) in [
            (everything().with_namespace("space"), vec![0, 1]),
            (everything().with_instance_tag("cairn.instance_id", "one"), vec![0, 2]),
            (everything().with_namespace("space").with_instance_tag("cairn.instance_id", "one"), vec![0]),
            (everything().with_instance_tag("app.team", "blue"), vec![1, 2]),
            (everything().with_instance_tag("app.team", "green"), vec![]),
        ] {
            let expected: Vec<_> = picked.iter().map(|place: &usize| ids[*place].clone()).collect();
            let mut completions = h.backend.subscribe_completion(beginning(), &filter).await.unwrap();
            let found = take(&mut completions, expected.len()).await;
            assert_eq!(found.into_iter().map(|event| event.execution_id).collect::<Vec<_>>(), expected, "{filter:?}");
            let mut leases = h.backend.subscribe_lease_history(beginning(), &filter).await.unwrap();
            let found = take(&mut leases, expected.len() * 2).await;
            assert!(found.iter().all(|event| expected.contains(event.execution_id())), "{filter:?}");
            nothing_comes(&mut completions).await;
            nothing_comes(&mut leases).await;
        }
    }

    async fn bytes_of_another_kind_are_no_cursor(h) {
        let foreign = [encode_valkey_cursor(1, 2), StreamCursor::new(vec![2, 0]), StreamCursor::new(vec![3; 9])];
        for cursor in foreign {
            let refused = [
                ("lease_history", h.backend.subscribe_lease_history(cursor.clone(), &everything()).await.err()),
                ("completion", h.backend.subscribe_completion(cursor.clone(), &everything()).await.err()),
                ("signal_delivery", h.backend.subscribe_signal_delivery(cursor, &everything()).await.err()),
            ];
            for (family, refused) in refused {
                let Some(EngineError::Validation { kind: ValidationKind::InvalidInput, detail }) = refused else {
                    panic!("{refused:?}")
                };
                let expected = match h.declared().label {
                    "postgres" => "stream_subscribe: cursor does not belong to the Postgres backend".to_owned(),
                    _ => format!("invalid event_id cursor for sqlite.subscribe_{family}"),
                };
                assert_eq!(detail, expected);
            }
        }
    }

    async fn tags_of_instances_cannot_be_followed(h) {
        let refused = h.backend.subscribe_instance_tags(StreamCursor::empty()).await.err();
        assert!(matches!(refused, Some(EngineError::Unavailable { op: "subscribe_instance_tags" })), "{refused:?}");
    }

    async fn a_consumer_that_stalls_gets_everything_in_order(h) {
        let mut events = h.backend.subscribe_completion(StreamCursor::empty(), &everything()).await.unwrap();
        let mut ids = Vec::new();
        for _ in 0..300 {
            let (id, handle) = h.created_and_claimed().await;
            h.backend.complete(&handle, None).await.unwrap();
            ids.push(id);
        }
        let found = take(&mut events, ids.len()).await;
        assert_eq!(found.into_iter().map(|event| event.execution_id).collect::<Vec<_>>(), ids);
        nothing_comes(&mut events).await;
    }

    async fn a_long_history_is_read_page_by_page(h) {
        let (_, handle) = h.created_and_claimed().await;
        for _ in 0..600 {
            h.backend.renew(&handle).await.unwrap();
        }
        // Rows may be gone for good, at the beginning and between.
        h.alter("DELETE FROM ff_lease_event WHERE event_id <= 10 OR event_id % 50 = 0").await;
        let left = h.number("SELECT count(*) FROM ff_lease_event").await;
        let mut events = h.backend.subscribe_lease_history(beginning(), &everything()).await.unwrap();
        let found = take(&mut events, usize::try_from(left).unwrap()).await;
        assert!(found.is_sorted_by(|one, two| one.cursor().as_bytes() < two.cursor().as_bytes()));
        nothing_comes(&mut events).await;
        h.backend.renew(&handle).await.unwrap();
        take(&mut events, 1).await;
    }

    async fn what_many_workers_write_at_once_comes_exactly_once(h) {
        let mut leases = h.backend.subscribe_lease_history(StreamCursor::empty(), &everything()).await.unwrap();
        let mut completions = h.backend.subscribe_completion(StreamCursor::empty(), &everything()).await.unwrap();
        let workers = (0..8).map(|_| {
            let h = std::sync::Arc::clone(&h);
            tokio::spawn(async move {
                for _ in 0..20 {
                    h.create().await;
                    if let Some(handle) = h.claim("worker-a").await {
                        h.backend.complete(&handle, None).await.unwrap();
                    }
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.await.unwrap();
        }
        let stored = |table: &str| format!("SELECT CAST(event_id AS text) AS shown FROM {table} ORDER BY event_id");
        let expected = h.texts(&stored("ff_lease_event")).await;
        let found = take(&mut leases, expected.len()).await;
        let found: Vec<_> = found.iter().map(|event| place(event.cursor())).collect();
        assert_eq!(found, expected);
        let expected = h.texts(&stored("ff_completion_event")).await;
        let found = take(&mut completions, expected.len()).await;
        let found: Vec<_> = found.iter().map(|event| place(&event.cursor)).collect();
        assert_eq!(found, expected);
    }

    async fn a_stream_that_is_dropped_holds_nobody_up(h) {
        let events = h.backend.subscribe_completion(StreamCursor::empty(), &everything()).await.unwrap();
        let (_, handle) = h.created_and_claimed().await;
        drop(events);
        h.backend.complete(&handle, None).await.unwrap();
        h.created_and_claimed().await;
    }

    async fn a_stream_ends_with_its_backend_after_what_was_committed(h) {
        let other = h.another_place().open(&h.clock, Sweeps::Off).await;
        let mut events = other.subscribe_lease_history(StreamCursor::empty(), &everything()).await.unwrap();
        let id = h.args().execution_id.clone();
        let mut args = h.args();
        args.partition_id = id.partition();
        args.execution_id = id.clone();
        other.create_execution(args).await.unwrap();
        let lane = ff_core::types::LaneId::new("lane");
        let capabilities = ff_core::backend::CapabilitySet::new(Vec::<String>::new());
        let claimed = other.claim(&lane, &capabilities, crate::harness::policy("worker-a")).await.unwrap();
        assert!(claimed.is_some());
        drop(other);
        assert_eq!(next(&mut events).await.unwrap().execution_id(), &id);
        assert!(timeout(PATIENCE, events.next()).await.expect("the stream ends").is_none());
    }

    async fn the_engine_follows_completions_in_the_words_of_the_tables(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        let mut all = completion_backend(&h).subscribe_completions().await.unwrap();
        let filter = everything().with_instance_tag("cairn.instance_id", "one");
        let mut some = completion_backend(&h).subscribe_completions_filtered(&filter).await.unwrap();
        let of = h.of(&id).trim_start_matches("execution_id = ").to_owned();
        let partition = id.partition();
        let rows: Vec<String> = (0..5)
            .map(|n| format!("({partition}, {of}, {of}, 'complete', {n}, CASE WHEN {n} = 3 THEN 'one' END)"))
            .collect();
        h.alter(&format!(
            "INSERT INTO ff_completion_event (partition_key, execution_id, flow_id, outcome, occurred_at_ms, instance_tag)
             VALUES {}",
            rows.join(", ")
        ))
        .await;
        // Written behind the backend's back, so this is what wakes it.
        let (second, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        for n in 0..5 {
            let found = next(&mut all).await;
            assert_eq!((&found.execution_id, found.outcome.as_str(), found.produced_at_ms.0), (&id, "complete", n));
            assert_eq!(found.flow_id.map(|flow| flow.to_string()), Some(uuid_of(&id)));
            assert_eq!(found.payload_bytes, None);
        }
        let found = next(&mut all).await;
        assert_eq!((found.execution_id, found.outcome.as_str(), found.flow_id), (second, "success", None));
        assert_eq!(next(&mut some).await.produced_at_ms.0, 3);
    }
}

/// The event id in a cursor, as text.
fn place(cursor: &StreamCursor) -> String {
    let id = ff_core::stream_subscribe::decode_postgres_event_cursor(cursor).expect("a cursor");
    id.expect("a place").to_string()
}
