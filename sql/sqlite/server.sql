-- Reads the database's own clock, in milliseconds.
-- name: server_time :one
-- column: now_ms i64
-- diverges(results.now_ms): each engine reads its own clock, and time passes.
SELECT CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS bigint) AS now_ms;

-- Asks the database for a sign of life.
-- name: server_ping :one
-- both
-- column: alive i32
SELECT 1 AS alive;
