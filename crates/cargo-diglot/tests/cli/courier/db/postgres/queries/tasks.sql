-- name: TaskInsert :one
INSERT INTO task (queue, kind, args, priority, max_attempts, unique_key, created_ms, scheduled_ms)
VALUES (@queue, @kind, @args, @priority, @max_attempts, sqlc.narg('unique_key'), @created_ms, @scheduled_ms)
RETURNING id;

-- Used by the bulk path, so no RETURNING.
-- name: TaskInsertMany :copyfrom
INSERT INTO task (queue, kind, args, created_ms, scheduled_ms)
VALUES (@queue, @kind, @args, @created_ms, @scheduled_ms);

-- name: TaskInsertUnique :execrows
INSERT INTO task (queue, kind, args, unique_key, created_ms, scheduled_ms)
VALUES (@queue, @kind, @args, @unique_key, @created_ms, @scheduled_ms)
ON CONFLICT (unique_key) DO NOTHING;

-- name: TaskGetByID :one
SELECT id, queue, kind, state, attempt, args FROM task WHERE id = $1;

-- name: TaskGetByIDMany :many
SELECT id, kind, state FROM task WHERE id = ANY(@ids::bigint[]) ORDER BY id;

-- name: TaskGetByKind :many
SELECT id, state, scheduled_ms FROM task WHERE kind = @kind ORDER BY id LIMIT @max;

/* name: TaskGetAvailable :many */
WITH locked AS (
    SELECT id
    FROM task
    WHERE queue = @queue
      AND state = 'available'
      AND scheduled_ms <= @now_ms
    ORDER BY priority ASC, scheduled_ms ASC, id ASC
    LIMIT @max
    FOR UPDATE SKIP LOCKED
)
UPDATE task
SET state = 'running',
    attempt = task.attempt + 1,
    attempted_ms = @now_ms,
    worker_id = @worker_id
FROM locked
WHERE task.id = locked.id
RETURNING task.id, task.kind, task.args, task.attempt;

-- name: TaskSetCompleted :execrows
UPDATE task SET state = 'completed', finalized_ms = @now_ms WHERE id = @id AND state = 'running';

-- name: TaskSetCompletedMany :exec
UPDATE task SET state = 'completed', finalized_ms = @now_ms WHERE id = ANY(@ids::bigint[]) AND state = 'running';

-- name: TaskSetDiscarded :exec
UPDATE task SET state = 'discarded', finalized_ms = @now_ms, last_error = @last_error WHERE id = @id;

-- name: TaskSetRetryable :exec
UPDATE task
SET state = 'retryable', scheduled_ms = @scheduled_ms, last_error = @last_error
WHERE id = @id AND state = 'running';

-- name: TaskSnooze :exec
UPDATE task SET state = 'available', scheduled_ms = @scheduled_ms, attempt = attempt - 1 WHERE id = @id;

-- name: TaskCancel :execrows
UPDATE task
SET state = 'cancelled', finalized_ms = @now_ms
WHERE id = @id AND state NOT IN ('cancelled', 'completed', 'discarded') AND finalized_ms IS NULL;

-- name: TaskRetry :one
UPDATE task
SET state = 'available', scheduled_ms = @now_ms, finalized_ms = NULL,
    max_attempts = CASE WHEN attempt = max_attempts THEN max_attempts + 1 ELSE max_attempts END
WHERE id = @id AND state <> 'running'
RETURNING id, state, max_attempts;

-- name: TaskDelete :execrows
DELETE FROM task WHERE id = $1 AND state <> 'running';

-- name: TaskDeleteBefore :execresult
DELETE FROM task
WHERE id IN (
    SELECT id FROM task
    WHERE state IN ('completed', 'cancelled', 'discarded') AND finalized_ms < @horizon_ms
    ORDER BY id
    LIMIT @max
);

-- name: TaskCountByState :many
SELECT state, count(*) AS count FROM task WHERE queue = @queue GROUP BY state ORDER BY state;

-- name: TaskRescueStuck :execrows
UPDATE task SET state = 'retryable', scheduled_ms = @now_ms
WHERE state = 'running' AND attempted_ms < @stuck_before_ms AND attempt < max_attempts;

-- name: TaskSchedule :execrows
UPDATE task SET state = 'available'
WHERE state = 'retryable' AND scheduled_ms <= @now_ms;

-- name: TaskKindList :many
SELECT DISTINCT kind FROM task WHERE kind LIKE @prefix || '%' ORDER BY kind;

-- name: TaskListFiltered :many
SELECT id, kind, state, priority
FROM /* TEMPLATE: schema */task
WHERE queue = @queue AND /* TEMPLATE_BEGIN: where_clause */ true /* TEMPLATE_END */
ORDER BY id
LIMIT @max;

-- name: TaskListFinalized :many
SELECT id, finalized_ms FROM task WHERE finalized_ms IS NOT NULL ORDER BY finalized_ms DESC, id LIMIT 100;

-- name: TaskUpdateArgs :exec
UPDATE task SET args = @args WHERE id = @id;

-- name: TaskOldestAvailable :one
SELECT min(scheduled_ms) AS oldest_ms FROM task WHERE queue = @queue AND state = 'available';
