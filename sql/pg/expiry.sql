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

-- name: expiry_lease_due_list :many
SELECT held.partition_key, held.execution_id, held.lease_expires_at_ms FROM ff_attempt AS held
 WHERE held.lease_expires_at_ms IS NOT NULL AND held.lease_expires_at_ms < :now_ms
   AND (held.lease_expires_at_ms, held.partition_key, held.execution_id) > (:after_expires_at_ms, :after_partition_key,
                                                                            :after_execution_id)
   AND (CAST(:namespace AS text) IS NULL AND CAST(:tag_key AS text) IS NULL
        OR EXISTS (SELECT 1 FROM ff_exec_core AS core
                    WHERE core.partition_key = held.partition_key AND core.execution_id = held.execution_id
                      AND (CAST(:namespace AS text) IS NULL
                           OR jsonb_typeof(core.raw_fields -> 'namespace') = 'string'
                              AND core.raw_fields ->> 'namespace' = :namespace)
                      AND (CAST(:tag_key AS text) IS NULL
                           OR core.raw_fields -> 'tags' ->> CAST(:tag_key AS text) = :tag_value)
                   OFFSET 0))
 ORDER BY held.lease_expires_at_ms, held.partition_key, held.execution_id LIMIT :page_size;

-- name: expiry_deadline_due_list :many
SELECT core.partition_key, core.execution_id, core.deadline_at_ms FROM ff_exec_core AS core
 WHERE core.deadline_at_ms IS NOT NULL AND core.lifecycle_phase NOT IN ('terminal', 'cancelled')
   AND core.eligibility_state <> 'not_eligible_until_time' AND core.deadline_at_ms < :now_ms
   AND (core.deadline_at_ms, core.partition_key, core.execution_id) > (:after_deadline_at_ms, :after_partition_key,
                                                                       :after_execution_id)
   AND (CAST(:namespace AS text) IS NULL
        OR jsonb_typeof(core.raw_fields -> 'namespace') = 'string' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (CAST(:tag_key AS text) IS NULL OR core.raw_fields -> 'tags' ->> CAST(:tag_key AS text) = :tag_value)
 ORDER BY core.deadline_at_ms, core.partition_key, core.execution_id LIMIT :page_size;

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
