-- Creates an execution, its lane and its idempotency key. No row: the execution id is taken, or the key
-- belongs to another execution that is younger than `expired_before_ms`; nothing but the lane is written then.
-- name: execution_create :opt
-- param: idempotency_key text null, deadline_at_ms i64 null, policy json null, required_capabilities text[]
-- diverges(where.namespace#5e0747): Postgres hands the key over within the statement, SQLite reads it back from its table.
INSERT INTO ff_idempotency_key AS held (namespace, idempotency_key, partition_key, execution_id, created_at_ms)
SELECT :namespace, :idempotency_key, :partition_key, :execution_id, :now_ms
 WHERE CAST(:idempotency_key AS text) IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM ff_exec_core AS existing
                    WHERE existing.partition_key = :partition_key AND existing.execution_id = :execution_id)
    ON CONFLICT (namespace, idempotency_key) DO UPDATE
   SET partition_key = excluded.partition_key, execution_id = excluded.execution_id,
       created_at_ms = excluded.created_at_ms
 WHERE held.created_at_ms <= :expired_before_ms OR held.execution_id = excluded.execution_id;
INSERT INTO ff_execution_capabilities (execution_id, capability)
SELECT :execution_id, required.value FROM json_each(:required_capabilities) AS required
 WHERE (CAST(:idempotency_key AS text) IS NULL
        OR EXISTS (SELECT 1 FROM ff_idempotency_key AS key
                    WHERE key.namespace = :namespace AND key.idempotency_key = :idempotency_key
                      AND key.execution_id = :execution_id))
   AND NOT EXISTS (SELECT 1 FROM ff_exec_core AS existing
                    WHERE existing.partition_key = :partition_key AND existing.execution_id = :execution_id)
    ON CONFLICT (execution_id, capability) DO NOTHING;
-- returns
INSERT INTO ff_exec_core
       (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state, public_state,
        attempt_state, priority, created_at_ms, deadline_at_ms, payload, policy, raw_fields)
SELECT :partition_key, :execution_id, :lane_id, 'submitted', 'unowned', :eligibility_state, :public_state, 'pending',
       :priority, :now_ms, :deadline_at_ms, :payload, :policy, :raw_fields
 WHERE (CAST(:idempotency_key AS text) IS NULL
        OR EXISTS (SELECT 1 FROM ff_idempotency_key AS key
                    WHERE key.namespace = :namespace AND key.idempotency_key = :idempotency_key
                      AND key.execution_id = :execution_id))
    ON CONFLICT (partition_key, execution_id) DO NOTHING
RETURNING execution_id;
INSERT INTO ff_lane_registry (lane_id, registered_at_ms, registered_by)
VALUES (:lane_id, :now_ms, 'create_execution')
    ON CONFLICT (lane_id) DO NOTHING;

-- Finds whom a creation that wrote nothing repeats: the execution of that id, else the holder of the key.
-- name: execution_duplicate :opt
-- allow(local-with-shards): who repeats a creation is also told by its key, which has no partition.
-- both
-- param: idempotency_key text null
SELECT existing.partition_key, existing.execution_id, 0 AS rank FROM ff_exec_core AS existing
 WHERE existing.partition_key = :partition_key AND existing.execution_id = :execution_id
UNION ALL
SELECT key.partition_key, key.execution_id, 1 AS rank FROM ff_idempotency_key AS key
 WHERE key.namespace = :namespace AND key.idempotency_key = :idempotency_key
 ORDER BY rank LIMIT 1;

