-- name: LeaderElect :execrows
INSERT INTO leader (name, holder, elected_ms, expires_ms)
VALUES (@name, @holder, @now_ms, @now_ms + @ttl_ms)
ON CONFLICT (name) DO NOTHING;

-- name: LeaderReelect :execrows
UPDATE leader SET expires_ms = @expires_ms WHERE name = @name AND holder = @holder AND expires_ms >= @now_ms;

-- name: LeaderResign :execrows
DELETE FROM leader WHERE name = @name AND holder = @holder;

-- name: LeaderDeleteExpired :execrows
DELETE FROM leader WHERE name = @name AND expires_ms < @now_ms;

-- name: ScheduleUpsert :exec
INSERT INTO schedule (name, kind, every_ms, next_run_ms)
VALUES (@name, @kind, @every_ms, @next_run_ms)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, every_ms = excluded.every_ms;

-- name: ScheduleDue :many
SELECT name, kind, every_ms, next_run_ms FROM schedule WHERE enabled AND next_run_ms <= @now_ms ORDER BY next_run_ms, name;

-- name: ScheduleAdvance :execrows
UPDATE schedule SET next_run_ms = next_run_ms + every_ms WHERE name = @name AND next_run_ms = @expected_ms;
