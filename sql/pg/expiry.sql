-- name: expiry_execution_lock :opt
SELECT core.lifecycle_phase, core.eligibility_state, core.attempt_index, core.deadline_at_ms, core.policy,
       core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: expiry_attempt_due :opt
SELECT held.attempt_index FROM ff_attempt AS held
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
   AND held.lease_expires_at_ms IS NOT NULL AND held.lease_expires_at_ms < :now_ms
 ORDER BY held.lease_expires_at_ms, held.attempt_index LIMIT 1 FOR UPDATE;

-- name: expiry_execution_release :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
       public_state = 'waiting', attempt_state = 'attempt_interrupted', blocking_reason = 'waiting_for_worker',
       raw_fields = core.raw_fields
                    || jsonb_build_object('lease_expired_at_ms', CAST(:now_ms AS bigint), 'crash_count',
                                          CAST(:crash_count AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: expiry_execution_retry :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
       public_state = 'waiting', attempt_state = 'pending_retry_attempt', blocking_reason = 'waiting_for_worker',
       attempt_index = :next_attempt_index,
       raw_fields = core.raw_fields
                    || jsonb_build_object('last_failure_message', 'attempt_timeout', 'retry_count',
                                          CAST(:retry_count AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: expiry_execution_fail :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'failed', attempt_state = 'attempt_terminal', blocking_reason = NULL, terminal_at_ms = :now_ms,
       raw_fields = core.raw_fields
                    || jsonb_build_object('last_failure_message', 'crash_limit', 'terminal_outcome', 'failed',
                                          'crash_count', CAST(:crash_count AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: expiry_execution_end :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'expired', attempt_state = 'attempt_terminal', blocking_reason = NULL, terminal_at_ms = :now_ms,
       raw_fields = core.raw_fields
                    || jsonb_build_object('last_failure_message', CAST(:failure_message AS text), 'terminal_outcome',
                                          'expired')
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: expiry_delay_end :exec
UPDATE ff_exec_core AS core
   SET eligibility_state = 'eligible_now', public_state = 'waiting', blocking_reason = 'waiting_for_worker',
       deadline_at_ms = CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;
