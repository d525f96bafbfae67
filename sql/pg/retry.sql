-- part: retried_now
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
         public_state = 'waiting', attempt_state = 'pending_retry_attempt', blocking_reason = NULL,
         attempt_index = :attempt_index + 1,
         raw_fields = core.raw_fields
                      || jsonb_build_object('last_failure_message', CAST(:failure_message AS text), 'retry_count',
                                            CAST(:retry_count AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
);

-- name: retry_now :opt
-- use: attempt_held
-- use: attempt_closed(outcome = 'retry')
-- use: lease_event(source = fence, event = 'revoked')
-- use: retried_now
SELECT lease.event_id AS lease_event_id FROM lease;

-- part: retried_later
WITH attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'retry', terminal_at_ms = :now_ms, lease_expires_at_ms = NULL,
         raw_fields = attempt.raw_fields || jsonb_build_object('retry_at_ms', CAST(:retry_at_ms AS bigint))
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'not_eligible_until_time',
         public_state = 'delayed', attempt_state = 'pending_retry_attempt',
         blocking_reason = 'waiting_for_retry_backoff', attempt_index = :attempt_index + 1,
         deadline_at_ms = :retry_at_ms,
         raw_fields = CASE
                        WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                        ELSE jsonb_set(core.raw_fields, '{execution_deadline_at}', CAST(CAST(core.deadline_at_ms AS text) AS jsonb))
                      END
                      || jsonb_build_object('last_failure_message', CAST(:failure_message AS text), 'retry_count',
                                            CAST(:retry_count AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
);

-- name: retry_later :opt
-- use: attempt_held
-- use: lease_event(source = fence, event = 'revoked')
-- use: retried_later
SELECT lease.event_id AS lease_event_id FROM lease;
