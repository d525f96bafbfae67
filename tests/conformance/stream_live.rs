//! Streams while they are written: best-effort frames, and readers that wait for the next frame.

use std::time::Duration;

use ff_core::backend::{BestEffortLiveConfig, Frame, FrameKind, StreamMode, TailVisibility};
use ff_core::contracts::{StreamCursor, StreamFrames};
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::types::{AttemptIndex, ExecutionId};

use crate::harness::{Harness as Opened, PATIENCE, T0, id_in, on_every_database, refusal};

/// Longer than any test is patient.
const LONG_MS: u64 = 600_000;

fn text(text: &str) -> Frame {
    Frame::new(text.as_bytes().to_vec(), FrameKind::Stdout)
}

/// A frame of a stream that keeps between so many and so many.
fn live(floor: u32, ceiling: u32) -> Frame {
    let config = BestEffortLiveConfig::new(1_000).with_maxlen_floor(floor).with_maxlen_ceiling(ceiling);
    text("live").with_mode(StreamMode::best_effort_live_with_config(config))
}

/// Waits for frames after a place, for ever unless told otherwise.
async fn tail_of(
    backend: &dyn EngineBackend,
    id: &ExecutionId,
    after: &str,
    block_ms: u64,
    visibility: TailVisibility,
) -> Result<StreamFrames, EngineError> {
    let after = StreamCursor::At(after.to_owned());
    let tail = backend.tail_stream(id, AttemptIndex::new(0), after, block_ms, 100, visibility);
    tokio::time::timeout(PATIENCE, tail).await.expect("the tail answers")
}

async fn tail(h: &Opened, id: &ExecutionId, after: &str, block_ms: u64) -> Vec<String> {
    shown(tail_of(&*h.backend, id, after, block_ms, TailVisibility::All).await.unwrap())
}

fn shown(frames: StreamFrames) -> Vec<String> {
    assert_eq!((frames.closed_at, frames.closed_reason), (None, None));
    frames.frames.into_iter().map(|frame| frame.fields["payload"].clone()).collect()
}

/// The modes of an execution's frames, in their order.
async fn modes(h: &Opened, id: &ExecutionId) -> Vec<String> {
    h.texts(&format!("SELECT mode FROM ff_stream_frame WHERE {} ORDER BY ts_ms, seq", h.of(id))).await
}

/// What the stream remembers of its rate: average, last append, number kept.
async fn rate(h: &Opened, id: &ExecutionId) -> Vec<String> {
    let columns = "CAST(ema_rate_hz AS text) || ' ' || CAST(last_append_ts_ms AS text) || ' ' || CAST(maxlen_applied_last AS text)";
    h.texts(&format!("SELECT {columns} FROM ff_stream_meta WHERE {}", h.of(id))).await
}

/// Lets tasks that were just spawned come to where they wait. What is tested holds either way; this makes it
/// likely that the waiting is tested.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(100)).await;
}

