-- name: QueueUpsert :exec
INSERT INTO queue (name, metadata) VALUES (@name, @metadata)
ON CONFLICT (name) DO UPDATE SET metadata = EXCLUDED.metadata;

-- name: QueueGet :one
SELECT name, paused_ms, metadata FROM queue WHERE name = $1;

-- name: QueueList :many
SELECT name, paused_ms FROM queue ORDER BY name LIMIT @max;

-- name: QueuePause :execrows
UPDATE queue SET paused_ms = coalesce(paused_ms, @now_ms) WHERE name = @name;

-- name: QueueResume :execrows
UPDATE queue SET paused_ms = NULL WHERE name = @name AND paused_ms IS NOT NULL;

-- name: QueueDeleteUnused :execrows
DELETE FROM queue WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.queue = queue.name);

-- name: WorkerInsert :exec
INSERT INTO worker (id, queue, slots, started_ms, seen_ms) VALUES (@id, @queue, @slots, @now_ms, @now_ms);

-- name: WorkerTouch :execrows
UPDATE worker SET seen_ms = @now_ms WHERE id = @id;

-- name: WorkerListStale :many
SELECT id, queue, seen_ms FROM worker WHERE seen_ms < @horizon_ms ORDER BY seen_ms, id;

-- name: WorkerDelete :exec
DELETE FROM worker WHERE id = $1;

-- name: WorkerWithTasks :many
SELECT sqlc.embed(worker), count(task.id) AS running
FROM worker LEFT JOIN task ON task.worker_id = worker.id AND task.state = 'running'
GROUP BY worker.id
ORDER BY worker.id;
