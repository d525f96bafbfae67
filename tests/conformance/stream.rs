//! The stream of an attempt: appending frames, reading ranges, rolling a summary.

use std::collections::BTreeSet;

use ff_core::backend::{Frame, FrameKind, Handle, PatchKind, StreamMode};
use ff_core::contracts::{StreamCursor, StreamFrame};
use ff_core::types::{AttemptIndex, ExecutionId, LeaseEpoch};
use serde_json::{Value, json};

use crate::harness::{Harness as Opened, LOST, T0, id_in, on_every_database, refusal};

/// A durable frame of text.
fn text(text: &str) -> Frame {
    Frame::new(text.as_bytes().to_vec(), FrameKind::Stdout)
}

/// A frame that is merged into the summary.
fn patch(patch: &Value) -> Frame {
    text(&patch.to_string()).with_mode(StreamMode::durable_summary())
}

fn at(place: &str) -> StreamCursor {
    StreamCursor::At(place.to_owned())
}

async fn read(h: &Opened, id: &ExecutionId, from: StreamCursor, to: StreamCursor, limit: u64) -> Vec<StreamFrame> {
    let read = h.backend.read_stream(id, AttemptIndex::new(0), from, to, limit).await.unwrap();
    assert_eq!((read.closed_at, read.closed_reason), (None, None));
    read.frames
}

async fn payloads(h: &Opened, id: &ExecutionId) -> Vec<String> {
    let frames = read(h, id, StreamCursor::Start, StreamCursor::End, 1_000).await;
    frames.into_iter().map(|frame| frame.fields["payload"].clone()).collect()
}

/// Appends patches and answers the summary they make.
async fn merged(h: &Opened, id: &ExecutionId, handle: &Handle, patches: &[Value]) -> Value {
    for each in patches {
        h.backend.append_frame(handle, patch(each)).await.unwrap();
    }
    let summary = h.backend.read_summary(id, AttemptIndex::new(0)).await.unwrap().expect("a summary");
    serde_json::from_slice(&summary.document_json).unwrap()
}

/// The handle after another lease took over.
fn outdated(handle: &Handle) -> Handle {
    let mut payload = crate::harness::payload(handle);
    payload.lease_epoch = LeaseEpoch::new(payload.lease_epoch.0 + 1);
    Handle::new(handle.backend, handle.kind, ff_core::handle_codec::encode(handle.backend, &payload))
}

