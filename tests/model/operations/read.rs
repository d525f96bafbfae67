//! Reading executions, streams and lists, and following the outboxes.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use ff_core::backend::{ScannerFilter, TailVisibility};
use ff_core::contracts::{ExpiredLeasesCursor, ListExpiredLeasesArgs, ListPendingWaitpointsArgs, StreamCursor};
use ff_core::engine_error::EngineError;
use ff_core::stream_subscribe::encode_postgres_event_cursor;
use ff_core::types::{AttemptIndex, ExecutionId, LaneId};
use futures_core::Stream;
use futures_util::StreamExt as _;

use super::operations;
use crate::numbers::Numbers;
use crate::side::{Side, namespace, partition_of, some_partition_key};

operations! {
    12 read_execution: |s, n| {
        let id = s.execution(n);
        let mut told = Vec::new();
        let r = s.backend.describe_execution(&id).await;
        told.push(s.told(&r));
        let r = s.backend.read_execution_info(&id).await;
        told.push(s.told(&r));
        let r = s.backend.read_execution_state(&id).await;
        told.push(s.told(&r));
        let r = s.backend.read_execution_context(&id).await;
        let r = r.map(|c| (c.input_payload, c.execution_kind, c.tags.into_iter().collect::<BTreeMap<_, _>>()));
        told.push(s.told(&r));
        let r = s.backend.get_execution_result(&id).await;
        told.push(s.told(&r));
        let r = s.backend.get_execution_namespace(&id).await;
        told.push(s.told(&r));
        let r = s.backend.resolve_execution_flow_id(&id).await;
        told.push(s.told(&r));
        told.join("; ")
    };
    6 read_attempts: |s, n| {
        let id = s.execution(n);
        let r = s.backend.read_current_attempt_index(&id).await;
        let told = s.told(&r);
        let r = s.backend.read_total_attempt_count(&id).await;
        format!("{told}; {}", s.told(&r))
    };
    4 read_exec_core_fields: |s, n| {
        let id = s.execution(n);
        let fields = n.of([
            &["public_state", "lane_id", "priority", "namespace", "execution_kind"][..],
            &["deadline_at_ms", "current_attempt_index", "blocking_reason", "flow_id", "created_at", "terminal_outcome"],
            &["no_such_field", "lifecycle_phase", "ownership_state", "eligibility_state", "attempt_state", "tags"],
            &["current_lease_id", "current_lease_epoch", "current_worker_instance_id", "lease_expires_at"],
            &[],
        ]);
        let partition = partition_of(&id, n);
        let r = s.backend.read_exec_core_fields(partition, &id, fields).await;
        let r = r.map(|fields| fields.into_iter().collect::<BTreeMap<_, _>>());
        s.told(&r)
    };
    6 set_execution_tag: |s, n| {
        let (id, key) = (s.execution(n), n.of(["team.color", "cairn.instance_id", "team.size", "NoNamespace"]));
        let r = s.backend.set_execution_tag(&id, key, n.of(["blue", "one", ""])).await;
        s.told(&r)
    };
    3 get_execution_tag: |s, n| {
        let (id, key) = (s.execution(n), n.of(["team.color", "cairn.instance_id", "NoNamespace"]));
        let r = s.backend.get_execution_tag(&id, key).await;
        s.told(&r)
    };
    6 list_executions: |s, n| {
        let (partition, limit) = (some_partition_key(n), n.of([10, 1, 0, 3]));
        let cursor = if n.one_in(3) { Some(s.execution(n)) } else { None };
        let r = s.backend.list_executions(partition, cursor, limit).await;
        s.told(&r)
    };
    4 list_suspended: |s, n| {
        let (partition, limit) = (some_partition_key(n), n.of([10, 1, 0]));
        let cursor = if n.one_in(3) { Some(s.execution(n)) } else { None };
        let r = s.backend.list_suspended(partition, cursor, limit).await;
        s.told(&r)
    };
    3 list_lanes: |s, n| {
        let cursor = n.of([None, Some("lane")]).map(LaneId::new);
        let r = s.backend.list_lanes(cursor, n.of([10, 1, 0])).await;
        s.told(&r)
    };
    6 list_expired_leases: |s, n| {
        let mut args = ListExpiredLeasesArgs::new(s.in_ms(n.of([0, 60_000, -30_000])));
        args.limit = n.of([None, Some(1), Some(0)]);
        args.namespace = n.of([None, None, Some(())]).map(|()| namespace(n));
        if n.one_in(3) {
            args.after = Some(ExpiredLeasesCursor::new(s.in_ms(-1_000), s.execution(n)));
        }
        let r = s.backend.list_expired_leases(args).await;
        s.told(&r)
    };
    6 list_pending_waitpoints: |s, n| {
        let id = s.known.waitpoints.last().map(|waitpoint| waitpoint.execution.clone());
        let id = match id { Some(id) if !n.one_in(3) => id, _ => s.execution(n) };
        // The order is that of the ids, some of which the backend makes: all pages, in an order of the test.
        let mut found = Vec::new();
        let mut args = ListPendingWaitpointsArgs::new(id);
        args.limit = n.of([None, Some(1)]);
        loop {
            match s.backend.list_pending_waitpoints(args.clone()).await {
                Ok(page) => {
                    for mut entry in page.entries {
                        // It comes from a secret that may be made up.
                        entry.token_fingerprint.clear();
                        found.push(s.told_of(&("waitpoint", entry)));
                    }
                    match page.next_cursor {
                        Some(cursor) => args.after = Some(cursor),
                        None => break,
                    }
                }
                Err(error) => {
                    found.push(s.told::<()>(&Err(error)));
                    break;
                }
            }
        }
        found.sort_unstable();
        found.join("; ")
    };
    4 read_waitpoint_token: |s, n| {
        let Some(waitpoint) = n.from(&s.known.waitpoints).cloned() else { return super::NOTHING.to_owned() };
        let partition = partition_of(&waitpoint.execution, n).into();
        let r = s.backend.read_waitpoint_token(partition, &waitpoint.id).await;
        s.told(&r)
    };
    10 read_stream: |s, n| {
        let (id, attempt) = stream(s, n);
        let (from, limit) = (n.of([StreamCursor::Start.to_wire(), "0-0"]).to_owned(), n.of([100, 1]));
        let from = if from == "-" { StreamCursor::Start } else { StreamCursor::At(from) };
        let r = s.backend.read_stream(&id, attempt, from, StreamCursor::End, limit).await;
        let mut told = vec![s.told(&r)];
        let visibility = n.of([TailVisibility::All, TailVisibility::ExcludeBestEffort]);
        let r = s.backend.tail_stream(&id, attempt, StreamCursor::from_beginning(), 0, 100, visibility).await;
        told.push(s.told(&r));
        let r = s.backend.read_summary(&id, attempt).await;
        told.push(s.told(&r));
        told.join("; ")
    };
    3 follow_leases: |s, n| {
        let (filter, among) = filter(n);
        let expected = s.harness().number(&format!("SELECT count(*) FROM ff_lease_event {among}")).await;
        let stream = s.backend.subscribe_lease_history(encode_postgres_event_cursor(0), &filter).await;
        followed(s, stream, expected).await
    };
    3 follow_completions: |s, n| {
        let (filter, among) = filter(n);
        let expected = s.harness().number(&format!("SELECT count(*) FROM ff_completion_event {among}")).await;
        let stream = s.backend.subscribe_completion(encode_postgres_event_cursor(0), &filter).await;
        followed(s, stream, expected).await
    };
    3 follow_signals: |s, n| {
        let (filter, among) = filter(n);
        let expected = s.harness().number(&format!("SELECT count(*) FROM ff_signal_event {among}")).await;
        let stream = s.backend.subscribe_signal_delivery(encode_postgres_event_cursor(0), &filter).await;
        followed(s, stream, expected).await
    };
    1 ask_the_backend_itself: |s, n| {
        let r = s.backend.ping().await;
        let mut told = vec![s.told(&r)];
        let r = s.backend.prepare().await;
        told.push(s.told(&r));
        let r = s.backend.subscribe_instance_tags(encode_postgres_event_cursor(0)).await.map(drop);
        told.push(s.told(&r));
        let r = s.backend.server_time_ms().await.map(drop);
        told.push(s.told(&r));
        told.join("; ")
    };
}

