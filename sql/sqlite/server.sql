-- Reads the database's own clock, in milliseconds.
-- name: server_time :one
-- column: now_ms i64
-- diverges(results.now_ms): each engine reads its own clock, and time passes.
-- diverges(columns.now_ms): neither engine's clock is known to the other.
SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS bigint) AS now_ms;

-- Asks the database for a sign of life.
-- name: server_ping :one
-- column: alive i32
SELECT 1 AS alive;