-- Reads an execution without its payload and result.
-- name: execution_read :opt
-- column: required_capabilities text
SELECT core.flow_id, core.lane_id, core.attempt_index, core.lifecycle_phase, core.ownership_state,
       core.eligibility_state, core.public_state, core.attempt_state, core.blocking_reason, core.cancellation_reason,
       core.cancelled_by, core.priority, core.created_at_ms, core.terminal_at_ms, core.deadline_at_ms, core.raw_fields,
       core.started_at_ms,
       (SELECT COALESCE(group_concat(required.capability, ','), '') FROM ff_execution_capabilities AS required
         WHERE required.execution_id = core.execution_id) AS required_capabilities
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Reads the state that a transaction decides on, and keeps it so until the transaction ends.
-- name: execution_lock :opt
SELECT core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.public_state, core.attempt_state,
       core.attempt_index, core.lease_reclaim_count
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Keeps an execution that nobody else holds until the transaction ends. No row: there is none, or somebody holds it.
-- name: execution_try_lock :opt
SELECT core.execution_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Keeps what belongs to an execution, its places in the queues included, until the transaction ends, as far as nobody
-- else holds it. Counts what is kept and what there is: where less is kept, somebody holds the rest.
-- name: execution_parts_try_lock :one
-- column: kept_count i64, there_count i64
WITH attempt AS (
  SELECT held.execution_id FROM ff_attempt AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
),
suspension AS (
  SELECT held.execution_id FROM ff_suspension_current AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
),
waitpoint AS (
  SELECT held.execution_id FROM ff_waitpoint_pending AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
),
claim_grant AS (
  SELECT held.execution_id FROM ff_claim_grant AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
),
claimable AS (
  SELECT held.execution_id FROM ff_claimable AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
),
delayed AS (
  SELECT held.execution_id FROM ff_delayed AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
),
granted AS (
  SELECT held.execution_id FROM ff_granted AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
)
SELECT (SELECT count(*) FROM attempt) + (SELECT count(*) FROM suspension) + (SELECT count(*) FROM waitpoint)
       + (SELECT count(*) FROM claim_grant) + (SELECT count(*) FROM claimable) + (SELECT count(*) FROM delayed)
       + (SELECT count(*) FROM granted) AS kept_count,
       (SELECT count(*) FROM ff_attempt AS held
         WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id)
       + (SELECT count(*) FROM ff_suspension_current AS held
           WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id)
       + (SELECT count(*) FROM ff_waitpoint_pending AS held
           WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id)
       + (SELECT count(*) FROM ff_claim_grant AS held
           WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id)
       + (SELECT count(*) FROM ff_claimable AS held
           WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id)
       + (SELECT count(*) FROM ff_delayed AS held
           WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id)
       + (SELECT count(*) FROM ff_granted AS held
           WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id) AS there_count;

-- Reads the public state as stored.
-- name: execution_state_read :opt
-- both
SELECT core.public_state FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Reads the result of the last completion.
-- name: execution_result_read :opt
-- both
SELECT core.result FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Reads the input of an execution and its open document.
-- name: execution_context_read :opt
-- both
SELECT core.payload, core.raw_fields FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Reads the index of the attempt that the execution points to.
-- name: execution_attempt_index_read :opt
-- both
SELECT core.attempt_index FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Reads the open document: namespace, tags, counters.
-- name: execution_fields_read :opt
-- both
SELECT core.raw_fields FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Reads the flow that owns an execution.
-- name: execution_flow_read :opt
-- both
SELECT core.flow_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Lists a partition's executions in the order of their ids, strictly after a cursor; all when it is the nil id.
-- name: execution_list :many
-- both
SELECT core.execution_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id > :after
 ORDER BY core.execution_id LIMIT :page_size;

-- Lists the lanes on which delayed executions are due: from one lane to the next, so that what a lane has is not read.
-- name: execution_due_lane_list :many
-- both
-- column: lane_id text
WITH RECURSIVE lane (lane_id) AS (
  SELECT min(queued.lane_id) FROM ff_delayed AS queued
  UNION ALL
  SELECT (SELECT min(queued.lane_id) FROM ff_delayed AS queued WHERE queued.lane_id > lane.lane_id) FROM lane
   WHERE lane.lane_id IS NOT NULL
)
SELECT lane.lane_id FROM lane
 WHERE EXISTS (SELECT 1 FROM ff_delayed AS queued WHERE queued.lane_id = lane.lane_id AND queued.due_at_ms <= :now_ms);

-- Makes delayed executions of a lane eligible whose time has come and gives them back the deadline they had before.
-- Written as an upsert because Postgres routes an insert to one partition, while an update that joins would
-- lock them all; the inserted values are inert, since every row of `ff_delayed` has its execution.
-- name: execution_promote_due :rows
WITH waiting AS (
  SELECT queued.partition_key, queued.execution_id, queued.lane_id FROM ff_delayed AS queued
   WHERE queued.lane_id = :lane_id AND queued.due_at_ms <= :now_ms
   ORDER BY queued.due_at_ms
),
due AS (SELECT waiting.partition_key, waiting.execution_id, waiting.lane_id FROM waiting LIMIT :batch_size)
INSERT INTO ff_exec_core AS core
       (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state, public_state,
        attempt_state, created_at_ms)
SELECT due.partition_key, due.execution_id, due.lane_id, 'terminal', 'unowned', 'not_applicable', 'skipped',
       'attempt_terminal', 0
  FROM due
 WHERE true
    ON CONFLICT (partition_key, execution_id) DO UPDATE
   SET eligibility_state = 'eligible_now', public_state = 'waiting', blocking_reason = 'waiting_for_worker',
       deadline_at_ms = CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
 WHERE core.eligibility_state = 'not_eligible_until_time' AND core.deadline_at_ms <= :now_ms;
