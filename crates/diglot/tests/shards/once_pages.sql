-- Lists executions that wait for something that may have come, in the order of their ids, strictly after a cursor.
-- name: admission_blocked_list :many
-- only: pg — the excerpt is about shards
-- column: required_capabilities text
SELECT core.partition_key, core.execution_id, core.blocking_reason, core.raw_fields,
       array_to_string(core.required_capabilities, ',') AS required_capabilities
  FROM ff_exec_core AS core
 WHERE (core.eligibility_state = 'blocked_by_budget'
        OR core.eligibility_state = 'blocked_by_quota'
        OR core.eligibility_state = 'blocked_by_route')
   AND core.lifecycle_phase = 'runnable'
   AND (core.partition_key, core.execution_id) > (:after_partition_key, :after_execution_id)
 ORDER BY core.partition_key, core.execution_id
 LIMIT :page_size;

-- Ends the running attempt and its execution with success. No row: the handle does not hold the lease.
-- name: attempt_complete :opt
-- only: pg — the excerpt is about shards
-- param: result bytes null
-- column: completion_event_id i64
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND held.lease_epoch = :lease_epoch
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'success',
         terminal_at_ms = :now_ms,
         lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
completion AS (
  INSERT INTO ff_completion_event
         (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT fence.partition_key, fence.execution_id, fence.flow_id, 'success',
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id',
         :now_ms
    FROM fence
  RETURNING event_id
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal',
         ownership_state = 'unowned',
         eligibility_state = 'not_applicable',
         public_state = 'completed',
         attempt_state = 'attempt_terminal',
         blocking_reason = NULL,
         terminal_at_ms = :now_ms,
         result = :result
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
  RETURNING core.flow_id
)
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM completion
 CROSS JOIN lease
 CROSS JOIN core;

-- Ends the running attempt and its execution with a failure. No row: the handle does not hold the lease.
-- name: attempt_fail :opt
-- only: pg — the excerpt is about shards
-- column: completion_event_id i64
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND held.lease_epoch = :lease_epoch
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'failed',
         terminal_at_ms = :now_ms,
         lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
completion AS (
  INSERT INTO ff_completion_event
         (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT fence.partition_key, fence.execution_id, fence.flow_id, 'failed',
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id',
         :now_ms
    FROM fence
  RETURNING event_id
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal',
         ownership_state = 'unowned',
         eligibility_state = 'not_applicable',
         public_state = 'failed',
         attempt_state = 'attempt_terminal',
         blocking_reason = NULL,
         terminal_at_ms = :now_ms,
         raw_fields = core.raw_fields || jsonb_build_object('last_failure_message', CAST(:failure_message AS text))
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
  RETURNING core.flow_id
)
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM completion
 CROSS JOIN lease
 CROSS JOIN core;

-- Cancels an execution for the worker that holds it. An execution that was never claimed has no attempt to
-- be fenced by and is cancelled as well. No row: it is missing, has ended, or another lease took over.
-- name: attempt_cancel :opt
-- only: pg — the excerpt is about shards
-- column: completion_event_id i64
-- column: lease_event_id i64 null
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields, core.attempt_index
    FROM ff_exec_core AS core
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase NOT IN ('terminal', 'cancelled')
     AND NOT EXISTS (SELECT 1
                       FROM ff_attempt AS held
                      WHERE held.partition_key = :partition_key
                        AND held.execution_id = :execution_id
                        AND held.attempt_index = :attempt_index
                        AND (held.lease_epoch <> :lease_epoch OR held.outcome IS NOT NULL))
     AND NOT EXISTS (SELECT 1
                       FROM ff_attempt AS later
                      WHERE later.partition_key = :partition_key
                        AND later.execution_id = :execution_id
                        AND later.attempt_index > :attempt_index)
     FOR UPDATE OF core
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
     AND attempt.attempt_index = :attempt_index
),
completion AS (
  INSERT INTO ff_completion_event
         (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT fence.partition_key, fence.execution_id, fence.flow_id, 'cancelled',
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id',
         :now_ms
    FROM fence
  RETURNING event_id
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
   WHERE EXISTS (SELECT 1
                   FROM ff_attempt AS held
                  WHERE held.partition_key = :partition_key
                    AND held.execution_id = :execution_id
                    AND held.attempt_index = :attempt_index)
  RETURNING event_id
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal',
         ownership_state = 'unowned',
         eligibility_state = 'not_applicable',
         public_state = 'cancelled',
         attempt_state = 'cancelled',
         blocking_reason = NULL,
         deadline_at_ms = CASE core.eligibility_state
                            WHEN 'not_eligible_until_time' THEN CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                            ELSE core.deadline_at_ms
                          END,
         terminal_at_ms = :now_ms,
         cancellation_reason = :reason,
         cancelled_by = 'worker',
         raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
  RETURNING core.flow_id
)
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM completion
 CROSS JOIN core
  LEFT JOIN lease ON true;

-- Gives every dimension that is asked for a counter, in the order in which reports lock them.
-- name: budget_usage_ensure :exec
-- only: pg — the excerpt is about shards
-- param: dimensions text[]
INSERT INTO ff_budget_usage
       (partition_key, budget_id, dimensions_key, current_value, updated_at_ms)
SELECT :partition_key, :budget_id, wanted.value, 0, :now_ms
  FROM unnest(CAST(:dimensions AS text[])) AS wanted (value)
 WHERE true
 ORDER BY wanted.value COLLATE "C"
    ON CONFLICT (partition_key, budget_id, dimensions_key) DO NOTHING;

-- Lists ends of members that nobody has followed to the last edge, the oldest first, strictly after a place.
-- The end of an execution outside a flow concerns nobody.
-- name: dependency_forgotten_list :many
-- only: pg — the excerpt is about shards
-- param: namespace text null
-- param: instance_tag text null
SELECT ended.partition_key, ended.event_id, ended.execution_id
  FROM ff_completion_event AS ended
 WHERE ended.dispatched_at_ms IS NULL
   AND ended.flow_id IS NOT NULL
   AND ended.event_id > :after_event_id
   AND ended.committed_at_ms < :committed_before_ms
   AND (CAST(:namespace AS text) IS NULL OR ended.namespace = :namespace)
   AND (CAST(:instance_tag AS text) IS NULL OR ended.instance_tag = :instance_tag)
 ORDER BY ended.event_id
 LIMIT :page_size;

-- The same for an execution that is also delayed: it waits for its time now. The wake-up time takes the
-- deadline's column, and the open document keeps the deadline.
-- name: dependency_child_delay :exec
-- only: pg — the excerpt is about shards
UPDATE ff_exec_core AS core
   SET lifecycle_phase = :lifecycle_phase,
       eligibility_state = 'not_eligible_until_time',
       public_state = 'delayed',
       attempt_state = :attempt_state,
       blocking_reason = 'waiting_for_delay',
       deadline_at_ms = :wake_at_ms,
       raw_fields = CASE
              WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
              ELSE core.raw_fields || jsonb_build_object('execution_deadline_at', core.deadline_at_ms)
            END
 WHERE core.partition_key = :partition_key
   AND core.execution_id = :execution_id;

-- Writes the completion of a flow's member.
-- name: dependency_completion_insert :one
-- only: pg — the excerpt is about shards
INSERT INTO ff_completion_event
       (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, :flow_id, :outcome,
       core.raw_fields ->> 'namespace',
       core.raw_fields -> 'tags' ->> 'cairn.instance_id',
       :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.execution_id = :execution_id
RETURNING event_id;

-- Lists the newest completions, newest first.
-- name: event_completion_newest :many
-- only: pg — the excerpt is about shards
SELECT told.event_id
  FROM ff_completion_event AS told
 ORDER BY told.event_id DESC
 LIMIT :page_size;

-- Lists completions in their order, strictly after one.
-- name: event_completion_page :many
-- only: pg — the excerpt is about shards
SELECT told.event_id, told.partition_key, told.execution_id, told.flow_id, told.outcome, told.occurred_at_ms,
       told.namespace, told.instance_tag
  FROM ff_completion_event AS told
 WHERE told.event_id > :after
 ORDER BY told.event_id
 LIMIT :page_size;

-- Creates an execution, its lane and its idempotency key. No row: the execution id is taken, or the key
-- belongs to another execution that is younger than `expired_before_ms`; nothing but the lane is written then.
-- name: execution_create :opt
-- only: pg — the excerpt is about shards
-- param: idempotency_key text null
-- param: deadline_at_ms i64 null
-- param: policy json null
-- param: required_capabilities text[]
WITH key AS (
  INSERT INTO ff_idempotency_key AS held
         (namespace, idempotency_key, partition_key, execution_id, created_at_ms)
  SELECT :namespace, :idempotency_key, :partition_key, :execution_id, :now_ms
   WHERE CAST(:idempotency_key AS text) IS NOT NULL
     AND NOT EXISTS (SELECT 1
                       FROM ff_exec_core AS existing
                      WHERE existing.partition_key = :partition_key
                        AND existing.execution_id = :execution_id)
      ON CONFLICT (namespace, idempotency_key) DO UPDATE
     SET partition_key = excluded.partition_key,
         execution_id = excluded.execution_id,
         created_at_ms = excluded.created_at_ms
   WHERE held.created_at_ms <= :expired_before_ms
      OR held.execution_id = excluded.execution_id
  RETURNING held.execution_id
),
core AS (
  INSERT INTO ff_exec_core
         (partition_key, execution_id, lane_id, required_capabilities, lifecycle_phase, ownership_state, eligibility_state,
          public_state, attempt_state, priority, created_at_ms, deadline_at_ms, payload, policy, raw_fields)
  SELECT :partition_key, :execution_id, :lane_id, :required_capabilities, 'submitted', 'unowned', :eligibility_state,
         :public_state, 'pending', :priority, :now_ms, :deadline_at_ms, :payload, :policy, :raw_fields
   WHERE (CAST(:idempotency_key AS text) IS NULL
          OR EXISTS (SELECT 1
                       FROM key
                      WHERE key.execution_id = :execution_id))
      ON CONFLICT (partition_key, execution_id) DO NOTHING
  RETURNING execution_id
),
lane AS (
  INSERT INTO ff_lane_registry (lane_id, registered_at_ms, registered_by)
  VALUES (:lane_id, :now_ms, 'create_execution')
      ON CONFLICT (lane_id) DO NOTHING
)
SELECT core.execution_id
  FROM core;

-- Finds whom a creation that wrote nothing repeats: the execution of that id, else the holder of the key.
-- name: execution_duplicate :opt
-- only: pg — the excerpt is about shards
-- param: idempotency_key text null
SELECT existing.partition_key, existing.execution_id, 0 AS rank
  FROM ff_exec_core AS existing
 WHERE existing.partition_key = :partition_key
   AND existing.execution_id = :execution_id
 UNION ALL
SELECT key.partition_key, key.execution_id, 1 AS rank
  FROM ff_idempotency_key AS key
 WHERE key.namespace = :namespace
   AND key.idempotency_key = :idempotency_key
 ORDER BY rank
 LIMIT 1;

-- Makes delayed executions eligible whose time has come and gives them back the deadline they had before.
-- Written as an upsert because Postgres routes an insert to one partition, while an update that joins would
-- lock them all; the inserted values are inert, since every row of `ff_delayed` has its execution.
-- name: execution_promote_due :rows
-- only: pg — the excerpt is about shards
WITH waiting AS (
  SELECT queued.partition_key, queued.execution_id, queued.lane_id
    FROM ff_delayed AS queued
   WHERE queued.due_at_ms <= :now_ms
   ORDER BY queued.due_at_ms
  OFFSET 0
),
due AS (
  SELECT waiting.partition_key, waiting.execution_id, waiting.lane_id
    FROM waiting
   WHERE ff_take_delayed(waiting.partition_key, waiting.execution_id, :now_ms) IS NOT NULL
   LIMIT :batch_size
)
INSERT INTO ff_exec_core AS core
       (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state,
        public_state, attempt_state, created_at_ms)
SELECT due.partition_key, due.execution_id, due.lane_id, 'terminal', 'unowned', 'not_applicable',
       'skipped', 'attempt_terminal', 0
  FROM due
 WHERE true
    ON CONFLICT (partition_key, execution_id) DO UPDATE
   SET eligibility_state = 'eligible_now',
       public_state = 'waiting',
       blocking_reason = 'waiting_for_worker',
       deadline_at_ms = CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
 WHERE core.eligibility_state = 'not_eligible_until_time'
   AND core.deadline_at_ms <= :now_ms;

-- Lists the executions with a lease that ran out, oldest first, strictly after a cursor.
-- name: expiry_lease_due_list :many
-- only: pg — the excerpt is about shards
-- column: lease_expires_at_ms i64
SELECT held.partition_key, held.execution_id, held.lease_expires_at_ms
  FROM ff_attempt AS held
 WHERE held.lease_expires_at_ms IS NOT NULL
   AND held.lease_expires_at_ms < :now_ms
   AND (held.lease_expires_at_ms, held.partition_key, held.execution_id)
       > (:after_expires_at_ms, :after_partition_key, :after_execution_id)
 ORDER BY held.lease_expires_at_ms, held.partition_key, held.execution_id
 LIMIT :page_size;

-- Lists the executions whose deadline has passed, oldest first, strictly after a cursor. What waits for a
-- time has its wake-up in the deadline column.
-- name: expiry_deadline_due_list :many
-- only: pg — the excerpt is about shards
-- column: deadline_at_ms i64
SELECT core.partition_key, core.execution_id, core.deadline_at_ms
  FROM ff_exec_core AS core
 WHERE core.deadline_at_ms IS NOT NULL
   AND core.lifecycle_phase NOT IN ('terminal', 'cancelled')
   AND core.eligibility_state <> 'not_eligible_until_time'
   AND core.deadline_at_ms < :now_ms
   AND (core.deadline_at_ms, core.partition_key, core.execution_id)
       > (:after_deadline_at_ms, :after_partition_key, :after_execution_id)
 ORDER BY core.deadline_at_ms, core.partition_key, core.execution_id
 LIMIT :page_size;

-- Writes the completion of every member in one of these phases.
-- name: flow_cancel_completion_events_insert :many
-- only: pg — the excerpt is about shards
-- param: phases text[]
INSERT INTO ff_completion_event
       (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, core.flow_id, 'cancelled',
       core.raw_fields ->> 'namespace',
       core.raw_fields -> 'tags' ->> 'cairn.instance_id',
       :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.flow_id = :flow_id
   AND core.lifecycle_phase = ANY(:phases)
 ORDER BY core.execution_id
RETURNING event_id;

-- Writes the end of the lease of every member in one of these phases, held or not.
-- name: flow_cancel_lease_events_insert :many
-- only: pg — the excerpt is about shards
-- param: phases text[]
INSERT INTO ff_lease_event
       (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT CAST(core.execution_id AS text),
       NULL, 'revoked', :now_ms, core.partition_key,
       core.raw_fields ->> 'namespace',
       core.raw_fields -> 'tags' ->> 'cairn.instance_id'
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.flow_id = :flow_id
   AND core.lifecycle_phase = ANY(:phases)
 ORDER BY core.execution_id
RETURNING event_id;

-- Writes the end of the lease of every member in one of these phases that a worker holds.
-- name: flow_cancel_held_lease_events_insert :many
-- only: pg — the excerpt is about shards
-- param: phases text[]
INSERT INTO ff_lease_event
       (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT CAST(core.execution_id AS text),
       NULL, 'revoked', :now_ms, core.partition_key,
       core.raw_fields ->> 'namespace',
       core.raw_fields -> 'tags' ->> 'cairn.instance_id'
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.flow_id = :flow_id
   AND core.lifecycle_phase = ANY(:phases)
   AND EXISTS (SELECT 1
                     FROM ff_attempt AS attempt
                    WHERE attempt.partition_key = :partition_key
                      AND attempt.execution_id = core.execution_id
                      AND attempt.worker_instance_id <> ''
                      AND (core.ownership_state = 'leased' OR attempt.lease_expires_at_ms IS NOT NULL)
                      AND (attempt.attempt_index = core.attempt_index
                       OR (attempt.terminal_at_ms IS NULL
                           AND NOT EXISTS (SELECT 1
                                             FROM ff_attempt AS other
                                            WHERE other.partition_key = :partition_key
                                              AND other.execution_id = core.execution_id
                                              AND (other.attempt_index = core.attempt_index
                                                   OR other.attempt_index > attempt.attempt_index)))))
 ORDER BY core.execution_id
RETURNING event_id;

-- Lists flows whose cancellation was noted before a time and is still noted, the oldest first.
-- name: flow_cancel_backlog_due_list :many
-- only: pg — the excerpt is about shards
SELECT noted.partition_key, noted.flow_id, noted.reason
  FROM ff_cancel_backlog AS noted
 WHERE noted.requested_at_ms <= :requested_before_ms
 ORDER BY noted.requested_at_ms, noted.partition_key, noted.flow_id
 LIMIT :page_size;

-- Lists flows with members whose summary may be out of date, the oldest summary first. One that says that all
-- members have ended is taken again after a while only.
-- name: flow_summary_due_list :many
-- only: pg — the excerpt is about shards
SELECT flow.partition_key, flow.flow_id
  FROM ff_flow_core AS flow
  LEFT JOIN ff_flow_summary AS summary
    ON summary.partition_key = flow.partition_key
   AND summary.flow_id = flow.flow_id
 WHERE (summary.flow_id IS NULL
        OR summary.public_flow_state NOT IN ('completed', 'failed')
        OR summary.last_summary_update_at < :ended_before_ms)
   AND EXISTS (SELECT 1
                 FROM ff_exec_core AS core
                WHERE core.partition_key = flow.partition_key
                  AND core.flow_id = flow.flow_id)
 ORDER BY COALESCE(summary.last_summary_update_at, 0), flow.partition_key, flow.flow_id
 LIMIT :page_size;

-- Writes a lease event about an execution, with its namespace and instance tag when it is stored.
-- name: grant_lease_event_insert :one
-- only: pg — the excerpt is about shards
-- param: lease_id text null
INSERT INTO ff_lease_event
       (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT :execution_text, :lease_id, :event_type, :now_ms, core.partition_key,
       core.raw_fields ->> 'namespace',
       core.raw_fields -> 'tags' ->> 'cairn.instance_id'
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.execution_id = :execution_id
RETURNING event_id;

-- Writes the completion of an execution.
-- name: grant_completion_event_insert :one
-- only: pg — the excerpt is about shards
INSERT INTO ff_completion_event
       (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, core.flow_id, :outcome,
       core.raw_fields ->> 'namespace',
       core.raw_fields -> 'tags' ->> 'cairn.instance_id',
       :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.execution_id = :execution_id
RETURNING event_id;

-- Leases the best execution of a lane that a worker with these capabilities may run: highest priority, then
-- oldest. A fresh attempt starts at epoch 1; an attempt that ran before continues with the next epoch.
-- Attempts are numbered without gaps, so their count is the index of the newest plus one.
-- The execution is changed by an upsert because Postgres routes an insert to one partition, while an update
-- that joins would lock them all; the inserted values are inert, since a claimable row has its execution.
-- name: lease_claim :opt
-- only: pg — the excerpt is about shards
-- param: capabilities text[]
-- param: lease_id text
-- column: lease_event_id i64
WITH ready AS (
  SELECT queued.partition_key, queued.execution_id, queued.attempt_index,
         row_number() OVER (ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id) AS place
    FROM ff_claimable AS queued
   WHERE queued.lane_id = :lane_id
     AND queued.required_capabilities <@ :capabilities
   ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id
  OFFSET 0
),
picked AS (
  SELECT ready.partition_key, ready.execution_id, ready.attempt_index
    FROM ready
   WHERE ff_take_claimable(ready.partition_key, ready.execution_id, ready.attempt_index, ready.place, :lane_id,
                           :capabilities) IS NOT NULL
   LIMIT 1
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state,
          public_state, attempt_state, created_at_ms)
  SELECT picked.partition_key, picked.execution_id, :lane_id, 'terminal', 'unowned', 'not_applicable',
         'skipped', 'attempt_terminal', 0
    FROM picked
   WHERE true
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET lifecycle_phase = 'active',
         ownership_state = 'leased',
         eligibility_state = 'not_applicable',
         public_state = 'running',
         attempt_state = 'running_attempt',
         blocking_reason = NULL,
         started_at_ms = COALESCE(core.started_at_ms, :now_ms),
         raw_fields = core.raw_fields || jsonb_build_object('total_attempt_count', CAST(core.attempt_index + 1 AS text))
   WHERE core.lifecycle_phase IN ('submitted', 'runnable')
     AND core.eligibility_state = 'eligible_now'
     AND core.ownership_state = 'unowned'
  RETURNING core.partition_key, core.execution_id, core.raw_fields
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT CAST(core.execution_id AS text),
         :lease_id, 'acquired', :now_ms, core.partition_key,
         core.raw_fields ->> 'namespace',
         core.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM core
  RETURNING event_id
),
attempt AS (
  INSERT INTO ff_attempt AS held
         (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch,
          lease_expires_at_ms, started_at_ms)
  SELECT picked.partition_key, picked.execution_id, picked.attempt_index, :worker_id, :worker_instance_id, 1,
         :lease_expires_at_ms, :now_ms
    FROM picked
   WHERE true
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET worker_id = excluded.worker_id,
         worker_instance_id = excluded.worker_instance_id,
         lease_epoch = held.lease_epoch + 1,
         lease_expires_at_ms = excluded.lease_expires_at_ms,
         started_at_ms = excluded.started_at_ms,
         outcome = NULL
  RETURNING held.partition_key, held.execution_id, held.attempt_index, held.lease_epoch
)
SELECT attempt.partition_key, attempt.execution_id, attempt.attempt_index, attempt.lease_epoch,
       lease.event_id AS lease_event_id
  FROM attempt
 CROSS JOIN lease;

-- Moves the end of a lease. A lease whose time has passed is moved as well, as long as nobody took it or
-- swept it. No row: the handle does not hold the lease.
-- name: lease_renew :opt
-- only: pg — the excerpt is about shards
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND held.lease_epoch = :lease_epoch
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'renewed', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET lease_expires_at_ms = :lease_expires_at_ms
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id
  FROM lease;

-- Leases an attempt again, on its next epoch, for the worker that resumes it. No row: the execution has ended,
-- the lease is live, or somebody else leased the attempt since it was read.
-- name: lease_reseat :opt
-- only: pg — the excerpt is about shards
-- column: lease_event_id i64
WITH seat AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS free
      ON free.partition_key = core.partition_key
     AND free.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase NOT IN ('terminal', 'cancelled')
     AND free.partition_key = :partition_key
     AND free.execution_id = :execution_id
     AND free.attempt_index = :attempt_index
     AND free.lease_epoch = :lease_epoch
     AND (free.lease_expires_at_ms IS NULL OR free.lease_expires_at_ms <= :now_ms)
     FOR UPDATE OF core, free
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'reclaimed', :now_ms, seat.partition_key,
         seat.raw_fields ->> 'namespace',
         seat.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM seat
  RETURNING event_id
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'active',
         ownership_state = 'leased',
         eligibility_state = 'not_applicable',
         public_state = 'running',
         attempt_state = 'running_attempt',
         blocking_reason = NULL,
         deadline_at_ms = CASE core.eligibility_state
                            WHEN 'not_eligible_until_time' THEN CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                            ELSE core.deadline_at_ms
                          END,
         started_at_ms = COALESCE(core.started_at_ms, :now_ms)
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM seat)
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET worker_id = :worker_id,
         worker_instance_id = :worker_instance_id,
         lease_epoch = attempt.lease_epoch + 1,
         lease_expires_at_ms = :lease_expires_at_ms,
         started_at_ms = :now_ms,
         outcome = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM seat)
  RETURNING attempt.lease_epoch
)
SELECT attempt.lease_epoch, lease.event_id AS lease_event_id
  FROM attempt
 CROSS JOIN lease;

-- Lists leases whose time has passed and whose worker is still named, oldest first, strictly after a cursor.
-- Only the running attempt of an execution counts.
-- name: lease_expired_list :many
-- only: pg — the excerpt is about shards
-- column: worker_instance_id text
-- column: lease_expires_at_ms i64
-- param: namespace text null
SELECT held.partition_key, held.execution_id, held.attempt_index, held.lease_epoch, held.worker_instance_id,
       held.lease_expires_at_ms
  FROM ff_attempt AS held
  JOIN ff_exec_core AS core
    ON core.partition_key = held.partition_key
   AND core.execution_id = held.execution_id
 WHERE held.lease_expires_at_ms IS NOT NULL
   AND held.lease_expires_at_ms <= :as_of_ms
   AND held.worker_instance_id IS NOT NULL
   AND core.public_state IN ('claimed', 'running', 'active')
   AND (CAST(:namespace AS text) IS NULL OR core.raw_fields ->> 'namespace' = :namespace)
   AND (held.lease_expires_at_ms, held.partition_key, held.execution_id)
       > (:after_expires_at_ms, :after_partition_key, :after_execution_id)
   AND (core.attempt_index = held.attempt_index
        OR NOT EXISTS (SELECT 1
                         FROM ff_attempt AS other
                        WHERE other.partition_key = held.partition_key
                          AND other.execution_id = held.execution_id
                          AND (other.attempt_index = core.attempt_index
                               OR other.attempt_index > held.attempt_index)))
 ORDER BY held.lease_expires_at_ms, held.partition_key, held.execution_id
 LIMIT :page_size;

-- Writes an operator event about an execution, with its namespace and instance tag.
-- name: operator_event_insert :one
-- only: pg — the excerpt is about shards
-- param: details json
INSERT INTO ff_operator_event
       (execution_id, event_type, details, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT :execution_text, :event_type, :details, :now_ms, core.partition_key,
       core.raw_fields ->> 'namespace',
       core.raw_fields -> 'tags' ->> 'cairn.instance_id'
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.execution_id = :execution_id
RETURNING event_id;

-- Interrupts the running attempt until `delay_until_ms`. The wake-up time takes the deadline column; the
-- deadline itself is kept in the open document. No row: the handle does not hold the lease.
-- name: pause_until :opt
-- only: pg — the excerpt is about shards
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND held.lease_epoch = :lease_epoch
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'interrupted',
         lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable',
         ownership_state = 'unowned',
         eligibility_state = 'not_eligible_until_time',
         public_state = 'delayed',
         attempt_state = 'attempt_interrupted',
         blocking_reason = 'waiting_for_delay',
         deadline_at_ms = :delay_until_ms,
         raw_fields = CASE
                WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                ELSE core.raw_fields || jsonb_build_object('execution_deadline_at', core.deadline_at_ms)
              END
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id
  FROM lease;

-- Interrupts the running attempt until the children of its execution are done. No row: the handle does
-- not hold the lease.
-- name: pause_for_children :opt
-- only: pg — the excerpt is about shards
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND held.lease_epoch = :lease_epoch
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'waiting_children',
         lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable',
         ownership_state = 'unowned',
         eligibility_state = 'blocked_by_dependencies',
         public_state = 'waiting_children',
         attempt_state = 'attempt_interrupted',
         blocking_reason = 'waiting_for_children'
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id
  FROM lease;

-- Writes an admission down: in the window, and as the place that the execution holds.
-- name: quota_admit :exec
-- only: pg — the excerpt is about shards
WITH entry AS (
  INSERT INTO ff_quota_window
         (partition_key, quota_policy_id, dimension, admitted_at_ms, execution_id)
  VALUES (:partition_key, :quota_policy_id, '', :now_ms, :execution_id)
      ON CONFLICT (partition_key, quota_policy_id, dimension, admitted_at_ms, execution_id) DO NOTHING
)
INSERT INTO ff_quota_admitted
       (partition_key, quota_policy_id, execution_id, admitted_at_ms, expires_at_ms)
VALUES (:partition_key, :quota_policy_id, :execution_id, :now_ms, :expires_at_ms)
    ON CONFLICT (partition_key, quota_policy_id, execution_id) DO UPDATE
   SET admitted_at_ms = excluded.admitted_at_ms,
       expires_at_ms = excluded.expires_at_ms;

-- Leases the interrupted attempt of a resumable execution, on its next epoch. No row: the execution is not
-- resumable, or it has no attempt.
-- name: resume_claim :opt
-- only: pg — the excerpt is about shards
-- param: lease_id text
-- column: lease_event_id i64
WITH seat AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields, free.attempt_index
    FROM ff_exec_core AS core
    JOIN ff_attempt AS free
      ON free.partition_key = core.partition_key
     AND free.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.public_state = 'resumable'
     AND free.partition_key = :partition_key
     AND free.execution_id = :execution_id
     AND (free.attempt_index = core.attempt_index
          OR NOT EXISTS (SELECT 1
                           FROM ff_attempt AS other
                          WHERE other.partition_key = :partition_key
                            AND other.execution_id = :execution_id
                            AND (other.attempt_index = core.attempt_index
                                 OR other.attempt_index > free.attempt_index)))
     FOR UPDATE OF core, free
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'acquired', :now_ms, seat.partition_key,
         seat.raw_fields ->> 'namespace',
         seat.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM seat
  RETURNING event_id
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET worker_id = :worker_id,
         worker_instance_id = :worker_instance_id,
         lease_epoch = attempt.lease_epoch + 1,
         lease_expires_at_ms = :lease_expires_at_ms,
         started_at_ms = :now_ms,
         outcome = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = (SELECT seat.attempt_index FROM seat)
  RETURNING attempt.attempt_index, attempt.lease_epoch
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'active',
         ownership_state = 'leased',
         eligibility_state = 'not_applicable',
         public_state = 'running',
         attempt_state = 'running_attempt',
         blocking_reason = NULL,
         started_at_ms = COALESCE(core.started_at_ms, :now_ms)
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM seat)
)
SELECT attempt.attempt_index, attempt.lease_epoch, lease.event_id AS lease_event_id
  FROM attempt
 CROSS JOIN lease;

-- Forgets keys of suspensions that are older than a time, the oldest first.
-- name: retention_suspend_key_delete :rows
-- only: pg — the excerpt is about shards
DELETE FROM ff_suspend_dedup
 WHERE (partition_key, idempotency_key) IN (SELECT old.partition_key, old.idempotency_key
                                              FROM ff_suspend_dedup AS old
                                             WHERE old.created_at_ms < :created_before_ms
                                             ORDER BY old.created_at_ms, old.partition_key, old.idempotency_key COLLATE "C"
                                             LIMIT :page_size
                                               FOR UPDATE SKIP LOCKED);

-- Lists grants that nobody used in their time. One without a time stays.
-- name: retention_grant_list :many
-- only: pg — the excerpt is about shards
SELECT granted.partition_key, granted.grant_id, granted.execution_id
  FROM ff_claim_grant AS granted
 WHERE granted.expires_at_ms > 0
   AND granted.expires_at_ms < :now_ms
 ORDER BY granted.expires_at_ms, granted.grant_id
 LIMIT :page_size;

-- Lists completions in the order of their ids, strictly after one.
-- name: retention_completion_list :many
-- only: pg — the excerpt is about shards
SELECT ended.partition_key, ended.event_id, ended.flow_id, ended.occurred_at_ms, ended.dispatched_at_ms
  FROM ff_completion_event AS ended
 WHERE ended.event_id > :after
 ORDER BY ended.event_id
 LIMIT :page_size;

-- Lists flows without members that were made before a time, the oldest first, strictly after a cursor.
-- name: retention_flow_list :many
-- only: pg — the excerpt is about shards
SELECT flow.partition_key, flow.flow_id, flow.created_at_ms
  FROM ff_flow_core AS flow
 WHERE flow.created_at_ms < :before_ms
   AND (flow.created_at_ms, flow.flow_id) > (:after_created_at_ms, :after_flow_id)
   AND NOT EXISTS (SELECT 1
                     FROM ff_exec_core AS core
                    WHERE core.partition_key = flow.partition_key
                      AND core.flow_id = flow.flow_id)
 ORDER BY flow.created_at_ms, flow.flow_id
 LIMIT :page_size;

-- Finds those of some executions that are there, in whatever partition.
-- name: retention_executions_find :many
-- only: pg — the excerpt is about shards
-- param: executions uuid[]
SELECT core.execution_id
  FROM ff_exec_core AS core
 WHERE core.execution_id = ANY(:executions);

-- Ends the running attempt and makes its execution claimable at once, for the next attempt.
-- No row: the handle does not hold the lease.
-- name: retry_now :opt
-- only: pg — the excerpt is about shards
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND held.lease_epoch = :lease_epoch
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'retry',
         terminal_at_ms = :now_ms,
         lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable',
         ownership_state = 'unowned',
         eligibility_state = 'eligible_now',
         public_state = 'waiting',
         attempt_state = 'pending_retry_attempt',
         blocking_reason = NULL,
         attempt_index = :attempt_index + 1,
         raw_fields = core.raw_fields || jsonb_build_object('last_failure_message', CAST(:failure_message AS text), 'retry_count', CAST(:retry_count AS text))
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id
  FROM lease;

-- Ends the running attempt and makes its execution claimable at `retry_at_ms`, for the next attempt. The
-- wake-up time takes the deadline column; the deadline itself is kept in the open document until then, and
-- the attempt remembers the time for a repeated call. No row: the handle does not hold the lease.
-- name: retry_later :opt
-- only: pg — the excerpt is about shards
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND held.lease_epoch = :lease_epoch
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'retry',
         terminal_at_ms = :now_ms,
         lease_expires_at_ms = NULL,
         raw_fields = attempt.raw_fields || jsonb_build_object('retry_at_ms', CAST(:retry_at_ms AS bigint))
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable',
         ownership_state = 'unowned',
         eligibility_state = 'not_eligible_until_time',
         public_state = 'delayed',
         attempt_state = 'pending_retry_attempt',
         blocking_reason = 'waiting_for_retry_backoff',
         attempt_index = :attempt_index + 1,
         deadline_at_ms = :retry_at_ms,
         raw_fields = CASE
                WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                ELSE core.raw_fields || jsonb_build_object('execution_deadline_at', core.deadline_at_ms)
              END
              || jsonb_build_object('last_failure_message', CAST(:failure_message AS text), 'retry_count', CAST(:retry_count AS text))
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id
  FROM lease;

-- Takes the best execution of a lane that a worker with these capabilities may run, strictly after another one.
-- name: schedule_candidate_next :opt
-- only: pg — the excerpt is about shards
-- param: capabilities text[]
WITH ready AS (
  SELECT queued.partition_key, queued.execution_id, queued.attempt_index, queued.priority, queued.created_at_ms
    FROM ff_claimable AS queued
   WHERE queued.lane_id = :lane_id
     AND queued.required_capabilities <@ :capabilities
     AND (queued.priority < :after_priority
          OR (queued.priority = :after_priority
              AND (queued.created_at_ms, queued.execution_id) > (:after_created_at_ms, :after_execution_id)))
   ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id
  OFFSET 0
)
SELECT ready.partition_key, ready.execution_id, ready.priority, ready.created_at_ms
  FROM ready
 WHERE ff_take_claimable(ready.partition_key, ready.execution_id, ready.attempt_index, NULL, :lane_id,
                         :capabilities) IS NOT NULL
 LIMIT 1;

-- Lists granted executions whose grant has expired by what their documents say, strictly after a cursor.
-- name: schedule_granted_due_list :many
-- only: pg — the excerpt is about shards
SELECT granted.partition_key, granted.execution_id, granted.expires_at_ms
  FROM ff_granted AS granted
 WHERE granted.expires_at_ms <= :now_ms
   AND (granted.expires_at_ms, granted.execution_id) > (:after_expires_at_ms, :after_execution_id)
 ORDER BY granted.expires_at_ms, granted.execution_id
 LIMIT :batch_size;

-- Lists groups whose remaining members are to be cancelled, the oldest first.
-- name: sibling_pending_list :many
-- only: pg — the excerpt is about shards
SELECT pending.partition_key, pending.flow_id, pending.downstream_eid
  FROM ff_pending_cancel_groups AS pending
 ORDER BY pending.enqueued_at_ms, pending.flow_id, pending.downstream_eid, pending.partition_key
 LIMIT :page_size;

-- Reads all that a delivery to a waitpoint depends on: its token and the secret that signed it, the
-- suspension that it belongs to, and whether its execution still is suspended.
-- name: signal_target_read :opt
-- only: pg — the excerpt is about shards
SELECT waiting.execution_id, waiting.token_kid, waiting.token, waiting.waitpoint_key, signing.secret,
       core.lifecycle_phase, suspension.suspension_id,
       CAST(suspension.condition AS text) AS condition_text,
       CAST(suspension.member_map AS text) AS members_text
  FROM ff_waitpoint_pending AS waiting
  LEFT JOIN ff_waitpoint_hmac AS signing
    ON signing.kid = waiting.token_kid
  LEFT JOIN ff_exec_core AS core
    ON core.partition_key = :partition_key
   AND core.execution_id = waiting.execution_id
  LEFT JOIN ff_suspension_current AS suspension
    ON suspension.partition_key = :partition_key
   AND suspension.execution_id = waiting.execution_id
 WHERE waiting.partition_key = :partition_key
   AND waiting.waitpoint_id = :waitpoint_id;

-- Adds a signal to what a suspension has received; its condition does not hold yet. No row: the suspension
-- received another signal since it was read, or it is over.
-- name: signal_append :opt
-- only: pg — the excerpt is about shards
-- param: members json
-- param: source_identity text
-- param: waitpoint_text text
-- param: seen_members text
-- column: signal_event_id i64
WITH suspended AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_suspension_current AS suspension
      ON suspension.partition_key = core.partition_key
     AND suspension.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'suspended'
     AND suspension.partition_key = :partition_key
     AND suspension.execution_id = :execution_id
     AND suspension.suspension_id = :suspension_id
     AND CAST(suspension.member_map AS text) = :seen_members
     FOR UPDATE OF core, suspension
),
event AS (
  INSERT INTO ff_signal_event
         (execution_id, signal_id, waitpoint_id, source_identity, delivered_at_ms, partition_key, namespace,
          instance_tag)
  SELECT :execution_text, :signal_id, :waitpoint_text, :source_identity, :now_ms, suspended.partition_key,
         suspended.raw_fields ->> 'namespace',
         suspended.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM suspended
  RETURNING event_id
),
suspension AS (
  UPDATE ff_suspension_current AS suspension
     SET member_map = :members
   WHERE suspension.partition_key = :partition_key
     AND suspension.execution_id = (SELECT suspended.execution_id FROM suspended)
)
SELECT event.event_id AS signal_event_id
  FROM event;

-- Adds the signal that makes the condition of a suspension hold: the execution becomes resumable and its
-- waitpoints go away. No row: the suspension received another signal since it was read, or it is over.
-- name: signal_resume :opt
-- only: pg — the excerpt is about shards
-- param: members json
-- param: source_identity text
-- param: waitpoint_text text
-- param: seen_members text
-- column: signal_event_id i64
-- column: completion_event_id i64
WITH suspended AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_suspension_current AS suspension
      ON suspension.partition_key = core.partition_key
     AND suspension.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'suspended'
     AND suspension.partition_key = :partition_key
     AND suspension.execution_id = :execution_id
     AND suspension.suspension_id = :suspension_id
     AND CAST(suspension.member_map AS text) = :seen_members
     FOR UPDATE OF core, suspension
),
event AS (
  INSERT INTO ff_signal_event
         (execution_id, signal_id, waitpoint_id, source_identity, delivered_at_ms, partition_key, namespace,
          instance_tag)
  SELECT :execution_text, :signal_id, :waitpoint_text, :source_identity, :now_ms, suspended.partition_key,
         suspended.raw_fields ->> 'namespace',
         suspended.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM suspended
  RETURNING event_id
),
completion AS (
  INSERT INTO ff_completion_event
         (partition_key, execution_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT suspended.partition_key, suspended.execution_id, 'resumable',
         suspended.raw_fields ->> 'namespace',
         suspended.raw_fields -> 'tags' ->> 'cairn.instance_id',
         :now_ms
    FROM suspended
  RETURNING event_id
),
waitpoint AS (
  DELETE FROM ff_waitpoint_pending
   WHERE partition_key = :partition_key
     AND execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM suspended)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable',
         eligibility_state = 'eligible_now',
         public_state = 'resumable'
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM suspended)
),
suspension AS (
  UPDATE ff_suspension_current AS suspension
     SET member_map = :members,
         timeout_at_ms = NULL
   WHERE suspension.partition_key = :partition_key
     AND suspension.execution_id = (SELECT suspended.execution_id FROM suspended)
)
SELECT event.event_id AS signal_event_id, completion.event_id AS completion_event_id
  FROM event
 CROSS JOIN completion;

