-- Reads who holds a worker instance's registration.
-- name: worker_read :opt
SELECT known.worker_id FROM ff_worker_registry AS known
 WHERE known.namespace = :namespace AND known.worker_instance_id = :worker_instance_id;

-- Registers a worker instance or refreshes its registration. Nothing is written when another worker holds it.
-- name: worker_register :rows
-- param: lanes_csv text
-- diverges(insert.lanes#190929): a text array on Postgres, the same words joined by commas on SQLite.
INSERT INTO ff_worker_registry AS known
       (namespace, worker_instance_id, worker_id, lanes, capabilities_csv, last_heartbeat_ms, liveness_ttl_ms,
        registered_at_ms)
VALUES (:namespace, :worker_instance_id, :worker_id, :lanes_csv, :capabilities_csv, :now_ms, :liveness_ttl_ms, :now_ms)
    ON CONFLICT (namespace, worker_instance_id) DO UPDATE
   SET lanes = excluded.lanes, capabilities_csv = excluded.capabilities_csv,
       last_heartbeat_ms = excluded.last_heartbeat_ms, liveness_ttl_ms = excluded.liveness_ttl_ms
 WHERE known.worker_id = excluded.worker_id;

-- Moves a live worker's heartbeat forward. No row: it is unknown, or its time to live has run out.
-- name: worker_heartbeat :opt
UPDATE ff_worker_registry SET last_heartbeat_ms = max(last_heartbeat_ms, :now_ms)
 WHERE namespace = :namespace AND worker_instance_id = :worker_instance_id
   AND last_heartbeat_ms > :now_ms - liveness_ttl_ms
RETURNING last_heartbeat_ms, liveness_ttl_ms;

-- Forgets a worker instance.
-- name: worker_delete :rows
DELETE FROM ff_worker_registry WHERE namespace = :namespace AND worker_instance_id = :worker_instance_id;

-- Writes down what happened to a worker instance; the same event twice is one.
-- name: worker_event_insert :exec
-- param: reason text null
INSERT INTO ff_worker_registry_event (namespace, worker_instance_id, event_kind, event_at_ms, reason)
VALUES (:namespace, :worker_instance_id, :event_kind, :now_ms, :reason)
    ON CONFLICT (namespace, worker_instance_id, event_at_ms, event_kind) DO NOTHING;

-- Lists a namespace's workers in the order of the bytes of their instance ids, strictly after a cursor.
-- name: worker_list :many
-- diverges(columns.lanes_csv#e616c4): a text array on Postgres, the same words joined by commas on SQLite.
-- column: lanes_csv text
SELECT known.worker_id, known.worker_instance_id, known.lanes AS lanes_csv, known.capabilities_csv,
       known.last_heartbeat_ms, known.liveness_ttl_ms, known.registered_at_ms
  FROM ff_worker_registry AS known
 WHERE known.namespace = :namespace AND known.worker_instance_id > :after
 ORDER BY known.worker_instance_id LIMIT :page_size;

-- Lists the instances whose time to live has run out, so that the sweep can forget them.
-- name: worker_lapsed_list :many
-- both
SELECT known.namespace, known.worker_instance_id FROM ff_worker_registry AS known
 WHERE known.last_heartbeat_ms < :now_ms - known.liveness_ttl_ms
 ORDER BY known.last_heartbeat_ms LIMIT :page_size;

-- Keeps a worker instance's registration that nobody else holds until the transaction ends. No row: there is none, or
-- somebody holds it.
-- name: worker_try_lock :opt
SELECT known.worker_instance_id FROM ff_worker_registry AS known
 WHERE known.namespace = :namespace AND known.worker_instance_id = :worker_instance_id;

-- Forgets a worker instance whose time to live has run out and writes that down.
-- name: worker_sweep :opt
INSERT INTO ff_worker_registry_event (namespace, worker_instance_id, event_kind, event_at_ms)
SELECT lapsed.namespace, lapsed.worker_instance_id, 'ttl_swept', :now_ms FROM ff_worker_registry AS lapsed
 WHERE lapsed.namespace = :namespace AND lapsed.worker_instance_id = :worker_instance_id
   AND lapsed.last_heartbeat_ms < :now_ms - lapsed.liveness_ttl_ms
    ON CONFLICT (namespace, worker_instance_id, event_at_ms, event_kind) DO NOTHING;
DELETE FROM ff_worker_registry
 WHERE namespace = :namespace AND worker_instance_id = :worker_instance_id
   AND last_heartbeat_ms < :now_ms - liveness_ttl_ms
RETURNING worker_instance_id;
