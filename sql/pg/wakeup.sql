-- Tells whoever listens, on any connection, what was committed: one message per pair of channel and payload.
-- Messages are hints, so nothing is lost when a crash swallows them, and the commit need not wait for the disk.
-- name: wakeup_send :exec
-- only: pg — SQLite has no NOTIFY; its waiters are in this process and are woken directly.
-- param: channels text[], payloads text[]
SELECT set_config('synchronous_commit', 'off', true), pg_notify(told.channel, told.payload)
  FROM unnest(CAST(:channels AS text[]), CAST(:payloads AS text[])) AS told (channel, payload);
