-- Reads what an operator's act is decided on, and keeps it so until the transaction ends.
-- name: operator_execution_lock :opt
SELECT core.flow_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.public_state,
       core.priority, core.policy, core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Cancels an execution. What an earlier end left behind stays.
-- name: operator_execution_cancel :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'cancelled', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'cancelled', attempt_state = 'cancelled', blocking_reason = NULL,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms),
       cancellation_reason = COALESCE(core.cancellation_reason, :reason),
       cancelled_by = COALESCE(core.cancelled_by, :source),
       raw_fields = json_set(core.raw_fields, '$.last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Ends the leased attempt of a cancelled execution; the next epoch fences its worker.
-- name: operator_attempt_cancel :exec
-- both
UPDATE ff_attempt AS held
   SET outcome = 'cancelled', terminal_at_ms = :now_ms, worker_instance_id = NULL, lease_epoch = held.lease_epoch + 1,
       lease_expires_at_ms = NULL
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index;

-- Takes an execution's suspension away, so that its timer does not fire.
-- name: operator_suspension_delete :exec
-- both
DELETE FROM ff_suspension_current WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Takes an execution's waitpoints away, so that no signal is delivered to them.
-- name: operator_waitpoints_delete :exec
-- both
DELETE FROM ff_waitpoint_pending WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Takes every grant of an execution away, so that none is used.
-- name: operator_grants_delete :exec
-- both
DELETE FROM ff_claim_grant WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Takes a lease from its worker; the next epoch fences it. No row: the epoch is another one.
-- name: operator_attempt_revoke :rows
-- both
UPDATE ff_attempt AS held SET worker_instance_id = NULL, lease_epoch = held.lease_epoch + 1, lease_expires_at_ms = NULL
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index
   AND held.lease_epoch = :lease_epoch;

-- Makes an execution claimable whose lease was revoked; one that is not running stays as it is.
-- name: operator_execution_release :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
       public_state = 'waiting', attempt_state = 'attempt_interrupted', blocking_reason = NULL,
       raw_fields = json_set(core.raw_fields, '$.last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'active';

-- Sets the priority of an execution that waits to be claimed. No row: it does not.
-- name: operator_priority_set :rows
UPDATE ff_exec_core AS core
   SET priority = :priority,
       raw_fields = json_set(core.raw_fields, '$.last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'runnable'
   AND core.eligibility_state = 'eligible_now';

-- Keeps the edges into a member as they are until the transaction ends.
-- name: operator_edges_lock :many
SELECT edge.edge_id FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.downstream_eid = :execution_id
 ORDER BY edge.edge_id;

-- Keeps the group of a member's edges as it is until the transaction ends.
-- name: operator_group_lock :opt
SELECT held.downstream_eid FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :execution_id;

-- Forgets what a child knew of its ended parents, except their successes; the parents will report again.
-- name: operator_groups_reset :rows
-- both
UPDATE ff_edge_group SET fail_count = 0, skip_count = 0, running_count = 0
 WHERE partition_key = :partition_key AND flow_id = :flow_id AND downstream_eid = :execution_id;

-- Opens the edges into a child again that were resolved by anything but a success.
-- name: operator_edges_reopen :exec
UPDATE ff_edge SET policy = json_set(json_remove(policy, '$.resolved_at_ms'), '$.edge_state', 'applied')
 WHERE partition_key = :partition_key AND flow_id = :flow_id AND downstream_eid = :execution_id
   AND CAST(json_extract(policy, '$.edge_state') AS text) = 'impossible';

-- Makes an ended execution runnable again: at once, or when its parents have ended again.
-- name: operator_execution_replay :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = :eligibility_state,
       public_state = :public_state, attempt_state = 'pending_replay_attempt', blocking_reason = :blocking_reason,
       terminal_at_ms = NULL, result = NULL, cancellation_reason = NULL, cancelled_by = NULL,
       raw_fields = json_set(json_remove(core.raw_fields, '$.crash_count'), '$.last_mutation_at',
                             CAST(CAST(:now_ms AS bigint) AS text), '$.replay_count', :replay_count)
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Opens the last attempt of a replayed execution again; the next epoch fences its old worker.
-- name: operator_attempt_reopen :exec
-- both
UPDATE ff_attempt AS held
   SET outcome = NULL, terminal_at_ms = NULL, worker_id = NULL, worker_instance_id = NULL,
       lease_epoch = held.lease_epoch + 1, lease_expires_at_ms = NULL
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index;

-- Writes an operator event about an execution, with its namespace and instance tag.
-- name: operator_event_insert :one
-- param: details json
INSERT INTO ff_operator_event
       (execution_id, event_type, details, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT :execution_text, :event_type, :details, :now_ms, core.partition_key,
       CASE json_type(core.raw_fields, '$.namespace')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.namespace') END,
       CASE json_type(core.raw_fields, '$.tags."cairn.instance_id"')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.tags."cairn.instance_id"') END
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;
