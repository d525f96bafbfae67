-- Appends a frame and says its place and how many frames the stream holds, at a cost that does not grow with
-- the stream. The counter's row orders appends to one stream. It is believed as long as no frame is newer
-- than it; a frame of a foreign writer, or a stream without a counter, is counted once.
-- An attempt that is not stored refuses nobody. No row: another lease took over, or the execution moved on; neither
-- happens while the append waits for the counter.
-- name: stream_append :opt
-- param: fields json
-- returns
WITH lease AS (
  SELECT core.lifecycle_phase, held.lease_epoch, held.outcome
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND held.partition_key = :partition_key AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
),
permitted AS (
  SELECT 1 AS granted
   WHERE NOT EXISTS (SELECT 1 FROM lease
                      WHERE lease.lease_epoch <> :lease_epoch OR lease.outcome IS NOT NULL OR lease.lifecycle_phase <> 'active')
);
WITH newest AS (
  SELECT frame.ts_ms, frame.seq FROM ff_stream_frame AS frame
   WHERE frame.partition_key = :partition_key AND frame.execution_id = :execution_id
     AND frame.attempt_index = :attempt_index
   ORDER BY frame.ts_ms DESC, frame.seq DESC LIMIT 1
)
INSERT INTO ff_stream_counter AS seen (partition_key, execution_id, attempt_index, last_ms, last_seq, frame_count)
SELECT :partition_key, :execution_id, :attempt_index, max(COALESCE(newest.ts_ms, :now_ms), :now_ms),
       CASE WHEN newest.ts_ms >= :now_ms THEN newest.seq + 1 ELSE 0 END,
       CASE
         WHEN newest.ts_ms IS NULL OR EXISTS (SELECT 1 FROM ff_stream_counter AS known
                                               WHERE known.partition_key = :partition_key
                                                 AND known.execution_id = :execution_id
                                                 AND known.attempt_index = :attempt_index) THEN 1
         ELSE (SELECT count(*) FROM ff_stream_frame AS frame
                WHERE frame.partition_key = :partition_key AND frame.execution_id = :execution_id
                  AND frame.attempt_index = :attempt_index)
         + 1
       END
  FROM permitted LEFT JOIN newest ON true
 WHERE true
    ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
   SET last_ms = max(seen.last_ms, excluded.last_ms),
       last_seq = CASE
                    WHEN seen.last_ms > excluded.last_ms THEN seen.last_seq + 1
                    WHEN seen.last_ms = excluded.last_ms THEN max(seen.last_seq + 1, excluded.last_seq)
                    ELSE excluded.last_seq
                  END,
       frame_count = CASE
       -- A frame of a foreign writer is newer than the counter: all are counted once.
       WHEN EXISTS (SELECT 1 FROM newest WHERE (newest.ts_ms, newest.seq) > (seen.last_ms, seen.last_seq)) THEN
         (SELECT count(*) FROM ff_stream_frame AS frame
           WHERE frame.partition_key = :partition_key
             AND frame.execution_id = :execution_id
             AND frame.attempt_index = :attempt_index)
       + 1 ELSE seen.frame_count + 1 END
RETURNING last_ms, last_seq, frame_count;
INSERT INTO ff_stream_frame (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
SELECT counter.partition_key, counter.execution_id, counter.attempt_index, counter.last_ms, counter.last_seq, :fields,
       :mode, counter.last_ms
  FROM permitted CROSS JOIN ff_stream_counter AS counter
 WHERE counter.partition_key = :partition_key AND counter.execution_id = :execution_id
   AND counter.attempt_index = :attempt_index;

-- Keeps the newest frames of a stream and deletes the rest, whatever their mode.
-- name: stream_trim :opt
DELETE FROM ff_stream_frame
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index
   AND (ts_ms, seq) <= (SELECT frame.ts_ms, frame.seq FROM ff_stream_frame AS frame
                         WHERE frame.partition_key = :partition_key AND frame.execution_id = :execution_id
                           AND frame.attempt_index = :attempt_index
                         ORDER BY frame.ts_ms DESC, frame.seq DESC LIMIT 1 OFFSET :kept);
UPDATE ff_stream_counter SET frame_count = :kept
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index
   AND frame_count > :kept
RETURNING frame_count;

-- Reads the append rate that a best-effort stream was trimmed by last.
-- name: stream_meta_read :opt
-- both
SELECT meta.ema_rate_hz, meta.last_append_ts_ms FROM ff_stream_meta AS meta
 WHERE meta.partition_key = :partition_key AND meta.execution_id = :execution_id AND meta.attempt_index = :attempt_index;

-- Remembers the append rate of a best-effort stream and how many frames it may keep.
-- name: stream_meta_write :exec
-- both
INSERT INTO ff_stream_meta
       (partition_key, execution_id, attempt_index, ema_rate_hz, last_append_ts_ms, maxlen_applied_last)
VALUES (:partition_key, :execution_id, :attempt_index, :ema_rate_hz, :last_append_ts_ms, :maxlen)
    ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
   SET ema_rate_hz = excluded.ema_rate_hz, last_append_ts_ms = excluded.last_append_ts_ms,
       maxlen_applied_last = excluded.maxlen_applied_last;

-- Reads the summary document of an attempt.
-- name: stream_summary_read :opt
-- both
SELECT summary.document_json, summary.version, summary.last_updated_ms, summary.first_applied_ms
  FROM ff_stream_summary AS summary
 WHERE summary.partition_key = :partition_key AND summary.execution_id = :execution_id
   AND summary.attempt_index = :attempt_index;

-- Reads the summary document of an attempt so that it can be changed.
-- name: stream_summary_lock :opt
SELECT summary.document_json FROM ff_stream_summary AS summary
 WHERE summary.partition_key = :partition_key AND summary.execution_id = :execution_id
   AND summary.attempt_index = :attempt_index;

-- Stores the merged summary document: version 1 when it is the first, else one more than before.
-- name: stream_summary_write :one
-- both
INSERT INTO ff_stream_summary AS stored
       (partition_key, execution_id, attempt_index, document_json, version, patch_kind, last_updated_ms,
        first_applied_ms)
VALUES (:partition_key, :execution_id, :attempt_index, :document_json, 1, 'json-merge-patch', :now_ms, :now_ms)
    ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
   SET document_json = excluded.document_json, version = stored.version + 1, patch_kind = excluded.patch_kind,
       last_updated_ms = excluded.last_updated_ms
RETURNING version;

-- Reads frames between two places, both included, oldest first.
-- name: stream_read :many
-- both
SELECT frame.ts_ms, frame.seq, frame.fields FROM ff_stream_frame AS frame
 WHERE frame.partition_key = :partition_key AND frame.execution_id = :execution_id
   AND frame.attempt_index = :attempt_index AND (frame.ts_ms, frame.seq) >= (:from_ms, :from_seq)
   AND (frame.ts_ms, frame.seq) <= (:to_ms, :to_seq)
 ORDER BY frame.ts_ms, frame.seq LIMIT :page_size;

-- Reads frames strictly after a place, oldest first, with or without the best-effort ones.
-- name: stream_tail :many
-- both
-- param: with_best_effort bool
SELECT frame.ts_ms, frame.seq, frame.fields FROM ff_stream_frame AS frame
 WHERE frame.partition_key = :partition_key AND frame.execution_id = :execution_id
   AND frame.attempt_index = :attempt_index AND (frame.ts_ms, frame.seq) > (:after_ms, :after_seq)
   AND (:with_best_effort OR frame.mode <> 'best_effort')
 ORDER BY frame.ts_ms, frame.seq LIMIT :page_size;
