-- Reads who is registered under an instance id; the row stays locked until the transaction ends.
-- name: worker_get :opt
-- diverges(lock): BEGIN IMMEDIATE already holds the single write lock, so no row lock is needed.
-- diverges(where.partition_key): the table has no partition column on SQLite, which does not partition.
SELECT worker_id
  FROM ff_worker_registry
 WHERE namespace = :namespace
   AND worker_instance_id = :worker_instance_id;

-- Registers an instance or renews its registration; touches no row when the instance id belongs to another worker.
-- name: worker_put :rows
-- diverges(values.partition_key): the table has no partition column on SQLite, which does not partition.
-- diverges(conflict): the key of the Postgres table starts with its partition column.
-- diverges(values.lanes): a sorted list separated by commas here, a text array on Postgres.
INSERT INTO ff_worker_registry (namespace, worker_instance_id, worker_id, lanes, capabilities_csv,
       last_heartbeat_ms, liveness_ttl_ms, registered_at_ms)
VALUES (:namespace, :worker_instance_id, :worker_id, :lanes_csv, :capabilities_csv, :now_ms, :liveness_ttl_ms, :now_ms)
ON CONFLICT (namespace, worker_instance_id) DO UPDATE
   SET lanes = excluded.lanes,
       capabilities_csv = excluded.capabilities_csv,
       last_heartbeat_ms = excluded.last_heartbeat_ms,
       liveness_ttl_ms = excluded.liveness_ttl_ms
 WHERE ff_worker_registry.worker_id = excluded.worker_id;

-- Writes one line of an instance's history; a second line of the same kind in the same millisecond is dropped.
-- name: worker_event_put :exec
-- diverges(values.partition_key): the table has no partition column on SQLite, which does not partition.
-- param: reason text null
INSERT INTO ff_worker_registry_event (namespace, worker_instance_id, event_kind, event_at_ms, reason)
VALUES (:namespace, :worker_instance_id, :event_kind, :now_ms, :reason)
ON CONFLICT DO NOTHING;

-- Extends the registration of an instance that has not lapsed, and notes it; no row means that it has.
-- The time stamp never moves backwards.
-- name: worker_heartbeat :opt
-- diverges(lock): BEGIN IMMEDIATE already holds the single write lock, so no row lock is needed.
-- diverges(values.partition_key): the table has no partition column on SQLite, which does not partition.
-- diverges(where.partition_key): the table has no partition column on SQLite, which does not partition.
WITH alive AS (
  SELECT namespace, worker_instance_id
    FROM ff_worker_registry
   WHERE namespace = :namespace
     AND worker_instance_id = :worker_instance_id
     AND :now_ms - last_heartbeat_ms < liveness_ttl_ms
)
INSERT INTO ff_worker_registry_event (namespace, worker_instance_id, event_kind, event_at_ms)
SELECT alive.namespace, alive.worker_instance_id, 'heartbeat', :now_ms
  FROM alive
 WHERE true
ON CONFLICT DO NOTHING;
UPDATE ff_worker_registry
   SET last_heartbeat_ms = max(last_heartbeat_ms, :now_ms)
 WHERE namespace = :namespace
   AND worker_instance_id = :worker_instance_id
   AND :now_ms - last_heartbeat_ms < liveness_ttl_ms
RETURNING liveness_ttl_ms;

-- Takes an instance out of the registry; no row means that it was not there.
-- name: worker_delete :opt
-- diverges(where.partition_key): the table has no partition column on SQLite, which does not partition.
DELETE FROM ff_worker_registry
 WHERE namespace = :namespace
   AND worker_instance_id = :worker_instance_id
RETURNING worker_id;

-- Takes every lapsed instance out of the registry, with a line in its history each.
-- name: worker_sweep :many
-- diverges(lock): BEGIN IMMEDIATE already holds the single write lock, so no row lock is needed.
-- diverges(values.partition_key): the table has no partition column on SQLite, which does not partition.
-- diverges(where.partition_key): the table has no partition column on SQLite, which does not partition.
INSERT INTO ff_worker_registry_event (namespace, worker_instance_id, event_kind, event_at_ms)
SELECT namespace, worker_instance_id, 'ttl_swept', :now_ms
  FROM ff_worker_registry
 WHERE :now_ms - last_heartbeat_ms > liveness_ttl_ms
ON CONFLICT DO NOTHING;
DELETE FROM ff_worker_registry
 WHERE :now_ms - last_heartbeat_ms > liveness_ttl_ms
RETURNING namespace, worker_instance_id;

-- One page of a namespace's instances, by instance id in byte order; lapsed ones are listed too.
-- name: worker_list :many
-- param: after text null
-- diverges(columns.lanes_csv): a sorted list separated by commas here, a text array on Postgres.
SELECT worker_instance_id, worker_id, lanes AS lanes_csv, capabilities_csv,
       last_heartbeat_ms, liveness_ttl_ms, registered_at_ms
  FROM ff_worker_registry
 WHERE namespace = :namespace
   AND (:after IS NULL OR worker_instance_id > :after)
 ORDER BY worker_instance_id
 LIMIT :limit;
