-- name: worker_read :opt
SELECT known.worker_id FROM ff_worker_registry AS known
 WHERE known.partition_key = :partition_key AND known.namespace = :namespace
   AND known.worker_instance_id = :worker_instance_id
   FOR UPDATE;

-- name: worker_register :rows
INSERT INTO ff_worker_registry AS known
       (partition_key, namespace, worker_instance_id, worker_id, lanes, capabilities_csv, last_heartbeat_ms,
        liveness_ttl_ms, registered_at_ms)
VALUES (:partition_key, :namespace, :worker_instance_id, :worker_id, string_to_array(:lanes_csv, ','),
        :capabilities_csv, :now_ms, :liveness_ttl_ms, :now_ms)
    ON CONFLICT (partition_key, namespace, worker_instance_id) DO UPDATE
   SET lanes = excluded.lanes, capabilities_csv = excluded.capabilities_csv,
       last_heartbeat_ms = excluded.last_heartbeat_ms, liveness_ttl_ms = excluded.liveness_ttl_ms
 WHERE known.worker_id = excluded.worker_id;

-- name: worker_heartbeat :opt
UPDATE ff_worker_registry SET last_heartbeat_ms = greatest(last_heartbeat_ms, :now_ms)
 WHERE partition_key = :partition_key AND namespace = :namespace AND worker_instance_id = :worker_instance_id
   AND last_heartbeat_ms > :now_ms - liveness_ttl_ms
RETURNING last_heartbeat_ms, liveness_ttl_ms;

-- name: worker_delete :rows
DELETE FROM ff_worker_registry
 WHERE partition_key = :partition_key AND namespace = :namespace AND worker_instance_id = :worker_instance_id;

-- name: worker_event_insert :exec
INSERT INTO ff_worker_registry_event (partition_key, namespace, worker_instance_id, event_kind, event_at_ms, reason)
VALUES (:partition_key, :namespace, :worker_instance_id, :event_kind, :now_ms, :reason)
    ON CONFLICT (partition_key, namespace, worker_instance_id, event_at_ms, event_kind) DO NOTHING;

-- name: worker_list :many
SELECT known.worker_id, known.worker_instance_id, array_to_string(known.lanes, ',') AS lanes_csv,
       known.capabilities_csv, known.last_heartbeat_ms, known.liveness_ttl_ms, known.registered_at_ms
  FROM ff_worker_registry AS known
 WHERE known.namespace = :namespace AND known.worker_instance_id COLLATE "C" > :after
 ORDER BY known.worker_instance_id COLLATE "C" LIMIT :page_size;

-- name: worker_try_lock :opt
SELECT known.worker_instance_id FROM ff_worker_registry AS known
 WHERE known.partition_key = :partition_key AND known.namespace = :namespace
   AND known.worker_instance_id = :worker_instance_id
   FOR UPDATE SKIP LOCKED;

-- name: worker_sweep :opt
WITH lapsed AS (
  DELETE FROM ff_worker_registry
   WHERE partition_key = :partition_key AND namespace = :namespace AND worker_instance_id = :worker_instance_id
     AND last_heartbeat_ms < :now_ms - liveness_ttl_ms
  RETURNING namespace, worker_instance_id
),
event AS (
  INSERT INTO ff_worker_registry_event (partition_key, namespace, worker_instance_id, event_kind, event_at_ms)
  SELECT :partition_key, lapsed.namespace, lapsed.worker_instance_id, 'ttl_swept', :now_ms FROM lapsed
   WHERE true
      ON CONFLICT (partition_key, namespace, worker_instance_id, event_at_ms, event_kind) DO NOTHING
)
SELECT lapsed.worker_instance_id FROM lapsed;
