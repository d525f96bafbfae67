-- Appends a frame: its id is the later of now and the newest frame's, its sequence counts inside a millisecond.
-- No row: the stream has no counter yet, or the attempt is held under another epoch. An attempt without a row
-- may be appended to. The counter makes the cost of an append independent of the stream's length.
-- name: stream_append :opt
-- diverges(lock): BEGIN IMMEDIATE already holds the single write lock, so no row lock is needed.
WITH next AS (
  SELECT max(counter.last_ms, :now_ms) AS ts_ms,
         CASE WHEN counter.last_ms >= :now_ms THEN counter.last_seq + 1 ELSE 0 END AS seq,
         counter.frame_count + 1 AS frame_count
    FROM ff_stream_counter AS counter
   WHERE counter.partition_key = :partition_key
     AND counter.execution_id = :execution_id
     AND counter.attempt_index = :attempt_index
     AND NOT EXISTS (SELECT 1
                       FROM ff_attempt AS attempt
                      WHERE attempt.partition_key = :partition_key
                        AND attempt.execution_id = :execution_id
                        AND attempt.attempt_index = :attempt_index
                        AND attempt.lease_epoch <> :lease_epoch)
)
INSERT INTO ff_stream_frame
       (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
SELECT :partition_key, :execution_id, :attempt_index, next.ts_ms, next.seq, :fields, :mode, next.ts_ms
  FROM next;
WITH next AS (
  SELECT max(counter.last_ms, :now_ms) AS ts_ms,
         CASE WHEN counter.last_ms >= :now_ms THEN counter.last_seq + 1 ELSE 0 END AS seq,
         counter.frame_count + 1 AS frame_count
    FROM ff_stream_counter AS counter
   WHERE counter.partition_key = :partition_key
     AND counter.execution_id = :execution_id
     AND counter.attempt_index = :attempt_index
     AND NOT EXISTS (SELECT 1
                       FROM ff_attempt AS attempt
                      WHERE attempt.partition_key = :partition_key
                        AND attempt.execution_id = :execution_id
                        AND attempt.attempt_index = :attempt_index
                        AND attempt.lease_epoch <> :lease_epoch)
)
UPDATE ff_stream_counter
   SET last_ms = next.ts_ms,
       last_seq = next.seq,
       frame_count = next.frame_count
  FROM next
 WHERE ff_stream_counter.partition_key = :partition_key
   AND ff_stream_counter.execution_id = :execution_id
   AND ff_stream_counter.attempt_index = :attempt_index
RETURNING last_ms AS ts_ms, last_seq AS seq, frame_count;

-- Gives a stream its counter, counting the frames that another backend may have left there.
-- name: stream_counter_create :exec
INSERT INTO ff_stream_counter (partition_key, execution_id, attempt_index, last_ms, last_seq, frame_count)
SELECT :partition_key, :execution_id, :attempt_index,
       COALESCE((SELECT frame.ts_ms
                   FROM ff_stream_frame AS frame
                  WHERE frame.partition_key = :partition_key
                    AND frame.execution_id = :execution_id
                    AND frame.attempt_index = :attempt_index
                  ORDER BY frame.ts_ms DESC, frame.seq DESC
                  LIMIT 1), 0),
       COALESCE((SELECT frame.seq
                   FROM ff_stream_frame AS frame
                  WHERE frame.partition_key = :partition_key
                    AND frame.execution_id = :execution_id
                    AND frame.attempt_index = :attempt_index
                  ORDER BY frame.ts_ms DESC, frame.seq DESC
                  LIMIT 1), 0),
       (SELECT count(*)
          FROM ff_stream_frame AS frame
         WHERE frame.partition_key = :partition_key
           AND frame.execution_id = :execution_id
           AND frame.attempt_index = :attempt_index)
 WHERE true
    ON CONFLICT (partition_key, execution_id, attempt_index) DO NOTHING;

-- Locks a stream's counter.
-- name: stream_counter_lock :opt
-- diverges(lock): BEGIN IMMEDIATE already holds the single write lock, so no row lock is needed.
SELECT counter.frame_count
  FROM ff_stream_counter AS counter
 WHERE counter.partition_key = :partition_key
   AND counter.execution_id = :execution_id
   AND counter.attempt_index = :attempt_index;

-- Counts a stream anew; the counter is locked and frames of another backend stand beside ours.
-- name: stream_counter_recount :exec
UPDATE ff_stream_counter
   SET last_ms = COALESCE((SELECT frame.ts_ms
                             FROM ff_stream_frame AS frame
                            WHERE frame.partition_key = :partition_key
                              AND frame.execution_id = :execution_id
                              AND frame.attempt_index = :attempt_index
                            ORDER BY frame.ts_ms DESC, frame.seq DESC
                            LIMIT 1), 0),
       last_seq = COALESCE((SELECT frame.seq
                              FROM ff_stream_frame AS frame
                             WHERE frame.partition_key = :partition_key
                               AND frame.execution_id = :execution_id
                               AND frame.attempt_index = :attempt_index
                             ORDER BY frame.ts_ms DESC, frame.seq DESC
                             LIMIT 1), 0),
       frame_count = (SELECT count(*)
                        FROM ff_stream_frame AS frame
                       WHERE frame.partition_key = :partition_key
                         AND frame.execution_id = :execution_id
                         AND frame.attempt_index = :attempt_index)
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id
   AND attempt_index = :attempt_index;

-- Reads frames of an attempt between two cursors, both inclusive, oldest first.
-- name: stream_read :many
-- param: with_best_effort bool
SELECT frame.ts_ms, frame.seq, frame.fields
  FROM ff_stream_frame AS frame
 WHERE frame.partition_key = :partition_key
   AND frame.execution_id = :execution_id
   AND frame.attempt_index = :attempt_index
   AND (frame.ts_ms > :from_ms OR (frame.ts_ms = :from_ms AND frame.seq >= :from_seq))
   AND (frame.ts_ms < :to_ms OR (frame.ts_ms = :to_ms AND frame.seq <= :to_seq))
   AND (:with_best_effort OR frame.mode <> 'best_effort')
 ORDER BY frame.ts_ms, frame.seq
 LIMIT :page_size;

-- Reads the rolling summary of an attempt.
-- name: stream_summary_read :opt
SELECT summary.document_json, summary.version, summary.last_updated_ms, summary.first_applied_ms
  FROM ff_stream_summary AS summary
 WHERE summary.partition_key = :partition_key
   AND summary.execution_id = :execution_id
   AND summary.attempt_index = :attempt_index;

-- Reads the summary document that a patch is about to change, and keeps it locked.
-- name: stream_summary_lock :opt
-- diverges(lock): BEGIN IMMEDIATE already holds the single write lock, so no row lock is needed.
SELECT summary.document_json
  FROM ff_stream_summary AS summary
 WHERE summary.partition_key = :partition_key
   AND summary.execution_id = :execution_id
   AND summary.attempt_index = :attempt_index;

-- Stores a summary after a patch and gives its version, counted from one.
-- name: stream_summary_put :one
INSERT INTO ff_stream_summary AS summary
       (partition_key, execution_id, attempt_index, document_json, version, patch_kind, last_updated_ms, first_applied_ms)
VALUES (:partition_key, :execution_id, :attempt_index, :document, 1, 'json-merge-patch', :now_ms, :now_ms)
    ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
   SET document_json = excluded.document_json,
       version = summary.version + 1,
       patch_kind = excluded.patch_kind,
       last_updated_ms = excluded.last_updated_ms
RETURNING version;

-- Reads the append rate of a stream's best-effort frames, and keeps it locked.
-- name: stream_rate_lock :opt
-- diverges(lock): BEGIN IMMEDIATE already holds the single write lock, so no row lock is needed.
SELECT meta.ema_rate_hz, meta.last_append_ts_ms
  FROM ff_stream_meta AS meta
 WHERE meta.partition_key = :partition_key
   AND meta.execution_id = :execution_id
   AND meta.attempt_index = :attempt_index;

-- Stores the append rate and the length that it allows.
-- name: stream_rate_put :exec
INSERT INTO ff_stream_meta (partition_key, execution_id, attempt_index, ema_rate_hz, last_append_ts_ms, maxlen_applied_last)
VALUES (:partition_key, :execution_id, :attempt_index, :ema_rate_hz, :now_ms, :maxlen)
    ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
   SET ema_rate_hz = excluded.ema_rate_hz,
       last_append_ts_ms = excluded.last_append_ts_ms,
       maxlen_applied_last = excluded.maxlen_applied_last;

-- Deletes the frames, of whatever mode, that are older than the newest `keep`; `skip` is `keep` less one.
-- name: stream_trim :rows
DELETE FROM ff_stream_frame
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id
   AND attempt_index = :attempt_index
   AND (ts_ms, seq) < (SELECT oldest.ts_ms, oldest.seq
                         FROM ff_stream_frame AS oldest
                        WHERE oldest.partition_key = :partition_key
                          AND oldest.execution_id = :execution_id
                          AND oldest.attempt_index = :attempt_index
                        ORDER BY oldest.ts_ms DESC, oldest.seq DESC
                        LIMIT 1 OFFSET :skip);

-- Takes trimmed frames off the counter and gives what is left.
-- name: stream_counter_subtract :opt
UPDATE ff_stream_counter
   SET frame_count = frame_count - :trimmed
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id
   AND attempt_index = :attempt_index
RETURNING frame_count;
