//! The output streams of attempts: appending frames, reading them, following them, rolling summaries.
//!
//! A frame's place is the time of its append and a counter inside that millisecond; places only grow. Three
//! modes: durable frames stay, summary frames are patches that are also merged into one document, best-effort
//! frames let the stream be trimmed to what its rate asks for.

use std::time::Duration;

use ff_core::backend::{
    AppendFrameOutcome, BestEffortLiveConfig, Frame, Handle, PatchKind, StreamMode, SummaryDocument, TailVisibility,
};
use ff_core::contracts::{STREAM_READ_HARD_CAP, StreamCursor, StreamFrame, StreamFrames};
use ff_core::engine_error::EngineError;
use ff_core::types::{AttemptIndex, ExecutionId};
use serde_json::Value;
use tokio::time::Instant;

use crate::column::StoredIndex;
use crate::db::error::Abort;
use crate::db::{Dialect, StreamKey};
use crate::engine::Engine;
use crate::engine::attempt;
use crate::engine::policy::live::{self, AppendRate};
use crate::engine::spread;
use crate::model::cursor::FramePlace;
use crate::model::handle;
use crate::model::id::{ExecKey, corruption, exec_key, invalid_input, reject_nul_in_json};
use crate::model::word::FrameWord;
use crate::model::{frame, summary};
use crate::statements::{Statements, stream};

/// Appends a frame to the stream of the handle's attempt.
///
/// Precondition: no other lease took the attempt over; an attempt that is not stored is appended to as well.
/// Effect: one more frame; by mode also the next version of the summary, or a trimmed stream. Repeating it
/// appends again.
///
/// # Errors
/// `Contention(LeaseConflict)` when another lease took over; `Validation(InvalidInput)` when a summary patch is
/// not JSON, text holds U+0000, or a rate's weight is none; nothing is written then.
pub(crate) async fn append<D: Dialect>(
    engine: &Engine<D>,
    handle: &Handle,
    appended: &Frame,
) -> Result<AppendFrameOutcome, EngineError> {
    let held = handle::decode(D::TAG, handle)?;
    if let StreamMode::BestEffortLive { config } = &appended.mode {
        live::check(config)?;
    }
    let params = stream::StreamAppendParams {
        execution: held.key,
        attempt_index: held.attempt_index,
        lease_epoch: held.lease_epoch,
        now_ms: engine.now_ms(),
        fields: frame::encode(appended)?,
        mode: FrameWord::from(appended.mode.wire_str().to_owned()),
    };
    let done = match appended.mode {
        StreamMode::DurableSummary { .. } => append_patch(engine, params, &appended.bytes).await?,
        StreamMode::BestEffortLive { config } => append_live(engine, params, config).await?,
        _ => append_durable(engine, params).await?,
    };
    match done {
        Some(done) => Ok(done.outcome()),
        None => Err(attempt::refusal(engine, &held).await),
    }
}

struct Appended {
    row: stream::StreamAppendRow,
    version: Option<i32>,
}

impl Appended {
    fn outcome(self) -> AppendFrameOutcome {
        let place = FramePlace { ts_ms: self.row.last_ms, seq: self.row.last_seq };
        let outcome = AppendFrameOutcome::new(place.text(), self.row.frame_count.max(0).unsigned_abs());
        match self.version {
            Some(version) => outcome.with_summary_version(u64::from(version.max(0).unsigned_abs())),
            None => outcome,
        }
    }
}

fn stream_key(append: &stream::StreamAppendParams) -> StreamKey {
    StreamKey { execution: append.execution.execution_id.into(), attempt_index: append.attempt_index.into() }
}

async fn append_durable<D: Dialect>(
    engine: &Engine<D>,
    append: stream::StreamAppendParams,
) -> Result<Option<Appended>, EngineError> {
    let (key, partition_key) = (stream_key(&append), append.execution.partition_key);
    if engine.db().is_spread().await? {
        let done = transaction!(
            engine,
            "stream_append_spread",
            [append],
            |conn| { spread::append_on::<D>(conn, append).await },
            |row, wakes| {
                if let Some(row) = row {
                    wakes.frame(key, row.last_ms, row.last_seq, partition_key);
                }
            }
        )?;
        return Ok(done.map(|row| Appended { row, version: None }));
    }
    let row = engine
        .db()
        .combined_telling(append, move |row, wakes| {
            wakes.frame(key, row.last_ms, row.last_seq, partition_key);
        })
        .await?;
    Ok(row.map(|row| Appended { row, version: None }))
}