on_every_database! {
    async fn a_trimmed_stream_keeps_its_floor_and_counts_right(h) {
        let (id, handle) = h.created_and_claimed().await;
        for n in 1..=12 {
            let appended = h.backend.append_frame(&handle, live(4, 100)).await.unwrap();
            assert_eq!(appended.frame_count, 4.min(n), "after {n}");
        }
        assert_eq!(modes(&h, &id).await, ["best_effort"; 4]);
        assert_eq!(h.backend.append_frame(&handle, text("kept")).await.unwrap().frame_count, 5);
        assert_eq!(h.backend.append_frame(&handle, live(4, 100)).await.unwrap().frame_count, 4);
        assert_eq!(modes(&h, &id).await, ["best_effort", "best_effort", "durable", "best_effort"]);
    }

    async fn the_oldest_go_whatever_their_mode(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.append_frame(&handle, text("durable")).await.unwrap();
        for _ in 0..3 {
            h.backend.append_frame(&handle, live(3, 100)).await.unwrap();
        }
        assert_eq!(modes(&h, &id).await, ["best_effort"; 3]);
    }

    async fn a_fast_stream_keeps_twice_its_time_to_live_up_to_its_ceiling(h) {
        let (id, handle) = h.created_and_claimed().await;
        let mut counts = Vec::new();
        for _ in 0..60 {
            h.pass_ms(100);
            counts.push(h.backend.append_frame(&handle, live(2, 15)).await.unwrap().frame_count);
        }
        // Ten frames a second and a second to live: twenty, which the ceiling makes fifteen.
        assert_eq!(counts.last(), Some(&15));
        assert_eq!(counts[1], 2, "the first rate is that of one gap: {counts:?}");
        assert!(rate(&h, &id).await[0].ends_with(&format!(" {} 15", T0 + 6_000)), "{:?}", rate(&h, &id).await);
    }

    async fn only_best_effort_frames_are_measured(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.append_frame(&handle, text("durable")).await.unwrap();
        assert!(rate(&h, &id).await.is_empty());
        h.backend.append_frame(&handle, live(64, 100)).await.unwrap();
        let unmeasured = format!("SELECT last_append_ts_ms FROM ff_stream_meta WHERE ema_rate_hz = 0 AND {}", h.of(&id));
        assert_eq!(h.number(&unmeasured).await, T0);
    }

    async fn a_tail_answers_at_once_what_is_there(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.append_frame(&handle, text("a")).await.unwrap();
        h.backend.append_frame(&handle, text("b")).await.unwrap();
        assert_eq!(tail(&h, &id, "0-0", LONG_MS).await, ["a", "b"]);
        assert_eq!(tail(&h, &id, &format!("{T0}-0"), LONG_MS).await, ["b"], "strictly after");
        assert_eq!(tail(&h, &id, "0", 0).await, ["a", "b"]);
        assert!(tail(&h, &id, &format!("{T0}-1"), 0).await.is_empty());
        assert!(tail(&h, &id_in(3), "0", 0).await.is_empty());
    }

    async fn a_tail_keeps_to_its_limit(h) {
        let (id, handle) = h.created_and_claimed().await;
        for word in ["a", "b", "c"] {
            h.backend.append_frame(&handle, text(word)).await.unwrap();
        }
        for (limit, expected) in [(2, 2), (0, 0)] {
            let after = StreamCursor::At("0".to_owned());
            let tail = h.backend.tail_stream(&id, AttemptIndex::new(0), after, LONG_MS, limit, TailVisibility::All);
            let frames = tokio::time::timeout(PATIENCE, tail).await.expect("it answers").unwrap();
            assert_eq!(frames.frames.len(), expected);
        }
    }

    async fn a_tail_needs_a_place_to_start_from(h) {
        for after in [StreamCursor::Start, StreamCursor::End] {
            let tail = h.backend.tail_stream(&id_in(3), AttemptIndex::new(0), after, 0, 9, TailVisibility::All).await;
            assert_eq!(refusal(tail), "validation: InvalidInput: tail_stream requires concrete after cursor");
        }
        let bad = tail_of(&*h.backend, &id_in(3), "5-x", 0, TailVisibility::All).await;
        assert_eq!(refusal(bad), "validation: InvalidInput: bad stream cursor '5-x' (seq)");
    }

    async fn a_tail_may_leave_out_best_effort_frames(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.append_frame(&handle, live(64, 100)).await.unwrap();
        h.backend.append_frame(&handle, text("durable")).await.unwrap();
        h.backend.append_frame(&handle, text("{}").with_mode(StreamMode::durable_summary())).await.unwrap();
        let durable = tail_of(&*h.backend, &id, "0", LONG_MS, TailVisibility::ExcludeBestEffort).await.unwrap();
        assert_eq!(shown(durable), ["durable", "{}"]);
        assert_eq!(tail(&h, &id, "0", LONG_MS).await.len(), 3);
    }

    async fn a_waiting_tail_wakes_when_a_frame_comes(h) {
        let (id, handle) = h.created_and_claimed().await;
        let waiting = tokio::spawn({
            let (h, id) = (Arc::clone(&h), id.clone());
            async move { tail(&h, &id, "0", LONG_MS).await }
        });
        settle().await;
        h.backend.append_frame(&handle, text("now")).await.unwrap();
        assert_eq!(waiting.await.unwrap(), ["now"]);
    }

    async fn a_tail_that_leaves_best_effort_out_sleeps_through_them(h) {
        let (id, handle) = h.created_and_claimed().await;
        let waiting = tokio::spawn({
            let (h, id) = (Arc::clone(&h), id.clone());
            async move { tail_of(&*h.backend, &id, "0", LONG_MS, TailVisibility::ExcludeBestEffort).await.unwrap() }
        });
        settle().await;
        h.backend.append_frame(&handle, live(64, 100)).await.unwrap();
        settle().await;
        h.backend.append_frame(&handle, text("durable")).await.unwrap();
        assert_eq!(shown(waiting.await.unwrap()), ["durable"]);
    }

    async fn another_streams_frames_are_not_answered(h) {
        let (id, handle) = h.created_and_claimed().await;
        let (_, other) = h.created_and_claimed().await;
        let waiting = tokio::spawn({
            let (h, id) = (Arc::clone(&h), id.clone());
            async move { tail(&h, &id, "0", LONG_MS).await }
        });
        settle().await;
        h.backend.append_frame(&other, text("other")).await.unwrap();
        settle().await;
        h.backend.append_frame(&handle, text("own")).await.unwrap();
        assert_eq!(waiting.await.unwrap(), ["own"]);
    }

    async fn a_tail_without_frames_ends_at_its_deadline(h) {
        let (id, _) = h.created_and_claimed().await;
        assert!(tail(&h, &id, "0", 20).await.is_empty());
    }

    async fn more_tails_than_connections_all_wake(h) {
        let (id, handle) = h.created_and_claimed().await;
        let readers = h.another_handle().await;
        let waiting: Vec<_> = (0..8)
            .map(|_| {
                let (readers, id) = (Arc::clone(&readers), id.clone());
                tokio::spawn(async move { tail_of(&*readers, &id, "0", LONG_MS, TailVisibility::All).await.unwrap() })
            })
            .collect();
        settle().await;
        readers.append_frame(&handle, text("all")).await.unwrap();
        for tail in waiting {
            assert_eq!(shown(tail.await.unwrap()), ["all"]);
        }
    }

    async fn two_handles_on_one_database_wake_each_other(h) {
        let (id, handle) = h.created_and_claimed().await;
        let other = h.another_handle().await;
        for n in 0..3 {
            let after = if n == 0 { "0".to_owned() } else { format!("{}-0", T0 + n - 1) };
            let waiting = tokio::spawn({
                let (other, id) = (Arc::clone(&other), id.clone());
                async move { tail_of(&*other, &id, &after, LONG_MS, TailVisibility::All).await.unwrap() }
            });
            settle().await;
            h.backend.append_frame(&handle, text(&n.to_string())).await.unwrap();
            assert_eq!(shown(waiting.await.unwrap()), [n.to_string()]);
            h.pass_ms(1);
        }
    }

    async fn a_dropped_tail_leaves_nothing_behind(h) {
        let (id, handle) = h.created_and_claimed().await;
        for _ in 0..20 {
            let after = StreamCursor::At("0".to_owned());
            let tail = h.backend.tail_stream(&id, AttemptIndex::new(0), after, LONG_MS, 9, TailVisibility::All);
            assert!(tokio::time::timeout(Duration::from_millis(5), tail).await.is_err(), "there is no frame");
        }
        h.backend.append_frame(&handle, text("x")).await.unwrap();
        assert_eq!(tail(&h, &id, "0", LONG_MS).await, ["x"]);
    }
}