-- Appends a frame and says its place and how many frames the stream holds, at a cost that does not grow with
-- the stream. The counter's row orders appends to one stream. It is believed as long as no frame is newer
-- than it; a frame of a foreign writer, or a stream without a counter, is counted once.
-- An attempt that is not stored refuses nobody. No row: another lease took over, or the execution moved on; neither
-- happens while the append waits for the counter.
-- name: stream_append :opt
-- only: pg — the excerpt is about shards
-- param: fields json
WITH lease AS (
  SELECT core.lifecycle_phase, held.lease_epoch, held.outcome
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     FOR SHARE OF core, held
),
permitted AS (
  SELECT 1 AS granted
   WHERE NOT EXISTS (SELECT 1
                       FROM lease
                      WHERE lease.lease_epoch <> :lease_epoch
                         OR lease.outcome IS NOT NULL
                         OR lease.lifecycle_phase <> 'active')
),
newest AS (
  SELECT frame.ts_ms, frame.seq
    FROM ff_stream_frame AS frame
   WHERE frame.partition_key = :partition_key
     AND frame.execution_id = :execution_id
     AND frame.attempt_index = :attempt_index
   ORDER BY frame.ts_ms DESC, frame.seq DESC
   LIMIT 1
),
counter AS (
  INSERT INTO ff_stream_counter AS seen
         (partition_key, execution_id, attempt_index, last_ms, last_seq, frame_count)
  SELECT :partition_key, :execution_id, :attempt_index,
         greatest(COALESCE(newest.ts_ms, :now_ms), :now_ms),
         CASE WHEN newest.ts_ms >= :now_ms THEN newest.seq + 1 ELSE 0 END,
         CASE
           WHEN newest.ts_ms IS NULL
                OR EXISTS (SELECT 1
                             FROM ff_stream_counter AS known
                            WHERE known.partition_key = :partition_key
                              AND known.execution_id = :execution_id
                              AND known.attempt_index = :attempt_index)
             THEN 1
           ELSE (SELECT count(*)
                     FROM ff_stream_frame AS frame
                    WHERE frame.partition_key = :partition_key
                      AND frame.execution_id = :execution_id
                      AND frame.attempt_index = :attempt_index) + 1
         END
    FROM permitted
    LEFT JOIN newest ON true
   WHERE true
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET last_ms = greatest(seen.last_ms, excluded.last_ms),
         last_seq = CASE
                      WHEN seen.last_ms > excluded.last_ms THEN seen.last_seq + 1
                      WHEN seen.last_ms = excluded.last_ms THEN greatest(seen.last_seq + 1, excluded.last_seq)
                      ELSE excluded.last_seq
                    END,
         frame_count = CASE
                         WHEN EXISTS (SELECT 1
                                        FROM newest
                                       WHERE (newest.ts_ms, newest.seq) > (seen.last_ms, seen.last_seq))
                           THEN (SELECT count(*)
                     FROM ff_stream_frame AS frame
                    WHERE frame.partition_key = :partition_key
                      AND frame.execution_id = :execution_id
                      AND frame.attempt_index = :attempt_index) + 1
                         ELSE seen.frame_count + 1
                       END
  RETURNING seen.partition_key, seen.execution_id, seen.attempt_index, seen.last_ms, seen.last_seq, seen.frame_count
),
frame AS (
  INSERT INTO ff_stream_frame
         (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
  SELECT counter.partition_key, counter.execution_id, counter.attempt_index, counter.last_ms, counter.last_seq,
         :fields, :mode, counter.last_ms
    FROM counter
)
SELECT counter.last_ms, counter.last_seq, counter.frame_count
  FROM counter;

-- Suspends the running attempt and its execution and activates the first waitpoint of the suspension. No row:
-- the handle does not hold the lease, another secret signs now, or the idempotency key was used before.
-- name: suspension_enter :opt
-- only: pg — the excerpt is about shards
-- param: condition json
-- param: required_signal_names text[]
-- param: timeout_at_ms i64 null
-- param: idempotency_key text null
-- param: bare_key text null
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND held.lease_epoch = :lease_epoch
     AND held.outcome IS NULL
     AND :token_kid = (SELECT signing.kid
                         FROM ff_waitpoint_hmac AS signing
                        WHERE signing.active
                        ORDER BY signing.rotated_at_ms DESC, signing.kid COLLATE "C"
                        LIMIT 1)
     AND NOT EXISTS (SELECT 1
                       FROM ff_suspend_dedup AS done
                      WHERE done.partition_key = :partition_key
                        AND done.idempotency_key IN (:idempotency_key, :bare_key))
     FOR UPDATE OF core, held
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
suspension AS (
  INSERT INTO ff_suspension_current
         (partition_key, execution_id, suspension_id, suspended_at_ms, timeout_at_ms, reason_code, condition,
          satisfied_set, member_map, timeout_behavior)
  SELECT fence.partition_key, fence.execution_id, :suspension_id, :now_ms, :timeout_at_ms, :reason_code, :condition,
         '[]', '{}', :timeout_behavior
    FROM fence
   WHERE true
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET suspension_id = excluded.suspension_id,
         suspended_at_ms = excluded.suspended_at_ms,
         timeout_at_ms = excluded.timeout_at_ms,
         reason_code = excluded.reason_code,
         condition = excluded.condition,
         satisfied_set = excluded.satisfied_set,
         member_map = excluded.member_map,
         timeout_behavior = excluded.timeout_behavior
),
waitpoint AS (
  INSERT INTO ff_waitpoint_pending
         (partition_key, waitpoint_id, execution_id, token_kid, token, created_at_ms, expires_at_ms,
          waitpoint_key, state, required_signal_names, activated_at_ms)
  SELECT fence.partition_key, :waitpoint_id, fence.execution_id, :token_kid, :token, :now_ms, :timeout_at_ms,
         :waitpoint_key, 'active', :required_signal_names, :now_ms
    FROM fence
   WHERE true
      ON CONFLICT (partition_key, waitpoint_id) DO UPDATE
     SET token_kid = excluded.token_kid,
         token = excluded.token,
         waitpoint_key = excluded.waitpoint_key,
         state = excluded.state,
         required_signal_names = excluded.required_signal_names,
         activated_at_ms = excluded.activated_at_ms
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET worker_id = NULL,
         worker_instance_id = NULL,
         lease_expires_at_ms = NULL,
         lease_epoch = attempt.lease_epoch + 1,
         outcome = 'attempt_interrupted'
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'suspended',
         ownership_state = 'released',
         eligibility_state = 'not_applicable',
         public_state = 'suspended',
         attempt_state = 'attempt_interrupted'
   WHERE core.partition_key = :partition_key
     AND core.execution_id = (SELECT fence.execution_id FROM fence)
)
SELECT lease.event_id AS lease_event_id
  FROM lease;

-- Tells that an execution can be resumed. It names no flow, because dependants wait for an end.
-- name: suspension_resumable_event_insert :one
-- only: pg — the excerpt is about shards
INSERT INTO ff_completion_event
       (partition_key, execution_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, 'resumable',
       core.raw_fields ->> 'namespace',
       core.raw_fields -> 'tags' ->> 'cairn.instance_id',
       :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.execution_id = :execution_id
RETURNING event_id;

-- Lists the suspensions whose time is over, oldest first, strictly after a cursor.
-- name: suspension_due_list :many
-- only: pg — the excerpt is about shards
-- column: timeout_at_ms i64
SELECT suspension.partition_key, suspension.execution_id, suspension.timeout_at_ms, core.raw_fields
  FROM ff_suspension_current AS suspension
  JOIN ff_exec_core AS core
    ON core.partition_key = suspension.partition_key
   AND core.execution_id = suspension.execution_id
 WHERE suspension.timeout_at_ms IS NOT NULL
   AND suspension.timeout_at_ms < :now_ms
   AND (suspension.timeout_at_ms, suspension.partition_key, suspension.execution_id)
       > (:after_timeout_at_ms, :after_partition_key, :after_execution_id)
 ORDER BY suspension.timeout_at_ms, suspension.partition_key, suspension.execution_id
 LIMIT :page_size;

-- Lists where executions are that ended long ago and pass a filter, oldest first.
-- name: trim_due_list :many
-- only: pg — the excerpt is about shards
-- param: namespace text null
-- param: tag_key text null
-- param: tag_value text null
SELECT core.partition_key, core.lane_id
  FROM ff_exec_core AS core
 WHERE core.lifecycle_phase IN ('terminal', 'cancelled')
   AND core.terminal_at_ms IS NOT NULL
   AND core.terminal_at_ms <= :ended_before_ms
   AND (CAST(:namespace AS text) IS NULL OR core.raw_fields ->> 'namespace' = :namespace)
   AND (CAST(:tag_key AS text) IS NULL OR core.raw_fields -> 'tags' ->> CAST(:tag_key AS text) = :tag_value)
 ORDER BY core.terminal_at_ms, core.partition_key, core.execution_id
 LIMIT :page_size;

-- Deletes what executions used of their budgets.
-- name: trim_usage_delete :exec
-- only: pg — the excerpt is about shards
-- param: executions text[]
DELETE FROM ff_budget_usage_by_exec
 WHERE (partition_key, budget_id, execution_id, dimensions_key)
       IN (SELECT spent.partition_key, spent.budget_id, spent.execution_id, spent.dimensions_key
             FROM ff_budget_usage_by_exec AS spent
            WHERE spent.execution_id = ANY(CAST(:executions AS uuid[]))
            ORDER BY spent.partition_key, spent.budget_id COLLATE "C", spent.execution_id, spent.dimensions_key COLLATE "C"
              FOR UPDATE SKIP LOCKED);

-- Forgets executions that a cancelled flow still had to cancel.
-- name: trim_backlog_delete :exec
-- only: pg — the excerpt is about shards
-- param: executions text[]
DELETE FROM ff_cancel_backlog_member
 WHERE execution_id = ANY(:executions);

-- Moves the end of a lease that has not passed. No row: the fence does not hold, or the time has passed.
-- name: typed_renew :opt
-- only: pg — the excerpt is about shards
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND core.ownership_state <> 'lease_revoked'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND held.lease_epoch = :lease_epoch
     AND held.lease_expires_at_ms > :now_ms
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'renewed', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET lease_expires_at_ms = :lease_expires_at_ms
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id
  FROM lease;

-- Ends an attempt and its execution with success. Without an epoch the caller overrides the lease's holder.
-- No row: the fence does not hold, or the time of the lease has passed.
-- name: typed_complete :opt
-- only: pg — the excerpt is about shards
-- param: result bytes null
-- param: lease_id text null
-- param: lease_epoch i64 null
-- column: completion_event_id i64
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND core.ownership_state <> 'lease_revoked'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND (CAST(:lease_epoch AS bigint) IS NULL OR held.lease_epoch = :lease_epoch)
     AND (held.lease_expires_at_ms IS NULL OR held.lease_expires_at_ms > :now_ms)
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
completion AS (
  INSERT INTO ff_completion_event
         (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT fence.partition_key, fence.execution_id, fence.flow_id, 'success',
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id',
         :now_ms
    FROM fence
  RETURNING event_id
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'success',
         terminal_at_ms = :now_ms,
         lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal',
         ownership_state = 'unowned',
         eligibility_state = 'not_applicable',
         public_state = 'completed',
         attempt_state = 'attempt_terminal',
         blocking_reason = NULL,
         terminal_at_ms = :now_ms,
         result = :result,
         raw_fields = core.raw_fields || jsonb_build_object('terminal_outcome', 'success')
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
)
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id
  FROM completion
 CROSS JOIN lease;

-- Ends an attempt and its execution with a failure. Without an epoch the caller overrides the lease's holder.
-- No row: the fence does not hold.
-- name: typed_fail :opt
-- only: pg — the excerpt is about shards
-- param: lease_id text null
-- param: lease_epoch i64 null
-- column: completion_event_id i64
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND core.ownership_state <> 'lease_revoked'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND (CAST(:lease_epoch AS bigint) IS NULL OR held.lease_epoch = :lease_epoch)
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
completion AS (
  INSERT INTO ff_completion_event
         (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT fence.partition_key, fence.execution_id, fence.flow_id, 'failed',
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id',
         :now_ms
    FROM fence
  RETURNING event_id
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'failed',
         terminal_at_ms = :now_ms,
         lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal',
         ownership_state = 'unowned',
         eligibility_state = 'not_applicable',
         public_state = 'failed',
         attempt_state = 'attempt_terminal',
         blocking_reason = NULL,
         terminal_at_ms = :now_ms,
         raw_fields = core.raw_fields || jsonb_build_object('terminal_outcome', 'failed', 'failure_reason', CAST(:failure_reason AS text), 'last_failure_message', CAST(:failure_reason AS text))
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
)
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id
  FROM completion
 CROSS JOIN lease;

-- Ends an attempt with a failure and lets the next one start at `retry_at_ms`. The wake-up time takes the
-- deadline column; the deadline itself is kept in the open document until then. No row: the fence does not hold.
-- name: typed_retry :opt
-- only: pg — the excerpt is about shards
-- param: lease_id text null
-- param: lease_epoch i64 null
-- column: lease_event_id i64
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held
      ON held.partition_key = core.partition_key
     AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'active'
     AND core.ownership_state <> 'lease_revoked'
     AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index
     AND (CAST(:lease_epoch AS bigint) IS NULL OR held.lease_epoch = :lease_epoch)
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         fence.raw_fields ->> 'namespace',
         fence.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM fence
  RETURNING event_id
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'failed',
         terminal_at_ms = :now_ms,
         lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key
     AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index
     AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable',
         ownership_state = 'unowned',
         eligibility_state = 'not_eligible_until_time',
         public_state = 'delayed',
         attempt_state = 'pending_retry_attempt',
         blocking_reason = 'waiting_for_retry_backoff',
         attempt_index = :attempt_index + 1,
         deadline_at_ms = :retry_at_ms,
         raw_fields = CASE
                WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                ELSE core.raw_fields || jsonb_build_object('execution_deadline_at', core.deadline_at_ms)
              END
              || jsonb_build_object('failure_reason', CAST(:failure_reason AS text),
              'last_failure_message', CAST(:failure_reason AS text),
              'pending_retry_reason', CAST(:failure_reason AS text),
              'pending_previous_attempt_index', CAST(CAST(:attempt_index AS integer) AS text),
              'retry_count', CAST(:retry_count AS text),
              'delay_until', CAST(CAST(:retry_at_ms AS bigint) AS text))
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id
  FROM lease;

-- Uses the newest claim grant of an execution: starts the attempt that the caller expects, on epoch 1, or leases
-- it again on its next epoch when it ran before, and deletes every claim grant. The pointer moves past the
-- attempt. No row: the execution may not be claimed, or the grant is missing, another worker's, or expired.
-- name: typed_claim :opt
-- only: pg — the excerpt is about shards
-- param: lease_id text
-- param: policy json null
-- param: deadline_at_ms i64 null
-- column: lease_event_id i64
-- column: attempt_type text
WITH gate AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields,
         CASE core.attempt_state
           WHEN 'pending_retry_attempt' THEN 'retry'
           WHEN 'pending_replay_attempt' THEN 'replay'
           ELSE 'initial'
         END AS attempt_type
    FROM ff_exec_core AS core
    JOIN ff_claim_grant AS granted
      ON granted.partition_key = core.partition_key
     AND granted.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase IN ('submitted', 'runnable')
     AND core.ownership_state = 'unowned'
     AND core.eligibility_state IN ('eligible_now', 'pending_claim')
     AND core.attempt_state NOT IN ('running_attempt', 'attempt_interrupted')
     AND granted.partition_key = :partition_key
     AND granted.execution_id = :execution_id
     AND granted.worker_id = :worker_id
     AND (granted.expires_at_ms <= 0 OR granted.expires_at_ms >= :now_ms)
     AND granted.grant_id = (SELECT newest.grant_id
                               FROM ff_claim_grant AS newest
                              WHERE newest.partition_key = :partition_key
                                AND newest.execution_id = :execution_id
                                AND newest.kind = 'claim'
                              ORDER BY newest.issued_at_ms DESC, newest.grant_id
                              LIMIT 1)
     FOR UPDATE OF core, granted
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'acquired', :now_ms, gate.partition_key,
         gate.raw_fields ->> 'namespace',
         gate.raw_fields -> 'tags' ->> 'cairn.instance_id'
    FROM gate
  RETURNING event_id
),
attempt AS (
  INSERT INTO ff_attempt AS held
         (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch,
          lease_expires_at_ms, started_at_ms, policy, raw_fields)
  SELECT gate.partition_key, gate.execution_id, :attempt_index, :worker_id, :worker_instance_id, 1,
         :lease_expires_at_ms, :now_ms, :policy,
         jsonb_build_object('attempt_type', gate.attempt_type, 'attempt_id', CAST(:attempt_id AS text), 'lease_id', CAST(:lease_id AS text))
    FROM gate
   WHERE true
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET worker_id = excluded.worker_id,
         worker_instance_id = excluded.worker_instance_id,
         lease_epoch = held.lease_epoch + 1,
         lease_expires_at_ms = excluded.lease_expires_at_ms,
         started_at_ms = COALESCE(held.started_at_ms, excluded.started_at_ms),
         terminal_at_ms = NULL,
         outcome = NULL,
         policy = excluded.policy,
         raw_fields = held.raw_fields || jsonb_build_object('attempt_type', excluded.raw_fields ->> 'attempt_type', 'attempt_id', CAST(:attempt_id AS text), 'lease_id', CAST(:lease_id AS text))
  RETURNING held.lease_epoch, held.raw_fields ->> 'attempt_type' AS attempt_type
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'active',
         ownership_state = 'leased',
         eligibility_state = 'not_applicable',
         public_state = 'active',
         attempt_state = 'running_attempt',
         blocking_reason = NULL,
         attempt_index = :attempt_index + 1,
         started_at_ms = COALESCE(core.started_at_ms, :now_ms),
         deadline_at_ms = COALESCE(:deadline_at_ms, core.deadline_at_ms),
         raw_fields = (core.raw_fields - 'claim_grant') || jsonb_build_object(
              'current_attempt_id', CAST(:attempt_id AS text),
              'current_lease_id', CAST(:lease_id AS text),
              'current_worker_id', CAST(:worker_id AS text),
              'current_worker_instance_id', CAST(:worker_instance_id AS text),
              'pending_retry_reason', '',
              'pending_replay_reason', '',
              'pending_replay_requested_by', '',
              'pending_previous_attempt_index', '',
              'total_attempt_count', (SELECT CAST(count(*) + 1 AS text)
                               FROM ff_attempt AS earlier
                              WHERE earlier.partition_key = :partition_key
                                AND earlier.execution_id = :execution_id
                                AND earlier.attempt_index <> :attempt_index))
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM gate)
),
used AS (
  DELETE FROM ff_claim_grant
   WHERE partition_key = :partition_key
     AND execution_id = :execution_id
     AND kind = 'claim'
     AND EXISTS (SELECT 1 FROM gate)
)
SELECT attempt.lease_epoch, attempt.attempt_type, lease.event_id AS lease_event_id
  FROM attempt
 CROSS JOIN lease;

-- Starts an attempt on epoch 1, or leases it again on its next epoch when it ran before.
-- name: typed_attempt_take :one
-- only: pg — the excerpt is about shards
INSERT INTO ff_attempt AS held
       (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch,
        lease_expires_at_ms, started_at_ms, raw_fields)
VALUES (:partition_key, :execution_id, :attempt_index, :worker, :worker, 1,
        :lease_expires_at_ms, :now_ms, :attempt_fields)
    ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
   SET worker_id = excluded.worker_id,
       worker_instance_id = excluded.worker_instance_id,
       lease_epoch = held.lease_epoch + 1,
       lease_expires_at_ms = excluded.lease_expires_at_ms,
       started_at_ms = COALESCE(held.started_at_ms, excluded.started_at_ms),
       terminal_at_ms = NULL,
       outcome = NULL,
       raw_fields = held.raw_fields || jsonb_build_object('attempt_type', excluded.raw_fields ->> 'attempt_type', 'attempt_id', excluded.raw_fields ->> 'attempt_id', 'lease_id', excluded.raw_fields ->> 'lease_id')
RETURNING lease_epoch;

-- Makes a waitpoint that no suspension waits for yet. No row: another secret signs now.
-- name: waitpoint_create :opt
-- only: pg — the excerpt is about shards
-- param: required_signal_names text[]
INSERT INTO ff_waitpoint_pending
       (partition_key, waitpoint_id, execution_id, token_kid, token, created_at_ms, expires_at_ms,
        waitpoint_key, state, required_signal_names)
SELECT :partition_key, :waitpoint_id, :execution_id, :token_kid, :token, :now_ms, :expires_at_ms,
       :waitpoint_key, 'pending', :required_signal_names
 WHERE :token_kid = (SELECT signing.kid
                       FROM ff_waitpoint_hmac AS signing
                      WHERE signing.active
                      ORDER BY signing.rotated_at_ms DESC, signing.kid COLLATE "C"
                      LIMIT 1)
RETURNING waitpoint_id;

-- Lists the waitpoints whose time is over, oldest first, strictly after a cursor.
-- name: waitpoint_due_list :many
-- only: pg — the excerpt is about shards
-- column: expires_at_ms i64
SELECT waiting.partition_key, waiting.waitpoint_id, waiting.expires_at_ms, core.raw_fields
  FROM ff_waitpoint_pending AS waiting
  JOIN ff_exec_core AS core
    ON core.partition_key = waiting.partition_key
   AND core.execution_id = waiting.execution_id
 WHERE waiting.expires_at_ms IS NOT NULL
   AND waiting.expires_at_ms < :now_ms
   AND (waiting.expires_at_ms, waiting.partition_key, waiting.waitpoint_id)
       > (:after_expires_at_ms, :after_partition_key, :after_waitpoint_id)
 ORDER BY waiting.expires_at_ms, waiting.partition_key, waiting.waitpoint_id
 LIMIT :page_size;

-- Lists a namespace's workers in the order of the bytes of their instance ids, strictly after a cursor.
-- name: worker_list :many
-- only: pg — the excerpt is about shards
-- column: lanes_csv text
SELECT known.worker_id, known.worker_instance_id, array_to_string(known.lanes, ',') AS lanes_csv, known.capabilities_csv,
       known.last_heartbeat_ms, known.liveness_ttl_ms, known.registered_at_ms
  FROM ff_worker_registry AS known
 WHERE known.namespace = :namespace
   AND known.worker_instance_id COLLATE "C" > :after
 ORDER BY known.worker_instance_id COLLATE "C"
 LIMIT :page_size;

-- Lists the instances whose time to live has run out, so that the sweep can forget them.
-- name: worker_lapsed_list :many
-- only: pg — the excerpt is about shards
SELECT known.namespace, known.worker_instance_id
  FROM ff_worker_registry AS known
 WHERE known.last_heartbeat_ms < :now_ms - known.liveness_ttl_ms
 ORDER BY known.last_heartbeat_ms
 LIMIT :page_size;

-- Forgets a worker instance whose time to live has run out and writes that down.
-- name: worker_sweep :opt
-- only: pg — the excerpt is about shards
WITH lapsed AS (
  DELETE FROM ff_worker_registry
   WHERE partition_key = :partition_key
     AND namespace = :namespace
     AND worker_instance_id = :worker_instance_id
     AND last_heartbeat_ms < :now_ms - liveness_ttl_ms
  RETURNING namespace, worker_instance_id
),
event AS (
  INSERT INTO ff_worker_registry_event
         (partition_key, namespace, worker_instance_id, event_kind, event_at_ms)
  SELECT :partition_key, lapsed.namespace, lapsed.worker_instance_id, 'ttl_swept', :now_ms
    FROM lapsed
   WHERE true
      ON CONFLICT (partition_key, namespace, worker_instance_id, event_at_ms, event_kind) DO NOTHING
)
SELECT lapsed.worker_instance_id
  FROM lapsed;
