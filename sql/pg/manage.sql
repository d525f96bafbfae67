-- name: manage_execution_list :many
SELECT core.partition_key, core.execution_id, core.flow_id, core.lane_id, core.eligibility_state, core.public_state,
       core.blocking_reason, core.priority, core.created_at_ms, core.terminal_at_ms, core.deadline_at_ms, core.raw_fields,
       array_to_string(core.required_capabilities, ',') AS required_capabilities
  FROM ff_exec_core AS core
 WHERE (core.partition_key, core.execution_id) > (:after_partition_key, :after_execution_id)
   AND (CAST(:lane_id AS text) IS NULL OR core.lane_id = :lane_id)
   AND (CAST(:flow_id AS uuid) IS NULL OR core.flow_id = :flow_id)
   AND (:any_state = 1 OR core.public_state = ANY (:states))
   AND COALESCE(core.terminal_at_ms, core.created_at_ms) <= :before_ms
 ORDER BY core.partition_key, core.execution_id LIMIT :page_size;

-- The indexes beside the tables, and whether each is whole: one whose making was interrupted is not, and nothing reads it.
-- name: manage_index_list :many
-- only: pg — SQLite makes an index within a transaction, and reads its own list of them by a PRAGMA.
-- column: index_name text, is_whole bool
SELECT CAST(made.relname AS text) AS index_name, held.indisvalid AS is_whole
  FROM pg_index AS held
  JOIN pg_class AS made ON made.oid = held.indexrelid
  JOIN pg_class AS core ON core.relnamespace = made.relnamespace
 WHERE core.oid = CAST(to_regclass('ff_exec_core') AS oid)
 ORDER BY made.relname;

-- How many rows the tables have, partitions by themselves, how many dead ones wait for a vacuum, and how large they are with
-- their indexes.
-- name: manage_table_list :many
-- only: pg — SQLite has no dead rows: it says by a PRAGMA how many pages of its file are free.
-- column: table_name text, live_count i64, dead_count i64, byte_count i64
SELECT CAST(seen.relname AS text) AS table_name, seen.n_live_tup AS live_count, seen.n_dead_tup AS dead_count,
       pg_total_relation_size(CAST(seen.relid AS regclass)) AS byte_count
  FROM pg_stat_user_tables AS seen
  JOIN pg_class AS core ON core.oid = CAST(to_regclass('ff_exec_core') AS oid)
  JOIN pg_namespace AS home ON home.oid = core.relnamespace
 WHERE seen.schemaname = home.nspname
 ORDER BY seen.relname;

-- How many transactions ago the oldest one of this database was frozen, and for how many seconds the oldest transaction
-- under way keeps dead rows from being taken away; none is under way with 0.
-- name: manage_vacuum_read :one
-- only: pg — SQLite has no vacuum that waits for readers.
-- column: frozen_age i64, oldest_seconds i64
SELECT CAST(age(db.datfrozenxid) AS bigint) AS frozen_age,
       (SELECT COALESCE(max(CAST(extract(epoch FROM statement_timestamp() - busy.xact_start) AS bigint)), 0)
          FROM pg_stat_activity AS busy
         WHERE busy.datid = db.oid AND busy.pid <> pg_backend_pid()) AS oldest_seconds
  FROM pg_database AS db
 WHERE db.datname = current_database();
