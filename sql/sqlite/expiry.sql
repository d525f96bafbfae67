-- Reads what decides whether an execution's time is over, and keeps it so until the transaction ends.
-- name: expiry_execution_lock :opt
SELECT core.lifecycle_phase, core.eligibility_state, core.attempt_index, core.deadline_at_ms, core.policy,
       core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Finds the attempt of an execution whose lease ran out first.
-- name: expiry_attempt_due :opt
SELECT held.attempt_index FROM ff_attempt AS held
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
   AND held.lease_expires_at_ms IS NOT NULL AND held.lease_expires_at_ms < :now_ms
 ORDER BY held.lease_expires_at_ms, held.attempt_index LIMIT 1;

-- Lists the executions with a lease that ran out and that pass a filter, oldest first, strictly after a cursor.
-- Postgres would otherwise read all executions to know these; the OFFSET has it ask for each.
-- name: expiry_lease_due_list :many
-- param: namespace text null, tag_key text null, tag_value text null
-- column: lease_expires_at_ms i64
SELECT held.partition_key, held.execution_id, held.lease_expires_at_ms FROM ff_attempt AS held
 WHERE held.lease_expires_at_ms IS NOT NULL AND held.lease_expires_at_ms < :now_ms
   AND (held.lease_expires_at_ms, held.partition_key, held.execution_id) > (:after_expires_at_ms, :after_partition_key,
                                                                            :after_execution_id)
   AND (:namespace IS NULL AND :tag_key IS NULL
        OR EXISTS (SELECT 1 FROM ff_exec_core AS core
                    WHERE core.partition_key = held.partition_key AND core.execution_id = held.execution_id
                      AND (:namespace IS NULL
                           OR json_type(core.raw_fields, '$.namespace') = 'text'
                              AND core.raw_fields ->> 'namespace' = :namespace)
                      AND (:tag_key IS NULL
                           OR EXISTS (SELECT 1 FROM json_each(core.raw_fields, '$.tags') AS tag
                                       WHERE tag.key = :tag_key AND tag.atom = :tag_value))))
 ORDER BY held.lease_expires_at_ms, held.partition_key, held.execution_id LIMIT :page_size;

-- Lists the executions whose deadline has passed and that pass a filter, oldest first, strictly after a cursor. What waits
-- for a time has its wake-up in the deadline column.
-- name: expiry_deadline_due_list :many
-- param: namespace text null, tag_key text null, tag_value text null
-- column: deadline_at_ms i64
SELECT core.partition_key, core.execution_id, core.deadline_at_ms FROM ff_exec_core AS core
 WHERE core.deadline_at_ms IS NOT NULL AND core.lifecycle_phase NOT IN ('terminal', 'cancelled')
   AND core.eligibility_state <> 'not_eligible_until_time' AND core.deadline_at_ms < :now_ms
   AND (core.deadline_at_ms, core.partition_key, core.execution_id) > (:after_deadline_at_ms, :after_partition_key,
                                                                       :after_execution_id)
   AND (:namespace IS NULL
        OR json_type(core.raw_fields, '$.namespace') = 'text' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (:tag_key IS NULL
        OR EXISTS (SELECT 1 FROM json_each(core.raw_fields, '$.tags') AS tag
                    WHERE tag.key = :tag_key AND tag.atom = :tag_value))
 ORDER BY core.deadline_at_ms, core.partition_key, core.execution_id LIMIT :page_size;

-- Takes the lease from an attempt whose worker is gone.
-- name: expiry_attempt_release :exec
-- both
UPDATE ff_attempt SET outcome = COALESCE(outcome, 'lease_expired_reclaimable'), lease_expires_at_ms = NULL
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- Ends an attempt whose time is over; the next epoch keeps its worker out.
-- name: expiry_attempt_end :exec
-- both
UPDATE ff_attempt
   SET outcome = :outcome, terminal_at_ms = :now_ms, lease_expires_at_ms = NULL, worker_instance_id = NULL,
       lease_epoch = lease_epoch + 1
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- Makes an execution claimable whose worker is gone, and counts that; the same attempt then continues.
-- name: expiry_execution_release :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
       public_state = 'waiting', attempt_state = 'attempt_interrupted', blocking_reason = 'waiting_for_worker',
       raw_fields = json_set(core.raw_fields, '$.lease_expired_at_ms', :now_ms, '$.crash_count', CAST(:crash_count AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Makes an execution claimable for its next attempt, because the last one took too long.
-- name: expiry_execution_retry :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
       public_state = 'waiting', attempt_state = 'pending_retry_attempt', blocking_reason = 'waiting_for_worker',
       attempt_index = :next_attempt_index,
       raw_fields = json_set(core.raw_fields, '$.last_failure_message', 'attempt_timeout', '$.retry_count',
                             CAST(:retry_count AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Ends an execution whose worker is gone as failed, because that has happened too often.
-- name: expiry_execution_fail :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'failed', attempt_state = 'attempt_terminal', blocking_reason = NULL, terminal_at_ms = :now_ms,
       raw_fields = json_set(core.raw_fields, '$.last_failure_message', 'crash_limit', '$.terminal_outcome', 'failed',
                             '$.crash_count', CAST(:crash_count AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Ends an execution whose time is over.
-- name: expiry_execution_end :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'expired', attempt_state = 'attempt_terminal', blocking_reason = NULL, terminal_at_ms = :now_ms,
       raw_fields = json_set(core.raw_fields, '$.last_failure_message', CAST(:failure_message AS text),
                             '$.terminal_outcome', 'expired')
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Closes the suspension of an execution that ends.
-- name: expiry_suspension_delete :exec
-- both
DELETE FROM ff_suspension_current WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Closes the waitpoints of an execution that ends.
-- name: expiry_waitpoint_delete_all :exec
-- both
DELETE FROM ff_waitpoint_pending WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Makes a delayed execution eligible and gives it back the deadline that it had before.
-- name: expiry_delay_end :exec
UPDATE ff_exec_core AS core
   SET eligibility_state = 'eligible_now', public_state = 'waiting', blocking_reason = 'waiting_for_worker',
       deadline_at_ms = CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Lists executions of a partition whose state words contradict each other: somebody works without a lease or
-- holds one without working, an end without its time, a claim that is pending without a grant.
-- name: expiry_inconsistent_list :many
-- both
SELECT core.execution_id, core.lane_id, core.raw_fields FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id > :after
   AND ((core.lifecycle_phase = 'active') <> (core.ownership_state = 'leased')
        OR (core.lifecycle_phase IN ('terminal', 'cancelled') AND core.terminal_at_ms IS NULL)
        OR core.eligibility_state = 'pending_claim')
   AND (core.eligibility_state <> 'pending_claim'
        OR NOT EXISTS (SELECT 1 FROM ff_claim_grant AS granted
                        WHERE granted.partition_key = :partition_key AND granted.execution_id = core.execution_id
                          AND granted.kind = 'claim' AND granted.expires_at_ms > :now_ms))
 ORDER BY core.execution_id LIMIT :page_size;
