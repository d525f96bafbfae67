-- case: end same
-- both
-- name: job_do :opt
WITH told AS (
  INSERT INTO event (part, job_id, lane, kind)
  SELECT :part, :id, job.lane, 'ended' FROM job WHERE job.part = :part AND job.id = :id AND job.state = 'live'
  RETURNING event_id
),
ended AS (UPDATE job SET state = 'done' WHERE part = :part AND id = :id AND state = 'live' RETURNING lane)
SELECT told.event_id, ended.lane FROM told CROSS JOIN ended;

-- case: copied_rows same
-- both
-- name: job_do :rows
INSERT INTO note (part, id, words) SELECT :part, job.id, job.lane FROM job WHERE job.part = :part AND job.state = :state
    ON CONFLICT (part, id) DO UPDATE SET words = excluded.words WHERE note.words <> excluded.words;

-- case: event_of_some same
-- both
-- name: job_do :opt
WITH told AS (
  INSERT INTO event (part, job_id, lane, kind)
  SELECT job.part, job.id, NULL, 'noted' FROM job
   WHERE job.part = :part AND job.id = :id
     AND EXISTS (SELECT 1 FROM note WHERE note.part = :part AND note.id = :id AND note.words = :words)
  RETURNING event_id
),
ended AS (UPDATE job SET state = 'done' WHERE part = :part AND id = :id RETURNING lane)
SELECT told.event_id, ended.lane FROM ended LEFT JOIN told ON true;

-- case: values_of_every_type same
-- both
-- name: job_do :exec
INSERT INTO wide (part, id, doc, big, small, real, bytes, at, truth)
SELECT :part, :new_id, source.doc, source.big, source.small, source.real, source.bytes, source.at, source.truth
  FROM wide AS source
 WHERE source.part = :part AND source.id = :id
    ON CONFLICT (part, id) DO NOTHING;

-- case: handed_rows same
-- sqlite
-- name: job_do :opt
INSERT INTO key (name, job_id) VALUES (:name, :id)
    ON CONFLICT (name) DO UPDATE SET job_id = excluded.job_id WHERE key.job_id = excluded.job_id;
-- returns
INSERT INTO job (part, id, lane, state)
SELECT :part, :id, :lane, 'live' WHERE EXISTS (SELECT 1 FROM key WHERE key.name = :name AND key.job_id = :id)
    ON CONFLICT (part, id) DO NOTHING
RETURNING id;
-- pg
-- name: job_do :opt
WITH named AS (
  INSERT INTO key (name, job_id) VALUES (:name, :id)
      ON CONFLICT (name) DO UPDATE SET job_id = excluded.job_id WHERE key.job_id = excluded.job_id
  RETURNING job_id
),
made AS (
  INSERT INTO job (part, id, lane, state)
  SELECT :part, :id, :lane, 'live' WHERE EXISTS (SELECT 1 FROM named WHERE named.job_id = :id)
      ON CONFLICT (part, id) DO NOTHING
  RETURNING id
)
SELECT made.id FROM made;

-- case: trigger_that_sees_the_change differs
-- both
-- name: job_do :exec
WITH told AS (
  INSERT INTO seen (part, id, state) SELECT job.part, job.id, '' FROM job WHERE job.part = :part AND job.id = :id
      ON CONFLICT (part, id) DO NOTHING
)
UPDATE job SET state = 'done' WHERE part = :part AND id = :id;
