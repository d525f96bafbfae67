-- part: paused_until
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
                        ELSE jsonb_set(core.raw_fields, '{execution_deadline_at}', CAST(CAST(core.deadline_at_ms AS text) AS jsonb))
                      END
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
);

-- name: pause_until :opt
-- use: attempt_held
-- use: lease_event(source = fence, event = 'revoked')
-- use: paused_until
SELECT lease.event_id AS lease_event_id FROM lease;
