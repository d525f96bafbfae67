-- Ends a flow as cancelled and notes the policy; the first end stays.
-- name: flow_cancel_mark :exec
UPDATE ff_flow_core
   SET public_flow_state = 'cancelled', terminal_at_ms = COALESCE(terminal_at_ms, :now_ms),
       raw_fields = json_set(raw_fields, '$.cancellation_policy', CAST(:cancellation_policy AS text))
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- The same, with the reason.
-- name: flow_cancel_mark_with_reason :exec
UPDATE ff_flow_core
   SET public_flow_state = 'cancelled', terminal_at_ms = COALESCE(terminal_at_ms, :now_ms),
       raw_fields = json_set(raw_fields, '$.cancellation_policy', CAST(:cancellation_policy AS text), '$.cancel_reason',
                             CAST(:cancel_reason AS text))
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- Lists a flow's members and keeps their states until the transaction ends.
-- name: flow_cancel_members_lock :many
SELECT core.execution_id, core.lifecycle_phase FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
 ORDER BY + core.execution_id;

-- Lists a flow's members.
-- name: flow_cancel_members_list :many
SELECT core.execution_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
 ORDER BY + core.execution_id;

-- Writes the completion of every member in one of these phases.
-- name: flow_cancel_completion_events_insert :many
-- param: phases text[]
INSERT INTO ff_completion_event (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, core.flow_id, 'cancelled',
       CASE json_type(core.raw_fields, '$.namespace')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.namespace') END,
       CASE json_type(core.raw_fields, '$.tags."cairn.instance_id"')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.tags."cairn.instance_id"') END, :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
   AND core.lifecycle_phase IN (SELECT value FROM json_each(:phases))
 ORDER BY + core.execution_id
RETURNING event_id;

-- Writes the end of the lease of every member in one of these phases, held or not.
-- name: flow_cancel_lease_events_insert :many
-- param: phases text[]
INSERT INTO ff_lease_event (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT substr(lower(hex(core.execution_id)), 1, 8) || '-' || substr(lower(hex(core.execution_id)), 9, 4) || '-'
       || substr(lower(hex(core.execution_id)), 13, 4) || '-' || substr(lower(hex(core.execution_id)), 17, 4) || '-'
       || substr(lower(hex(core.execution_id)), 21),
       NULL, 'revoked', :now_ms, core.partition_key,
       CASE json_type(core.raw_fields, '$.namespace')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.namespace') END,
       CASE json_type(core.raw_fields, '$.tags."cairn.instance_id"')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.tags."cairn.instance_id"') END
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
   AND core.lifecycle_phase IN (SELECT value FROM json_each(:phases))
 ORDER BY + core.execution_id
RETURNING event_id;

-- Writes the end of the lease of every member in one of these phases that a worker holds.
-- name: flow_cancel_held_lease_events_insert :many
-- param: phases text[]
INSERT INTO ff_lease_event (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT substr(lower(hex(core.execution_id)), 1, 8) || '-' || substr(lower(hex(core.execution_id)), 9, 4) || '-'
       || substr(lower(hex(core.execution_id)), 13, 4) || '-' || substr(lower(hex(core.execution_id)), 17, 4) || '-'
       || substr(lower(hex(core.execution_id)), 21),
       NULL, 'revoked', :now_ms, core.partition_key,
       CASE json_type(core.raw_fields, '$.namespace')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.namespace') END,
       CASE json_type(core.raw_fields, '$.tags."cairn.instance_id"')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.tags."cairn.instance_id"') END
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
   AND core.lifecycle_phase IN (SELECT value FROM json_each(:phases))
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
 ORDER BY + core.execution_id
RETURNING event_id;

-- Takes the lease away from the running attempt of every member in one of these phases. The attempt ends
-- without an outcome, and its epoch moves on, so that its worker is fenced off.
-- The plus keeps SQLite from beginning with all attempts.
-- name: flow_cancel_attempts_release :exec
-- param: phases text[]
UPDATE ff_attempt AS attempt
   SET outcome = NULL, terminal_at_ms = COALESCE(attempt.terminal_at_ms, :now_ms), worker_instance_id = NULL,
       lease_expires_at_ms = NULL, lease_epoch = attempt.lease_epoch + 1
  FROM ff_exec_core AS core
 WHERE attempt.partition_key = :partition_key AND attempt.execution_id = + core.execution_id
   AND core.partition_key = :partition_key AND core.flow_id = :flow_id
   AND core.lifecycle_phase IN (SELECT value FROM json_each(:phases))
   AND (attempt.attempt_index = core.attempt_index
        OR (attempt.terminal_at_ms IS NULL
            AND NOT EXISTS (SELECT 1 FROM ff_attempt AS other
                             WHERE other.partition_key = :partition_key AND other.execution_id = core.execution_id
                               AND (other.attempt_index = core.attempt_index
                                    OR other.attempt_index > attempt.attempt_index))));

-- Forgets the suspensions of every member in one of these phases.
-- name: flow_cancel_suspensions_delete :exec
-- param: phases text[]
DELETE FROM ff_suspension_current
 WHERE partition_key = :partition_key
   AND execution_id IN (SELECT core.execution_id FROM ff_exec_core AS core
                         WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
                           AND core.lifecycle_phase IN (SELECT value FROM json_each(:phases)));

-- Forgets the waitpoints of every member in one of these phases.
-- name: flow_cancel_waitpoints_delete :exec
-- param: phases text[]
DELETE FROM ff_waitpoint_pending
 WHERE partition_key = :partition_key
   AND execution_id IN (SELECT core.execution_id FROM ff_exec_core AS core
                         WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
                           AND core.lifecycle_phase IN (SELECT value FROM json_each(:phases)));

-- Forgets the grants for every member in one of these phases.
-- name: flow_cancel_grants_delete :exec
-- param: phases text[]
DELETE FROM ff_claim_grant
 WHERE partition_key = :partition_key
   AND execution_id IN (SELECT core.execution_id FROM ff_exec_core AS core
                         WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
                           AND core.lifecycle_phase IN (SELECT value FROM json_each(:phases)));

-- Cancels every member in one of these phases. Who said why first stays.
-- name: flow_cancel_executions_end :exec
-- param: phases text[]
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'cancelled', ownership_state = 'unowned', eligibility_state = 'cancelled',
       public_state = 'cancelled', attempt_state = 'cancelled', blocking_reason = NULL,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms),
       cancellation_reason = COALESCE(core.cancellation_reason, :cancellation_reason),
       cancelled_by = COALESCE(core.cancelled_by, :cancelled_by),
       raw_fields = json_set(core.raw_fields, '$.last_mutation_at', CAST(:mutated_at AS text))
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
   AND core.lifecycle_phase IN (SELECT value FROM json_each(:phases));

-- Notes that a flow's members are to be cancelled; the first note stays.
-- name: flow_cancel_backlog_insert :exec
-- both
INSERT INTO ff_cancel_backlog (partition_key, flow_id, requested_at_ms, reason, cancellation_policy)
VALUES (:partition_key, :flow_id, :now_ms, :reason, :cancellation_policy)
    ON CONFLICT (partition_key, flow_id) DO NOTHING;

-- Notes every member in one of these phases.
-- name: flow_cancel_backlog_members_insert :exec
-- param: phases text[]
INSERT INTO ff_cancel_backlog_member (partition_key, flow_id, execution_id)
SELECT core.partition_key, :flow_id,
       '{fp:' || core.partition_key || '}:'
       || (substr(lower(hex(core.execution_id)), 1, 8) || '-' || substr(lower(hex(core.execution_id)), 9, 4) || '-'
           || substr(lower(hex(core.execution_id)), 13, 4) || '-' || substr(lower(hex(core.execution_id)), 17, 4) || '-'
           || substr(lower(hex(core.execution_id)), 21))
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
   AND core.lifecycle_phase IN (SELECT value FROM json_each(:phases))
    ON CONFLICT (partition_key, flow_id, execution_id) DO NOTHING;

-- Lists the members that are noted.
-- name: flow_cancel_backlog_members_list :many
-- both
SELECT noted.execution_id FROM ff_cancel_backlog_member AS noted
 WHERE noted.partition_key = :partition_key AND noted.flow_id = :flow_id;

-- Keeps others from acknowledging a flow's members until the transaction ends.
-- name: flow_cancel_backlog_lock :opt
SELECT noted.requested_at_ms FROM ff_cancel_backlog AS noted
 WHERE noted.partition_key = :partition_key AND noted.flow_id = :flow_id;

-- Forgets a member that is cancelled.
-- name: flow_cancel_backlog_member_delete :exec
-- both
DELETE FROM ff_cancel_backlog_member
 WHERE partition_key = :partition_key AND flow_id = :flow_id AND execution_id = :execution_id;

-- Forgets a flow all of whose members are cancelled.
-- name: flow_cancel_backlog_drop :exec
-- both
-- allow(stale-fence): members are noted once, together with their flow, and only become fewer.
DELETE FROM ff_cancel_backlog
 WHERE partition_key = :partition_key AND flow_id = :flow_id
   AND NOT EXISTS (SELECT 1 FROM ff_cancel_backlog_member AS noted
                    WHERE noted.partition_key = :partition_key AND noted.flow_id = :flow_id);

-- Writes that somebody asked for a flow to be cancelled.
-- name: flow_cancel_operator_event_insert :one
-- both
-- param: namespace text null
INSERT INTO ff_operator_event
       (execution_id, event_type, details, occurred_at_ms, partition_key, namespace, instance_tag)
VALUES (:flow_text, 'flow_cancel_requested', :details, :now_ms, :partition_key, :namespace, NULL)
RETURNING event_id;

-- Lists flows whose cancellation was noted before a time and is still noted, the oldest first.
-- name: flow_cancel_backlog_due_list :many
-- both
SELECT noted.partition_key, noted.flow_id, noted.reason FROM ff_cancel_backlog AS noted
 WHERE noted.requested_at_ms <= :requested_before_ms
 ORDER BY noted.requested_at_ms, noted.partition_key, noted.flow_id LIMIT :page_size;
