-- Notes that a group's remaining members are to be cancelled. No row changes when that was noted before.
-- name: sibling_pending_insert :rows
-- both
INSERT INTO ff_pending_cancel_groups (partition_key, flow_id, downstream_eid, enqueued_at_ms)
VALUES (:partition_key, :flow_id, :downstream_eid, :now_ms)
    ON CONFLICT (partition_key, flow_id, downstream_eid) DO NOTHING;

-- Lists groups whose remaining members are to be cancelled, the oldest first.
-- name: sibling_pending_list :many
-- both
SELECT pending.partition_key, pending.flow_id, pending.downstream_eid FROM ff_pending_cancel_groups AS pending
 ORDER BY pending.enqueued_at_ms, pending.flow_id, pending.downstream_eid, pending.partition_key LIMIT :page_size;

-- Reads whether a group's remaining members are to be cancelled.
-- name: sibling_pending_read :opt
-- both
SELECT pending.enqueued_at_ms FROM ff_pending_cancel_groups AS pending
 WHERE pending.partition_key = :partition_key AND pending.flow_id = :flow_id
   AND pending.downstream_eid = :downstream_eid;

-- Reads whether a group's remaining members are to be cancelled, and keeps it so until the transaction ends. No row: they
-- are not, or somebody else holds the note.
-- name: sibling_pending_try_lock :opt
SELECT pending.enqueued_at_ms FROM ff_pending_cancel_groups AS pending
 WHERE pending.partition_key = :partition_key AND pending.flow_id = :flow_id
   AND pending.downstream_eid = :downstream_eid;

-- Notes that there is nothing left to cancel.
-- name: sibling_pending_delete :rows
-- both
DELETE FROM ff_pending_cancel_groups
 WHERE partition_key = :partition_key AND flow_id = :flow_id AND downstream_eid = :downstream_eid;

-- Names the members of a group that are to be cancelled.
-- name: sibling_group_mark :exec
-- both
-- param: members text[]
UPDATE ff_edge_group SET cancel_siblings_pending_flag = true, cancel_siblings_pending_members = :members
 WHERE partition_key = :partition_key AND flow_id = :flow_id AND downstream_eid = :downstream_eid;

-- Takes the names back.
-- name: sibling_group_clear :rows
-- both
-- param: members text[]
UPDATE ff_edge_group SET cancel_siblings_pending_flag = false, cancel_siblings_pending_members = :members
 WHERE partition_key = :partition_key AND flow_id = :flow_id AND downstream_eid = :downstream_eid;

-- Reads which members of a group are to be cancelled, and keeps it so until the transaction ends. No row:
-- there is no such group, or another transaction works on it.
-- name: sibling_group_try_lock :opt
-- column: members json
SELECT held.cancel_siblings_pending_flag, held.cancel_siblings_pending_members AS members FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid;

-- Says whether there is a group, whoever works on it.
-- name: sibling_group_read :opt
-- both
SELECT held.cancel_siblings_pending_flag FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid;

-- Cancels an execution that nobody waits for any longer.
-- name: sibling_execution_cancel :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'cancelled', attempt_state = 'cancelled', blocking_reason = NULL,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms), cancellation_reason = 'sibling_quorum_satisfied',
       cancelled_by = 'engine',
       raw_fields = json_set(core.raw_fields, '$.last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;
