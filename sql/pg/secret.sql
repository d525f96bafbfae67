-- name: secret_active_read :opt
SELECT stored.kid, stored.secret FROM ff_waitpoint_hmac AS stored
 WHERE stored.active
 ORDER BY stored.rotated_at_ms DESC, stored.kid COLLATE "C" LIMIT 1;

-- name: secret_lock_all :many
-- allow(unbounded-wait): there are a few secrets, and one operator who changes them waits for the other.
SELECT stored.kid FROM ff_waitpoint_hmac AS stored ORDER BY stored.kid COLLATE "C" FOR UPDATE;

-- name: secret_turn_take :one
-- diverges(columns.is_taken#c25a42): SQLite has a single writer, which already excludes everybody else.
SELECT pg_advisory_xact_lock(hashtextextended('ff_waitpoint_hmac', 0)) IS NOT NULL AS is_taken;
