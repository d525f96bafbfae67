-- name: flow_cancel_mark :exec
UPDATE ff_flow_core
   SET public_flow_state = 'cancelled', terminal_at_ms = COALESCE(terminal_at_ms, :now_ms),
       raw_fields = raw_fields || jsonb_build_object('cancellation_policy', CAST(:cancellation_policy AS text))
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- name: flow_cancel_mark_with_reason :exec
UPDATE ff_flow_core
   SET public_flow_state = 'cancelled', terminal_at_ms = COALESCE(terminal_at_ms, :now_ms),
       raw_fields = raw_fields
                    || jsonb_build_object('cancellation_policy', CAST(:cancellation_policy AS text), 'cancel_reason',
                                          CAST(:cancel_reason AS text))
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- name: flow_cancel_members_lock :many
SELECT core.execution_id, core.lifecycle_phase FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
 ORDER BY core.execution_id FOR UPDATE;

-- name: flow_cancel_members_list :many
SELECT core.execution_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
 ORDER BY core.execution_id;

-- name: flow_cancel_completion_events_insert :many
INSERT INTO ff_completion_event (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, core.flow_id, 'cancelled',
       CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
       CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
         WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END, :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id AND core.lifecycle_phase = ANY (:phases)
 ORDER BY core.execution_id
RETURNING event_id;

-- name: flow_cancel_lease_events_insert :many
INSERT INTO ff_lease_event (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT CAST(core.execution_id AS text), NULL, 'revoked', :now_ms, core.partition_key,
       CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
       CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
         WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id AND core.lifecycle_phase = ANY (:phases)
 ORDER BY core.execution_id
RETURNING event_id;

-- name: flow_cancel_held_lease_events_insert :many
INSERT INTO ff_lease_event (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT CAST(core.execution_id AS text), NULL, 'revoked', :now_ms, core.partition_key,
       CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
       CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
         WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id AND core.lifecycle_phase = ANY (:phases)
   AND EXISTS (SELECT 1 FROM ff_attempt AS attempt
                WHERE attempt.partition_key = :partition_key AND attempt.partition_key = core.partition_key
                  AND attempt.execution_id = core.execution_id
                  AND attempt.worker_instance_id <> ''
                  AND (core.ownership_state = 'leased' OR attempt.lease_expires_at_ms IS NOT NULL)
                  AND (attempt.attempt_index = core.attempt_index
                       OR (attempt.terminal_at_ms IS NULL
                           AND NOT EXISTS (SELECT 1 FROM ff_attempt AS other
                                            WHERE other.partition_key = :partition_key
                                              AND other.partition_key = core.partition_key
                                              AND other.execution_id = core.execution_id
                                              AND (other.attempt_index = core.attempt_index
                                                   OR other.attempt_index > attempt.attempt_index)))))
 ORDER BY core.execution_id
RETURNING event_id;

-- Takes the lease away from the running attempt of every member in one of these phases. The attempt ends
-- without an outcome, and its epoch moves on, so that its worker is fenced off.
-- name: flow_cancel_attempts_release :exec
UPDATE ff_attempt AS attempt
   SET outcome = NULL, terminal_at_ms = COALESCE(attempt.terminal_at_ms, :now_ms), worker_instance_id = NULL,
       lease_expires_at_ms = NULL, lease_epoch = attempt.lease_epoch + 1
  FROM ff_exec_core AS core
 WHERE attempt.partition_key = :partition_key AND attempt.execution_id = core.execution_id
   AND core.partition_key = :partition_key AND core.flow_id = :flow_id AND core.lifecycle_phase = ANY (:phases)
   AND (attempt.attempt_index = core.attempt_index
        OR (attempt.terminal_at_ms IS NULL
            AND NOT EXISTS (SELECT 1 FROM ff_attempt AS other
                             WHERE other.partition_key = :partition_key AND other.execution_id = core.execution_id
                               AND (other.attempt_index = core.attempt_index
                                    OR other.attempt_index > attempt.attempt_index))));

-- name: flow_cancel_suspensions_delete :exec
DELETE FROM ff_suspension_current
 WHERE partition_key = :partition_key
   AND execution_id IN (SELECT core.execution_id FROM ff_exec_core AS core
                         WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
                           AND core.lifecycle_phase = ANY (:phases));

-- name: flow_cancel_waitpoints_delete :exec
DELETE FROM ff_waitpoint_pending
 WHERE partition_key = :partition_key
   AND execution_id IN (SELECT core.execution_id FROM ff_exec_core AS core
                         WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
                           AND core.lifecycle_phase = ANY (:phases));

-- name: flow_cancel_grants_delete :exec
DELETE FROM ff_claim_grant
 WHERE partition_key = :partition_key
   AND execution_id IN (SELECT core.execution_id FROM ff_exec_core AS core
                         WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
                           AND core.lifecycle_phase = ANY (:phases));

-- name: flow_cancel_executions_end :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'cancelled', ownership_state = 'unowned', eligibility_state = 'cancelled',
       public_state = 'cancelled', attempt_state = 'cancelled', blocking_reason = NULL,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms),
       cancellation_reason = COALESCE(core.cancellation_reason, :cancellation_reason),
       cancelled_by = COALESCE(core.cancelled_by, :cancelled_by),
       raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(:mutated_at AS text))
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id AND core.lifecycle_phase = ANY (:phases);

-- name: flow_cancel_backlog_members_insert :exec
INSERT INTO ff_cancel_backlog_member (partition_key, flow_id, execution_id)
SELECT core.partition_key, :flow_id, '{fp:' || core.partition_key || '}:' || CAST(core.execution_id AS text)
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id AND core.lifecycle_phase = ANY (:phases)
    ON CONFLICT (partition_key, flow_id, execution_id) DO NOTHING;

-- name: flow_cancel_backlog_lock :opt
SELECT noted.requested_at_ms FROM ff_cancel_backlog AS noted
 WHERE noted.partition_key = :partition_key AND noted.flow_id = :flow_id
   FOR UPDATE;
