-- name: server_time :one
SELECT CAST(extract(epoch FROM statement_timestamp()) * 1000 AS bigint) AS now_ms;

-- Reads how many locks a transaction may count on, and how many partitions a table has.
-- name: server_lock_budget :one
-- only: pg — SQLite locks the whole database.
-- column: locks i64
-- column: partitions i64
SELECT CAST(current_setting('max_locks_per_transaction') AS bigint) AS locks,
       (SELECT count(*) FROM pg_inherits AS part WHERE part.inhparent = to_regclass('ff_exec_core')) AS partitions;

-- Says how the statements of this session or transaction are planned: `force_custom_plan`, each time for the values
-- given, or `force_generic_plan`, once.
-- name: server_plan :exec
-- only: pg — SQLite plans a statement when it is prepared.
-- param: mode text
-- param: for_transaction bool
SELECT set_config('plan_cache_mode', :mode, :for_transaction);

-- Sets something for the rest of a session.
-- name: server_set :exec
-- only: pg — SQLite is set up as its connections are opened.
-- param: setting text, value text
SELECT set_config(:setting, :value, false);

-- What a setting is in this session, if it is any.
-- name: server_setting_read :one
-- only: pg — SQLite is set up as its connections are opened.
-- param: setting text
-- column: value text null
SELECT current_setting(:setting, true) AS value;

-- Which of the server's sessions serves this connection.
-- name: server_session_read :one
-- only: pg — nobody stands between a program and its SQLite.
-- column: session_id i32
SELECT pg_backend_pid() AS session_id;

-- Whether the tables are spread over several nodes.
-- name: server_is_spread :one
-- only: pg — an SQLite database is one file.
-- column: is_spread bool
SELECT ff_is_spread() AS is_spread;
