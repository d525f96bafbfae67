-- Reads the database's own clock, in milliseconds.
-- name: server_time :one
-- column: now_ms i64
SELECT CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS bigint) AS now_ms;

-- Asks the database for a sign of life.
-- name: server_ping :one
-- both
-- column: alive i32
SELECT 1 AS alive;
