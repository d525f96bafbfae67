-- Reads who is registered under an instance id; the row stays locked until the transaction ends.
-- name: worker_get :opt
SELECT worker_id
  FROM ff_worker_registry
 WHERE partition_key = :partition_key
   AND namespace = :namespace
   AND worker_instance_id = :worker_instance_id
   FOR UPDATE;

-- Registers an instance or renews its registration; touches no row when the instance id belongs to another worker.
-- name: worker_put :rows
INSERT INTO ff_worker_registry (partition_key, namespace, worker_instance_id, worker_id, lanes, capabilities_csv,
       last_heartbeat_ms, liveness_ttl_ms, registered_at_ms)
VALUES (:partition_key, :namespace, :worker_instance_id, :worker_id, string_to_array(:lanes_csv, ','), :capabilities_csv,
       :now_ms, :liveness_ttl_ms, :now_ms)
ON CONFLICT (partition_key, namespace, worker_instance_id) DO UPDATE
   SET lanes = excluded.lanes,
       capabilities_csv = excluded.capabilities_csv,
       last_heartbeat_ms = excluded.last_heartbeat_ms,
       liveness_ttl_ms = excluded.liveness_ttl_ms
 WHERE ff_worker_registry.worker_id = excluded.worker_id;

-- Writes one line of an instance's history; a second line of the same kind in the same millisecond is dropped.
-- name: worker_event_put :exec
-- param: reason text null
INSERT INTO ff_worker_registry_event (partition_key, namespace, worker_instance_id, event_kind, event_at_ms, reason)
VALUES (:partition_key, :namespace, :worker_instance_id, :event_kind, :now_ms, :reason)
ON CONFLICT DO NOTHING;

-- Extends the registration of an instance that has not lapsed, and notes it; no row means that it has.
-- The time stamp never moves backwards.
-- name: worker_heartbeat :opt
WITH alive AS (
  SELECT namespace, worker_instance_id
    FROM ff_worker_registry
   WHERE partition_key = :partition_key
     AND namespace = :namespace
     AND worker_instance_id = :worker_instance_id
     AND :now_ms - last_heartbeat_ms < liveness_ttl_ms
     FOR UPDATE
), history AS (
  INSERT INTO ff_worker_registry_event (partition_key, namespace, worker_instance_id, event_kind, event_at_ms)
  SELECT :partition_key, alive.namespace, alive.worker_instance_id, 'heartbeat', :now_ms
    FROM alive
  ON CONFLICT DO NOTHING
)
UPDATE ff_worker_registry
   SET last_heartbeat_ms = greatest(last_heartbeat_ms, :now_ms)
 WHERE partition_key = :partition_key
   AND namespace = :namespace
   AND worker_instance_id = :worker_instance_id
   AND :now_ms - last_heartbeat_ms < liveness_ttl_ms
RETURNING liveness_ttl_ms;

-- Takes an instance out of the registry; no row means that it was not there.
-- name: worker_delete :opt
DELETE FROM ff_worker_registry
 WHERE partition_key = :partition_key
   AND namespace = :namespace
   AND worker_instance_id = :worker_instance_id
RETURNING worker_id;

-- Takes every lapsed instance of a partition out of the registry, with a line in its history each.
-- name: worker_sweep :many
WITH lapsed AS (
  SELECT namespace, worker_instance_id
    FROM ff_worker_registry
   WHERE partition_key = :partition_key
     AND :now_ms - last_heartbeat_ms > liveness_ttl_ms
     FOR UPDATE
), history AS (
  INSERT INTO ff_worker_registry_event (partition_key, namespace, worker_instance_id, event_kind, event_at_ms)
  SELECT :partition_key, namespace, worker_instance_id, 'ttl_swept', :now_ms
    FROM lapsed
  ON CONFLICT DO NOTHING
)
DELETE FROM ff_worker_registry
 WHERE partition_key = :partition_key
   AND :now_ms - last_heartbeat_ms > liveness_ttl_ms
RETURNING namespace, worker_instance_id;

-- One page of a namespace's instances, by instance id in byte order; lapsed ones are listed too.
-- name: worker_list :many
-- param: after text null
-- allow(shard-key): a namespace's instances are spread over all partitions and are listed together.
SELECT worker_instance_id, worker_id, array_to_string(lanes, ',') AS lanes_csv, capabilities_csv,
       last_heartbeat_ms, liveness_ttl_ms, registered_at_ms
  FROM ff_worker_registry
 WHERE namespace = :namespace
   AND (:after::text IS NULL OR worker_instance_id COLLATE "C" > :after)
 ORDER BY worker_instance_id COLLATE "C"
 LIMIT :limit;
