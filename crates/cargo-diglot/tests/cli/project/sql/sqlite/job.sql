-- What is due in a lane, the most urgent first.
-- name: job_due :many
SELECT job.id, job.due_ms, job.seen_ms, lane.paused
  FROM job
  JOIN lane ON lane.name = job.lane
 WHERE job.lane = :lane
   AND job.state = 'waiting'
   AND job.due_ms < :now_ms
 ORDER BY job.priority DESC, job.id
 LIMIT 10;

-- Gives a job to an owner, unless it has one.
-- name: job_take :rows
UPDATE job
   SET owner = :owner,
       state = 'taken',
       due_ms = :due_ms,
       seen_ms = :now_ms
 WHERE id = :id
   AND owner IS NULL;

-- Adds a job; a job with the same key stays as it is.
-- name: job_put :rows
INSERT INTO job (id, lane, key, priority, state, due_ms, seen_ms)
VALUES (:id, :lane, :key, :priority, 'waiting', :due_ms, :now_ms)
ON CONFLICT (lane, key) DO NOTHING;

-- The owner of a job, so that nobody else changes it meanwhile.
-- name: job_owner :opt
-- diverges(lock): SQLite has a single writer, so it needs no lock on the row.
SELECT owner
  FROM job
 WHERE id = :id;
