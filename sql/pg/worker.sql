-- Reads who holds a worker instance's registration.
-- name: worker_read :opt
SELECT known.worker_id FROM ff_worker_registry AS known
 WHERE known.partition_key = :partition_key AND known.namespace = :namespace
   AND known.worker_instance_id = :worker_instance_id
   FOR UPDATE;

-- Registers a worker instance or refreshes its registration. Nothing is written when another worker holds it.
-- name: worker_register :rows
-- param: lanes_csv text
INSERT INTO ff_worker_registry AS known
       (partition_key, namespace, worker_instance_id, worker_id, lanes, capabilities_csv, last_heartbeat_ms,
        liveness_ttl_ms, registered_at_ms)
VALUES (:partition_key, :namespace, :worker_instance_id, :worker_id, string_to_array(:lanes_csv, ','),
        :capabilities_csv, :now_ms, :liveness_ttl_ms, :now_ms)
    ON CONFLICT (partition_key, namespace, worker_instance_id) DO UPDATE
   SET lanes = excluded.lanes, capabilities_csv = excluded.capabilities_csv,
       last_heartbeat_ms = excluded.last_heartbeat_ms, liveness_ttl_ms = excluded.liveness_ttl_ms
 WHERE known.worker_id = excluded.worker_id;

-- Moves a live worker's heartbeat forward. No row: it is unknown, or its time to live has run out.
-- name: worker_heartbeat :opt
UPDATE ff_worker_registry SET last_heartbeat_ms = greatest(last_heartbeat_ms, :now_ms)
 WHERE partition_key = :partition_key AND namespace = :namespace AND worker_instance_id = :worker_instance_id
   AND last_heartbeat_ms > :now_ms - liveness_ttl_ms
RETURNING last_heartbeat_ms, liveness_ttl_ms;

-- Forgets a worker instance.
-- name: worker_delete :rows
DELETE FROM ff_worker_registry
 WHERE partition_key = :partition_key AND namespace = :namespace AND worker_instance_id = :worker_instance_id;

-- Writes down what happened to a worker instance; the same event twice is one.
-- name: worker_event_insert :exec
-- param: reason text null
INSERT INTO ff_worker_registry_event (partition_key, namespace, worker_instance_id, event_kind, event_at_ms, reason)
VALUES (:partition_key, :namespace, :worker_instance_id, :event_kind, :now_ms, :reason)
    ON CONFLICT (partition_key, namespace, worker_instance_id, event_at_ms, event_kind) DO NOTHING;

-- Lists a namespace's workers in the order of the bytes of their instance ids, strictly after a cursor.
-- name: worker_list :many
-- allow(shard-key): the listing is over all partitions by contract
-- column: lanes_csv text
SELECT known.worker_id, known.worker_instance_id, array_to_string(known.lanes, ',') AS lanes_csv,
       known.capabilities_csv, known.last_heartbeat_ms, known.liveness_ttl_ms, known.registered_at_ms
  FROM ff_worker_registry AS known
 WHERE known.namespace = :namespace AND known.worker_instance_id COLLATE "C" > :after
 ORDER BY known.worker_instance_id COLLATE "C" LIMIT :page_size;

-- Lists the instances whose time to live has run out, so that the sweep can forget them.
-- name: worker_lapsed_list :many
-- allow(shard-key): the sweep is over all partitions
SELECT known.namespace, known.worker_instance_id FROM ff_worker_registry AS known
 WHERE known.last_heartbeat_ms < :now_ms - known.liveness_ttl_ms
 ORDER BY known.last_heartbeat_ms LIMIT :page_size;

-- Keeps a worker instance's registration that nobody else holds until the transaction ends. No row: there is none, or
-- somebody holds it.
-- name: worker_try_lock :opt
SELECT known.worker_instance_id FROM ff_worker_registry AS known
 WHERE known.partition_key = :partition_key AND known.namespace = :namespace
   AND known.worker_instance_id = :worker_instance_id
   FOR UPDATE SKIP LOCKED;

-- Forgets a worker instance whose time to live has run out and writes that down.
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