/// Stores the frame: in one statement, or in steps where the tables are spread.
async fn append_on<D: Dialect>(
    conn: &mut D::Connection,
    append: &stream::StreamAppendParams,
    is_spread: bool,
) -> Result<Option<stream::StreamAppendRow>, Abort> {
    if is_spread {
        return spread::append_on::<D>(conn, append).await;
    }
    Ok(conn.stream_append(append).await?)
}

async fn append_patch<D: Dialect>(
    engine: &Engine<D>,
    append: stream::StreamAppendParams,
    patch: &[u8],
) -> Result<Option<Appended>, EngineError> {
    let patch: Value = serde_json::from_slice(patch)
        .map_err(|error| invalid_input(format!("summary patch not valid JSON: {error}")))?;
    reject_nul_in_json("summary patch", &patch)?;
    let lock = stream::StreamSummaryLockParams { execution: append.execution, attempt_index: append.attempt_index };
    let (key, partition_key) = (stream_key(&append), append.execution.partition_key);
    let is_spread = engine.db().is_spread().await?;
    transaction!(
        engine,
        "stream_append_patch",
        [append, lock, patch, is_spread],
        |conn| {
            let Some(row) = append_on::<D>(conn, append, *is_spread).await? else {
                return Ok(None);
            };
            let mut document = match conn.stream_summary_lock(lock).await? {
                Some(row) => row.document_json,
                None => Value::Object(serde_json::Map::new()),
            };
            summary::merge(&mut document, Value::clone(patch));
            let write = stream::StreamSummaryWriteParams {
                execution: lock.execution,
                attempt_index: lock.attempt_index,
                document_json: document,
                now_ms: append.now_ms,
            };
            let written = conn.stream_summary_write(&write).await?;
            Ok(Some(Appended { row, version: Some(written.version) }))
        },
        |done, wakes| {
            if let Some(done) = done {
                wakes.frame(key, done.row.last_ms, done.row.last_seq, partition_key);
            }
        }
    )
}

async fn append_live<D: Dialect>(
    engine: &Engine<D>,
    append: stream::StreamAppendParams,
    config: BestEffortLiveConfig,
) -> Result<Option<Appended>, EngineError> {
    let (key, partition_key) = (stream_key(&append), append.execution.partition_key);
    let is_spread = engine.db().is_spread().await?;
    transaction!(
        engine,
        "stream_append_live",
        [append, is_spread],
        |conn| {
            let Some(mut row) = append_on::<D>(conn, append, *is_spread).await? else {
                return Ok(None);
            };
            let read =
                stream::StreamMetaReadParams { execution: append.execution, attempt_index: append.attempt_index };
            let before = conn.stream_meta_read(&read).await?.map_or(AppendRate::NONE, |meta| AppendRate {
                ema_hz: meta.ema_rate_hz,
                last_ms: meta.last_append_ts_ms,
            });
            let rate = before.after_frame(&config, append.now_ms);
            let kept = rate.frames_kept(&config);
            let write = stream::StreamMetaWriteParams {
                execution: append.execution,
                attempt_index: append.attempt_index,
                ema_rate_hz: rate.ema_hz,
                last_append_ts_ms: append.now_ms,
                maxlen: i32::try_from(kept).unwrap_or(i32::MAX), // tidy: a limit that large keeps everything
            };
            conn.stream_meta_write(&write).await?;
            if row.frame_count > kept {
                let trim =
                    stream::StreamTrimParams { execution: append.execution, attempt_index: append.attempt_index, kept };
                if let Some(trimmed) = conn.stream_trim(&trim).await? {
                    row.frame_count = trimmed.frame_count;
                }
            }
            Ok(Some(Appended { row, version: None }))
        },
        |done, wakes| {
            if let Some(done) = done {
                wakes.frame(key, done.row.last_ms, done.row.last_seq, partition_key);
            }
        }
    )
}

/// Reads frames between two places, both included, oldest first. An unknown execution has none.
pub(crate) async fn read<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
    attempt_index: AttemptIndex,
    from: &StreamCursor,
    to: &StreamCursor,
    count_limit: u64,
) -> Result<StreamFrames, EngineError> {
    let from = match from {
        StreamCursor::End => FramePlace::LAST,
        other => FramePlace::of(other)?,
    };
    let to = match to {
        StreamCursor::Start => FramePlace::FIRST,
        other => FramePlace::of(other)?,
    };
    let page_size = page_size(count_limit);
    if page_size == 0 {
        return Ok(StreamFrames::empty_open());
    }
    let key = exec_key(id)?;
    let params = stream::StreamReadParams {
        execution: key,
        attempt_index: StoredIndex::given(attempt_index)?,
        from_ms: from.ts_ms,
        from_seq: from.seq,
        to_ms: to.ts_ms,
        to_seq: to.seq,
        page_size,
    };
    let rows = engine.db().read(params).await?;
    Ok(open(rows.into_iter().map(|row| shown(row.ts_ms, row.seq, &row.fields))))
}

