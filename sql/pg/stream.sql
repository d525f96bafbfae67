-- name: stream_append :opt
WITH lease AS (
  SELECT core.lifecycle_phase, held.lease_epoch, held.outcome
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND held.partition_key = :partition_key AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     FOR SHARE OF core, held
),
permitted AS (
  SELECT 1 AS granted
   WHERE NOT EXISTS (SELECT 1 FROM lease
                      WHERE lease.lease_epoch <> :lease_epoch OR lease.outcome IS NOT NULL OR lease.lifecycle_phase <> 'active')
),
newest AS (
  SELECT frame.ts_ms, frame.seq FROM ff_stream_frame AS frame
   WHERE frame.partition_key = :partition_key AND frame.execution_id = :execution_id
     AND frame.attempt_index = :attempt_index
   ORDER BY frame.ts_ms DESC, frame.seq DESC LIMIT 1
),
counter AS (
  INSERT INTO ff_stream_counter AS seen (partition_key, execution_id, attempt_index, last_ms, last_seq, frame_count)
  SELECT :partition_key, :execution_id, :attempt_index, greatest(COALESCE(newest.ts_ms, :now_ms), :now_ms),
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
     SET last_ms = greatest(seen.last_ms, excluded.last_ms),
         last_seq = CASE
                      WHEN seen.last_ms > excluded.last_ms THEN seen.last_seq + 1
                      WHEN seen.last_ms = excluded.last_ms THEN greatest(seen.last_seq + 1, excluded.last_seq)
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
  RETURNING seen.partition_key, seen.execution_id, seen.attempt_index, seen.last_ms, seen.last_seq, seen.frame_count
),
frame AS (
  INSERT INTO ff_stream_frame (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
  SELECT counter.partition_key, counter.execution_id, counter.attempt_index, counter.last_ms, counter.last_seq, :fields,
         :mode, counter.last_ms
    FROM counter
)
SELECT counter.last_ms, counter.last_seq, counter.frame_count FROM counter;

-- Appends a frame to each of several streams. Where a handle does not hold the lease of an active execution, or somebody
-- holds one of the rows for more than a moment, the whole is an error, and each frame is appended alone.
--
-- Executions and attempts are locked by an upsert that changes nothing: Postgres routes it to one partition each, while a
-- join would plan and lock them all.
-- rows: given(partition_key i16 key, execution_id uuid key, attempt_index i32 key, lease_epoch i64, now_ms i64)
-- rows: given(fields json, mode text)
-- name: stream_append_many :opt
-- each: stream_append or fails — a stream whose execution was never claimed is written alone.
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.execution_id, given.attempt_index, given.lease_epoch, given.now_ms,
         given.fields, given.mode
    FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state,
          public_state, attempt_state, created_at_ms)
  SELECT member.partition_key, member.execution_id, '', 'terminal', 'unowned', 'not_applicable',
         'skipped', 'attempt_terminal', 0
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.execution_id, member.attempt_index
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET created_at_ms = core.created_at_ms
   WHERE NOT ff_expect_all(core.lifecycle_phase = 'active')
  RETURNING core.execution_id
),
attempt AS (
  INSERT INTO ff_attempt AS held (partition_key, execution_id, attempt_index, lease_epoch)
  SELECT member.partition_key, member.execution_id, member.attempt_index, member.lease_epoch
    FROM member
   WHERE ff_expect_all((SELECT count(*) FROM core) = 0)
   ORDER BY member.partition_key, member.execution_id, member.attempt_index
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET lease_epoch = held.lease_epoch
   WHERE NOT ff_expect_all(held.lease_epoch = excluded.lease_epoch AND held.outcome IS NULL)
  RETURNING held.execution_id
),
permitted AS (
  SELECT member.ordinality, member.partition_key, member.execution_id, member.attempt_index, member.now_ms,
         member.fields, member.mode, newest.ts_ms, newest.seq
    FROM member
    LEFT JOIN ff_newest_frames((SELECT array_agg(asked.partition_key ORDER BY asked.ordinality) FROM member AS asked),
                               (SELECT array_agg(asked.execution_id ORDER BY asked.ordinality) FROM member AS asked),
                               (SELECT array_agg(asked.attempt_index ORDER BY asked.ordinality) FROM member AS asked)) AS newest
      ON newest.ordinality = member.ordinality
   WHERE ff_expect_all((SELECT count(*) FROM attempt) = 0)
),
counter AS (
  INSERT INTO ff_stream_counter AS seen
         (partition_key, execution_id, attempt_index, last_ms, last_seq, frame_count)
  SELECT permitted.partition_key, permitted.execution_id, permitted.attempt_index,
         greatest(COALESCE(permitted.ts_ms, permitted.now_ms), permitted.now_ms),
         CASE WHEN permitted.ts_ms >= permitted.now_ms THEN permitted.seq + 1 ELSE 0 END,
         CASE
           WHEN permitted.ts_ms IS NULL
                -- Counted, because EXISTS may be planned as a hash of all counters.
                OR (SELECT count(*)
                      FROM ff_stream_counter AS known
                     WHERE known.partition_key = permitted.partition_key
                       AND known.execution_id = permitted.execution_id
                       AND known.attempt_index = permitted.attempt_index) > 0
             THEN 1
           ELSE ff_count_frames(permitted.partition_key, permitted.execution_id, permitted.attempt_index) + 1
         END
    FROM permitted
   WHERE true
   ORDER BY permitted.partition_key, permitted.execution_id, permitted.attempt_index
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET last_ms = greatest(seen.last_ms, excluded.last_ms),
         last_seq = CASE
                      WHEN seen.last_ms > excluded.last_ms THEN seen.last_seq + 1
                      WHEN seen.last_ms = excluded.last_ms THEN greatest(seen.last_seq + 1, excluded.last_seq)
                      ELSE excluded.last_seq
                    END,
         frame_count = CASE
                         -- A frame of a foreign writer is newer than the counter: all are counted once.
                         WHEN EXISTS (SELECT 1
                                        FROM permitted AS newest
                                       WHERE newest.partition_key = seen.partition_key
                                         AND newest.execution_id = seen.execution_id
                                         AND newest.attempt_index = seen.attempt_index
                                         AND (newest.ts_ms, newest.seq) > (seen.last_ms, seen.last_seq))
                           THEN ff_count_frames(seen.partition_key, seen.execution_id, seen.attempt_index) + 1
                         ELSE seen.frame_count + 1
                       END
  RETURNING seen.partition_key, seen.execution_id, seen.attempt_index, seen.last_ms, seen.last_seq, seen.frame_count
),
frame AS (
  INSERT INTO ff_stream_frame
         (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
  SELECT counter.partition_key, counter.execution_id, counter.attempt_index, counter.last_ms, counter.last_seq,
         permitted.fields, permitted.mode, counter.last_ms
    FROM counter
    JOIN permitted
      ON permitted.partition_key = counter.partition_key
     AND permitted.execution_id = counter.execution_id
     AND permitted.attempt_index = counter.attempt_index
)
SELECT permitted.ordinality, counter.last_ms, counter.last_seq, counter.frame_count
  FROM counter
  JOIN permitted
    ON permitted.partition_key = counter.partition_key
   AND permitted.execution_id = counter.execution_id
   AND permitted.attempt_index = counter.attempt_index;

-- Keeps the newest frames of a stream and deletes the rest, whatever their mode.
-- name: stream_trim :opt
WITH trimmed AS (
  DELETE FROM ff_stream_frame
   WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index
     AND (ts_ms, seq) <= (SELECT frame.ts_ms, frame.seq FROM ff_stream_frame AS frame
                           WHERE frame.partition_key = :partition_key AND frame.execution_id = :execution_id
                             AND frame.attempt_index = :attempt_index
                           ORDER BY frame.ts_ms DESC, frame.seq DESC LIMIT 1 OFFSET :kept)
)
UPDATE ff_stream_counter SET frame_count = :kept
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index
   AND frame_count > :kept
RETURNING frame_count;

-- name: stream_summary_lock :opt
SELECT summary.document_json FROM ff_stream_summary AS summary
 WHERE summary.partition_key = :partition_key AND summary.execution_id = :execution_id
   AND summary.attempt_index = :attempt_index
   FOR UPDATE;
