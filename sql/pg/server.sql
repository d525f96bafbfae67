-- name: server_time :one
SELECT CAST(extract(epoch FROM statement_timestamp()) * 1000 AS bigint) AS now_ms;

-- Reads how many locks a transaction may count on.
-- name: server_lock_budget :one
-- only: pg — SQLite locks the whole database.
-- column: locks i64
SELECT CAST(current_setting('max_locks_per_transaction') AS bigint) AS locks;

-- Says how the statements of this session or transaction are planned: `force_custom_plan`, each time for the values
-- given, or `force_generic_plan`, once.
-- name: server_plan :exec
-- only: pg — SQLite plans a statement when it is prepared.
-- param: mode text
-- param: for_transaction bool
SELECT set_config('plan_cache_mode', :mode, :for_transaction);

-- Has the server look, while a statement runs or waits, whether its client is still there.
-- name: server_watch_client :exec
-- only: pg — SQLite runs in its client.
-- param: interval text
SELECT set_config('client_connection_check_interval', :interval, false);

-- Whether the tables are spread over several nodes.
-- name: server_is_spread :one
-- only: pg — an SQLite database is one file.
-- column: is_spread bool
SELECT ff_is_spread() AS is_spread;
