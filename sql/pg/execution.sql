-- name: execution_create :opt
-- allow(stale-fence): of two callers that create one execution at once, each has its key; both keys then name it.
WITH key AS (
  INSERT INTO ff_idempotency_key AS held (namespace, idempotency_key, partition_key, execution_id, created_at_ms)
  SELECT :namespace, :idempotency_key, :partition_key, :execution_id, :now_ms
   WHERE CAST(:idempotency_key AS text) IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM ff_exec_core AS existing
                      WHERE existing.partition_key = :partition_key AND existing.execution_id = :execution_id)
      ON CONFLICT (namespace, idempotency_key) DO UPDATE
     SET partition_key = excluded.partition_key, execution_id = excluded.execution_id,
         created_at_ms = excluded.created_at_ms
   WHERE held.created_at_ms <= :expired_before_ms OR held.execution_id = excluded.execution_id
  RETURNING held.execution_id
),
core AS (
  INSERT INTO ff_exec_core
         (partition_key, execution_id, lane_id, required_capabilities, lifecycle_phase, ownership_state,
          eligibility_state, public_state, attempt_state, priority, created_at_ms, deadline_at_ms, payload, policy,
          raw_fields)
  SELECT :partition_key, :execution_id, :lane_id, :required_capabilities, 'submitted', 'unowned', :eligibility_state,
         :public_state, 'pending', :priority, :now_ms, :deadline_at_ms, :payload, :policy, :raw_fields
   WHERE (CAST(:idempotency_key AS text) IS NULL OR EXISTS (SELECT 1 FROM key WHERE key.execution_id = :execution_id))
      ON CONFLICT (partition_key, execution_id) DO NOTHING
  RETURNING execution_id
),
lane AS (
  INSERT INTO ff_lane_registry (lane_id, registered_at_ms, registered_by)
  VALUES (:lane_id, :now_ms, 'create_execution')
      ON CONFLICT (lane_id) DO NOTHING
)
SELECT core.execution_id FROM core;

-- Creates several executions without idempotency keys, each with another id, and their lanes. No row where the id is
-- taken; nothing but the lane is written then.
-- rows: given(partition_key i16 key, execution_id uuid key, now_ms i64, required_capabilities json, lane_id text)
-- rows: given(eligibility_state text, public_state text, priority i32, deadline_at_ms i64 null, payload bytes)
-- rows: given(policy json null, raw_fields json)
-- name: execution_create_many :opt
-- each: execution_create
-- diverges(results.required_capabilities): the partition follows from the id, so no id is in two of them, as it is in rows made at random.
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.execution_id, given.now_ms, given.required_capabilities,
         given.lane_id, given.eligibility_state, given.public_state, given.priority, given.deadline_at_ms,
         given.payload, given.policy, given.raw_fields
    FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, required_capabilities, lifecycle_phase, ownership_state,
          eligibility_state, public_state, attempt_state, priority, created_at_ms, deadline_at_ms, payload, policy,
          raw_fields)
  SELECT member.partition_key, member.execution_id, member.lane_id,
         ARRAY(SELECT jsonb_array_elements_text(member.required_capabilities)), 'submitted', 'unowned',
         member.eligibility_state, member.public_state, 'pending', member.priority, member.now_ms,
         member.deadline_at_ms, member.payload, member.policy, member.raw_fields
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.execution_id
      ON CONFLICT (partition_key, execution_id) DO NOTHING
  RETURNING core.partition_key, core.execution_id
),
lane AS (
  INSERT INTO ff_lane_registry (lane_id, registered_at_ms, registered_by)
  SELECT member.lane_id, min(member.now_ms), 'create_execution' FROM member
   GROUP BY member.lane_id ORDER BY member.lane_id
      ON CONFLICT (lane_id) DO NOTHING
)
SELECT member.ordinality, core.execution_id
  FROM core
  JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id;

-- name: execution_read :opt
SELECT core.flow_id, core.lane_id, core.attempt_index, core.lifecycle_phase, core.ownership_state,
       core.eligibility_state, core.public_state, core.attempt_state, core.blocking_reason, core.cancellation_reason,
       core.cancelled_by, core.priority, core.created_at_ms, core.terminal_at_ms, core.deadline_at_ms, core.raw_fields,
       core.started_at_ms, array_to_string(core.required_capabilities, ',') AS required_capabilities
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: execution_lock :opt
SELECT core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.public_state, core.attempt_state,
       core.attempt_index, core.lease_reclaim_count
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: execution_try_lock :opt
SELECT core.execution_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE SKIP LOCKED;

-- name: execution_parts_try_lock :one
WITH attempt AS (
  SELECT held.execution_id FROM ff_attempt AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
),
suspension AS (
  SELECT held.execution_id FROM ff_suspension_current AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
),
waitpoint AS (
  SELECT held.execution_id FROM ff_waitpoint_pending AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
),
claim_grant AS (
  SELECT held.execution_id FROM ff_claim_grant AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
),
claimable AS (
  SELECT held.execution_id FROM ff_claimable AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
),
delayed AS (
  SELECT held.execution_id FROM ff_delayed AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
),
granted AS (
  SELECT held.execution_id FROM ff_granted AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
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

-- name: execution_promote_due :rows
WITH waiting AS (
  SELECT queued.partition_key, queued.execution_id, queued.lane_id FROM ff_delayed AS queued
   WHERE queued.lane_id = :lane_id AND queued.due_at_ms <= :now_ms
   ORDER BY queued.due_at_ms OFFSET 0
),
due AS (
  SELECT waiting.partition_key, waiting.execution_id, waiting.lane_id FROM waiting
   WHERE ff_take_delayed(waiting.partition_key, waiting.execution_id, :now_ms) IS NOT NULL
   LIMIT :batch_size
)
INSERT INTO ff_exec_core AS core
       (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state, public_state,
        attempt_state, created_at_ms)
SELECT due.partition_key, due.execution_id, due.lane_id, 'terminal', 'unowned', 'not_applicable', 'skipped',
       'attempt_terminal', 0
  FROM due
 WHERE true
    ON CONFLICT (partition_key, execution_id) DO UPDATE
   SET eligibility_state = 'eligible_now', public_state = 'waiting', blocking_reason = 'waiting_for_worker',
       deadline_at_ms = CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
 WHERE core.eligibility_state = 'not_eligible_until_time' AND core.deadline_at_ms <= :now_ms;