on_every_database! {
    async fn frames_are_counted_and_placed_by_time(h) {
        let (id, handle) = h.created_and_claimed().await;
        let expected = [(0, format!("{T0}-0"), 1), (0, format!("{T0}-1"), 2), (5, format!("{}-0", T0 + 5), 3)];
        for (after_ms, place, count) in expected {
            h.pass_ms(after_ms);
            let appended = h.backend.append_frame(&handle, text("x")).await.unwrap();
            assert_eq!((appended.stream_id, appended.frame_count, appended.summary_version), (place, count, None));
        }
        let ids: Vec<_> =
            read(&h, &id, StreamCursor::Start, StreamCursor::End, 9).await.into_iter().map(|frame| frame.id).collect();
        assert_eq!(ids, [format!("{T0}-0"), format!("{T0}-1"), format!("{}-0", T0 + 5)]);
        assert_eq!(h.lease_events(&id).await, ["acquired"]);
    }

    async fn places_grow_when_the_clock_goes_back(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.append_frame(&handle, text("first")).await.unwrap();
        h.clock.set(T0 - 1_000);
        let appended = h.backend.append_frame(&handle, text("second")).await.unwrap();
        assert_eq!((appended.stream_id, appended.frame_count), (format!("{T0}-1"), 2));
        assert_eq!(payloads(&h, &id).await, ["first", "second"]);
    }

    async fn a_frame_shows_its_members(h) {
        let (id, handle) = h.created_and_claimed().await;
        let kinds = [
            (FrameKind::Stdout, "stdout"),
            (FrameKind::Stderr, "stderr"),
            (FrameKind::Event, "event"),
            (FrameKind::Blob, "blob"),
        ];
        for (kind, _) in kinds {
            h.backend.append_frame(&handle, Frame::new(b"Gr\xc3\xb6\xc3\x9fe".to_vec(), kind)).await.unwrap();
        }
        let named = text("\"{}\\").with_frame_type("log").with_correlation_id("call-1");
        h.backend.append_frame(&handle, named).await.unwrap();
        let frames = read(&h, &id, StreamCursor::Start, StreamCursor::End, 9).await;
        for (frame, (_, word)) in frames.iter().zip(kinds) {
            let members: Vec<_> = frame.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let expected = [("encoding", "utf8"), ("frame_type", word), ("payload", "Größe"), ("source", "worker")];
            assert_eq!(members, expected);
        }
        let named = &frames[4].fields;
        assert_eq!((named["frame_type"].as_str(), named["correlation_id"].as_str()), ("log", "call-1"));
        assert_eq!(named["payload"], "\"{}\\");
    }

    async fn bytes_that_are_no_text_come_back(h) {
        let (id, handle) = h.created_and_claimed().await;
        // The same bytes in base64, by hand.
        for (bytes, stored) in [(&b"\xff\x00\xfe\x61"[..], "/wD+YQ=="), (b"a\0b", "YQBi"), (b"", "")] {
            h.backend.append_frame(&handle, Frame::new(bytes.to_vec(), FrameKind::Blob)).await.unwrap();
            let last = read(&h, &id, StreamCursor::Start, StreamCursor::End, 9).await.pop().expect("a frame");
            assert_eq!(last.fields["payload"], stored);
            assert_eq!(last.fields["encoding"], if bytes.is_empty() { "utf8" } else { "base64" });
        }
    }

    async fn a_nul_in_the_words_around_a_frame_is_refused(h) {
        let (id, handle) = h.created_and_claimed().await;
        let refused = refusal(h.backend.append_frame(&handle, text("x").with_frame_type("a\0")).await);
        assert_eq!(refused, "validation: InvalidInput: frame_type: must not contain U+0000");
        let refused = refusal(h.backend.append_frame(&handle, text("x").with_correlation_id("a\0")).await);
        assert_eq!(refused, "validation: InvalidInput: correlation_id: must not contain U+0000");
        assert!(payloads(&h, &id).await.is_empty());
    }

    async fn a_range_includes_both_ends(h) {
        let (id, handle) = h.created_and_claimed().await;
        for word in ["a", "b", "c", "d"] {
            h.pass_ms(1);
            h.backend.append_frame(&handle, text(word)).await.unwrap();
        }
        let place = |after_ms: i64| at(&(T0 + after_ms).to_string());
        let words = |frames: Vec<StreamFrame>| -> String {
            frames.into_iter().map(|frame| frame.fields["payload"].clone()).collect()
        };
        for (from, to, limit, expected) in [
            (StreamCursor::Start, StreamCursor::End, 10, "abcd"),
            (place(2), place(3), 10, "bc"),
            (at(&format!("{}-0", T0 + 2)), at(&format!("{}-0", T0 + 2)), 10, "b"),
            (at(&format!("{}-1", T0 + 2)), StreamCursor::End, 10, "cd"),
            (StreamCursor::Start, StreamCursor::End, 2, "ab"),
            (StreamCursor::Start, StreamCursor::End, 0, ""),
            (StreamCursor::End, StreamCursor::End, 10, ""),
            (StreamCursor::Start, StreamCursor::Start, 10, ""),
            (StreamCursor::End, StreamCursor::Start, 10, ""),
            (place(3), place(2), 10, ""),
        ] {
            let case = format!("{from:?} {to:?} {limit}");
            assert_eq!(words(read(&h, &id, from, to, limit).await), expected, "{case}");
        }
    }

    async fn a_place_beyond_the_column_keeps_its_order(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.append_frame(&handle, text("x")).await.unwrap();
        assert_eq!(read(&h, &id, StreamCursor::Start, at(&format!("{T0}-99999999999")), 9).await.len(), 1);
        assert!(read(&h, &id, at(&format!("{T0}-99999999999")), StreamCursor::End, 9).await.is_empty());
    }

    async fn a_bad_place_says_which_part(h) {
        let id = id_in(3);
        for (place, part) in [("x", "(ms)"), ("", "(ms)"), ("-1", "(ms)"), ("5-x", "(seq)"), ("5-", "(seq)")] {
            let expected = format!("validation: InvalidInput: bad stream cursor '{place}' {part}");
            let index = AttemptIndex::new(0);
            let from = h.backend.read_stream(&id, index, at(place), StreamCursor::End, 9).await;
            assert_eq!(refusal(from), expected);
            let to = h.backend.read_stream(&id, index, StreamCursor::Start, at(place), 9).await;
            assert_eq!(refusal(to), expected);
        }
    }

    async fn what_nobody_wrote_is_empty(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.append_frame(&handle, text("x")).await.unwrap();
        assert!(read(&h, &id_in(3), StreamCursor::Start, StreamCursor::End, 9).await.is_empty());
        let other = h.backend.read_stream(&id, AttemptIndex::new(1), StreamCursor::Start, StreamCursor::End, 9).await;
        assert!(other.unwrap().frames.is_empty());
        assert!(h.backend.read_summary(&id, AttemptIndex::new(0)).await.unwrap().is_none());
    }

    async fn a_read_has_at_most_ten_thousand_frames(h) {
        let (id, handle) = h.created_and_claimed().await;
        let uuid = h.of(&id).replace("execution_id = ", "");
        let partition = id.partition();
        h.alter(&format!(
            "INSERT INTO ff_stream_frame
                    (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
             WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10005)
             SELECT {partition}, {uuid}, 0, n, 0, '{{\"payload\":\"x\"}}', 'durable', n FROM numbers"
        ))
        .await;
        let frames = read(&h, &id, StreamCursor::Start, StreamCursor::End, u64::MAX).await;
        assert_eq!((frames.len(), frames[9_999].id.as_str()), (10_000, "10000-0"));
        let counted = h.backend.append_frame(&handle, text("ours")).await.unwrap();
        assert_eq!(counted.frame_count, 10_006, "frames of other writers count");
        assert_eq!(h.backend.append_frame(&handle, text("ours")).await.unwrap().frame_count, 10_007);
    }

    async fn an_append_is_fenced_by_the_epoch(h) {
        let (id, handle) = h.created_and_claimed().await;
        assert_eq!(refusal(h.backend.append_frame(&outdated(&handle), text("x")).await), LOST);
        let config = ff_core::backend::BestEffortLiveConfig::new(1_000);
        let live = text("x").with_mode(StreamMode::best_effort_live_with_config(config));
        assert_eq!(refusal(h.backend.append_frame(&outdated(&handle), live).await), LOST);
        assert_eq!(refusal(h.backend.append_frame(&outdated(&handle), patch(&json!({"a": 1}))).await), LOST);
        assert!(payloads(&h, &id).await.is_empty());
        assert!(h.backend.read_summary(&id, AttemptIndex::new(0)).await.unwrap().is_none());
    }

    async fn an_attempt_that_is_not_stored_is_appended_to(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.alter(&format!("DELETE FROM ff_attempt WHERE {}", h.of(&id))).await;
        assert_eq!(h.backend.append_frame(&handle, text("x")).await.unwrap().frame_count, 1);
        assert_eq!(h.backend.append_frame(&handle, patch(&json!({"a": 1}))).await.unwrap().summary_version, Some(1));
        assert_eq!(payloads(&h, &id).await, ["x", r#"{"a":1}"#]);
    }

    async fn appends_at_once_get_places_of_their_own(h) {
        let (id, handle) = h.created_and_claimed().await;
        let appends: Vec<_> = (0..16)
            .map(|n| {
                let (h, handle) = (Arc::clone(&h), handle.clone());
                tokio::spawn(async move { h.backend.append_frame(&handle, text(&n.to_string())).await.unwrap() })
            })
            .collect();
        let mut places = BTreeSet::new();
        let mut counts = BTreeSet::new();
        for append in appends {
            let appended = append.await.unwrap();
            assert!(places.insert(appended.stream_id), "one place, two frames");
            counts.insert(appended.frame_count);
        }
        assert_eq!(counts, (1..=16).collect());
        assert_eq!(payloads(&h, &id).await.len(), 16);
    }

    async fn patches_roll_into_one_summary(h) {
        let (id, handle) = h.created_and_claimed().await;
        let first = h.backend.append_frame(&handle, patch(&json!({"tokens": 1, "model": "m"}))).await.unwrap();
        assert_eq!((first.frame_count, first.summary_version), (1, Some(1)));
        h.pass_ms(7);
        let second = h.backend.append_frame(&handle, patch(&json!({"tokens": 2, "done": true}))).await.unwrap();
        assert_eq!((second.frame_count, second.summary_version), (2, Some(2)));
        let summary = h.backend.read_summary(&id, AttemptIndex::new(0)).await.unwrap().unwrap();
        let document: Value = serde_json::from_slice(&summary.document_json).unwrap();
        assert_eq!(document, json!({"tokens": 2, "model": "m", "done": true}));
        assert_eq!((summary.version, summary.patch_kind), (2, PatchKind::JsonMergePatch));
        assert_eq!((summary.first_applied_ms, summary.last_updated_ms), (T0 as u64, T0 as u64 + 7));
        assert_eq!(payloads(&h, &id).await.len(), 2);
        h.backend.complete(&handle, None).await.unwrap();
        assert!(h.backend.read_summary(&id, AttemptIndex::new(0)).await.unwrap().is_some(), "no lease is needed");
    }

    async fn a_null_removes_and_the_sentinel_sets_null(h) {
        let (id, handle) = h.created_and_claimed().await;
        let made = merged(&h, &id, &handle, &[
            json!({"a": 1, "b": {"c": 1, "d": 2}, "e": [1, null, "__ff_null__"]}),
            json!({"a": null, "b": {"c": null, "x": "__ff_null__"}, "f": "__ff_null__", "absent": null}),
        ])
        .await;
        assert_eq!(made, json!({"b": {"d": 2, "x": null}, "e": [1, null, "__ff_null__"], "f": null}));
    }

    async fn an_object_replaces_what_is_none_and_anything_else_replaces_all(h) {
        let (id, handle) = h.created_and_claimed().await;
        let patches = [json!({"a": 1}), json!({"a": {"b": {"c": null}}}), json!({"list": [{"x": null}]})];
        let made = merged(&h, &id, &handle, &patches).await;
        assert_eq!(made, json!({"a": {"b": {}}, "list": [{"x": null}]}));
        assert_eq!(merged(&h, &id, &handle, &[json!("__ff_null__")]).await, json!("__ff_null__"));
        assert_eq!(merged(&h, &id, &handle, &[json!([1])]).await, json!([1]));
        assert_eq!(merged(&h, &id, &handle, &[json!({"k": "v"})]).await, json!({"k": "v"}));
    }

    async fn a_patch_that_is_no_json_writes_nothing(h) {
        let (id, handle) = h.created_and_claimed().await;
        let bad = text("{").with_mode(StreamMode::durable_summary());
        let refused = refusal(h.backend.append_frame(&handle, bad).await);
        assert!(refused.starts_with("validation: InvalidInput: summary patch not valid JSON: "), "{refused}");
        assert!(payloads(&h, &id).await.is_empty());
        let next = h.backend.append_frame(&handle, patch(&json!({"a": 1}))).await.unwrap();
        assert_eq!((next.frame_count, next.summary_version), (1, Some(1)));
    }

    async fn a_patch_with_a_nul_writes_nothing(h) {
        let (id, handle) = h.created_and_claimed().await;
        for bad in [json!({"a": "x\0"}), json!({"a\0": 1}), json!({"a": [{"b": "\0"}]})] {
            let refused = refusal(h.backend.append_frame(&handle, patch(&bad)).await);
            assert!(refused.starts_with("validation: InvalidInput: ") && refused.contains("U+0000"), "{refused}");
        }
        assert!(payloads(&h, &id).await.is_empty());
    }

    async fn patches_at_once_are_all_merged(h) {
        let (id, handle) = h.created_and_claimed().await;
        let appends: Vec<_> = (0..12)
            .map(|n| {
                let (h, handle) = (Arc::clone(&h), handle.clone());
                let patch = patch(&json!({format!("k{n}"): n}));
                tokio::spawn(async move { h.backend.append_frame(&handle, patch).await.unwrap() })
            })
            .collect();
        let mut versions = BTreeSet::new();
        for append in appends {
            versions.insert(append.await.unwrap().summary_version.unwrap());
        }
        assert_eq!(versions, (1..=12).collect());
        let summary = h.backend.read_summary(&id, AttemptIndex::new(0)).await.unwrap().unwrap();
        let document: Value = serde_json::from_slice(&summary.document_json).unwrap();
        assert_eq!(document.as_object().unwrap().len(), 12);
    }
}
