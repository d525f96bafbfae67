-- Ends the running attempt and makes its execution claimable at once, for the next attempt.
-- No row: the handle does not hold the lease.
-- name: retry_now :opt
-- use: attempt_held
-- use: attempt_closed(outcome = 'retry')
-- use: lease_event(source = fence, event = 'revoked')
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
         public_state = 'waiting', attempt_state = 'pending_retry_attempt', blocking_reason = NULL,
         attempt_index = :attempt_index + 1,
         raw_fields = json_set(core.raw_fields, '$.last_failure_message', CAST(:failure_message AS text),
                               '$.retry_count', CAST(:retry_count AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id FROM lease;

-- Ends the running attempt and makes its execution claimable at `retry_at_ms`, for the next attempt. The
-- wake-up time takes the deadline column; the deadline itself is kept in the open document until then, and
-- the attempt remembers the time for a repeated call. No row: the handle does not hold the lease.
-- name: retry_later :opt
-- use: attempt_held
-- use: lease_event(source = fence, event = 'revoked')
WITH attempt AS (
  UPDATE ff_attempt AS attempt
     SET outcome = 'retry', terminal_at_ms = :now_ms, lease_expires_at_ms = NULL,
         raw_fields = json_set(attempt.raw_fields, '$.retry_at_ms', :retry_at_ms)
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'not_eligible_until_time',
         public_state = 'delayed', attempt_state = 'pending_retry_attempt',
         blocking_reason = 'waiting_for_retry_backoff', attempt_index = :attempt_index + 1,
         deadline_at_ms = :retry_at_ms,
         raw_fields = json_set(CASE
                                 WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                                 ELSE json_set(core.raw_fields, '$.execution_deadline_at', core.deadline_at_ms)
                               END,
                               '$.last_failure_message', CAST(:failure_message AS text), '$.retry_count',
                               CAST(:retry_count AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
)
SELECT lease.event_id AS lease_event_id FROM lease;

-- Reads what the retry decision needs: the execution's policy and its open document with the retry counter.
-- name: retry_policy_read :opt
-- both
SELECT core.policy, core.raw_fields FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;