/// An attempt that may have a stream.
fn stream(s: &mut Side, n: &mut Numbers) -> (ExecutionId, AttemptIndex) {
    match s.held(n) {
        Some((_, held)) if !n.one_in(3) => (held.execution_id, held.attempt_index),
        _ => (s.execution(n), AttemptIndex::new(0)),
    }
}

/// Everything, or what belongs to one namespace, and the condition on the rows.
fn filter(n: &mut Numbers) -> (ScannerFilter, &'static str) {
    match n.below(3) {
        0 | 1 => (ScannerFilter::new(), ""),
        _ => {
            (ScannerFilter::new().with_namespace(ff_core::types::Namespace::new("other")), "WHERE namespace = 'other'")
        }
    }
}

/// As many events as there are, in their order.
async fn followed<T: Debug>(
    s: &mut Side,
    stream: Result<impl Stream<Item = Result<T, EngineError>> + Unpin, EngineError>,
    expected: i64,
) -> String {
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => return s.told::<()>(&Err(error)),
    };
    let mut told = Vec::new();
    for _ in 0..expected {
        match tokio::time::timeout(Duration::from_secs(10), stream.next()).await {
            Ok(Some(event)) => told.push(s.told(&event)),
            Ok(None) | Err(_) => {
                told.push(format!("no more of {expected}"));
                break;
            }
        }
    }
    told.join("; ")
}
