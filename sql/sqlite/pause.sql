-- Interrupts the running attempt until `delay_until_ms`. The wake-up time takes the deadline column; the
-- deadline itself is kept in the open document. No row: the handle does not hold the lease.
-- name: pause_until :opt
-- use: attempt_held
-- use: lease_event(source = fence, event = 'revoked')
WITH attempt AS (
  UPDATE ff_attempt AS attempt SET outcome = 'interrupted', lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'not_eligible_until_time',
         public_state = 'delayed', attempt_state = 'attempt_interrupted', blocking_reason = 'waiting_for_delay',
         deadline_at_ms = :delay_until_ms,
         raw_fields = CASE
                        WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                        ELSE json_set(core.raw_fields, '$.execution_deadline_at', core.deadline_at_ms)
                      END
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id FROM lease;

-- Has the execution of an attempt wait for its children.
-- part: paused_for_children
-- both
WITH attempt AS (
  UPDATE ff_attempt AS attempt SET outcome = 'waiting_children', lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'blocked_by_dependencies',
         public_state = 'waiting_children', attempt_state = 'attempt_interrupted',
         blocking_reason = 'waiting_for_children'
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
);

-- Interrupts the running attempt until the children of its execution are done. No row: the handle does
-- not hold the lease.
-- name: pause_for_children :opt
-- both
-- use: attempt_held
-- use: lease_event(source = fence, event = 'revoked')
-- use: paused_for_children
SELECT lease.event_id AS lease_event_id FROM lease;