/// Reads frames strictly after a place; when there are none yet, waits for one at most `block_ms`.
///
/// No connection is held while it waits. At the end of the wait it looks once more.
pub(crate) async fn tail<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
    attempt_index: AttemptIndex,
    after: &StreamCursor,
    block_ms: u64,
    count_limit: u64,
    visibility: TailVisibility,
) -> Result<StreamFrames, EngineError> {
    let StreamCursor::At(after) = after else {
        return Err(invalid_input("tail_stream requires concrete after cursor"));
    };
    let after = FramePlace::parse(after)?;
    let key = exec_key(id)?;
    let attempt_index = StoredIndex::given(attempt_index)?;
    let params = stream::StreamTailParams {
        execution: key,
        attempt_index,
        after_ms: after.ts_ms,
        after_seq: after.seq,
        with_best_effort: visibility != TailVisibility::ExcludeBestEffort,
        page_size: page_size(count_limit),
    };
    if params.page_size == 0 {
        return Ok(StreamFrames::empty_open());
    }
    if block_ms == 0 {
        return look(engine, params).await;
    }
    let deadline = Instant::now().checked_add(Duration::from_millis(block_ms)).unwrap_or_else(far_future); // tidy: a caller's time may exceed the clock
    follow(engine, key, attempt_index, params, deadline).await
}

async fn follow<D: Dialect>(
    engine: &Engine<D>,
    key: ExecKey,
    attempt_index: StoredIndex,
    params: stream::StreamTailParams,
    deadline: Instant,
) -> Result<StreamFrames, EngineError> {
    // Watching begins before the first look, so that no frame falls between the two. A watch that cannot be
    // had in time leaves the last look at the deadline.
    let stream = StreamKey { execution: key.execution_id.into(), attempt_index: attempt_index.into() };
    let Ok(watch) = tokio::time::timeout_at(deadline, engine.db().tail(stream)).await else {
        return look(engine, params).await;
    };
    let mut watch = watch?;
    loop {
        let found = look(engine, params.clone()).await?;
        if !found.frames.is_empty() {
            return Ok(found);
        }
        if tokio::time::timeout_at(deadline, watch.changed()).await.is_err() {
            return look(engine, params).await;
        }
    }
}

async fn look<D: Dialect>(engine: &Engine<D>, params: stream::StreamTailParams) -> Result<StreamFrames, EngineError> {
    let rows = engine.db().read(params).await?;
    Ok(open(rows.into_iter().map(|row| shown(row.ts_ms, row.seq, &row.fields))))
}

/// Reads the rolling summary of an attempt; `None` when no patch was ever appended.
pub(crate) async fn read_summary<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
    attempt_index: AttemptIndex,
) -> Result<Option<SummaryDocument>, EngineError> {
    let key = exec_key(id)?;
    let params = stream::StreamSummaryReadParams { execution: key, attempt_index: StoredIndex::given(attempt_index)? };
    let Some(row) = engine.db().read(params).await? else {
        return Ok(None);
    };
    let document = serde_json::to_vec(&row.document_json)
        .map_err(|error| invalid_input(format!("summary document not serialisable: {error}")))?;
    let version = u64::try_from(row.version)
        .map_err(|_| corruption(format!("ff_stream_summary: version is negative: {}", row.version)))?;
    Ok(Some(SummaryDocument::new(
        document,
        version,
        PatchKind::JsonMergePatch,
        row.last_updated_ms.max(0).unsigned_abs(),
        row.first_applied_ms.max(0).unsigned_abs(),
    )))
}

fn page_size(count_limit: u64) -> i64 {
    i64::try_from(count_limit.min(STREAM_READ_HARD_CAP)).unwrap_or(i64::MAX) // tidy: a caller's limit
}

/// A deadline that is as good as none.
fn far_future() -> Instant {
    Instant::now() + Duration::from_secs(60 * 60 * 24 * 365)
}

fn shown(ts_ms: i64, seq: i32, fields: &Value) -> StreamFrame {
    StreamFrame { id: FramePlace { ts_ms, seq }.text(), fields: frame::fields(fields) }
}

fn open(frames: impl Iterator<Item = StreamFrame>) -> StreamFrames {
    StreamFrames { frames: frames.collect(), closed_at: None, closed_reason: None }
}
