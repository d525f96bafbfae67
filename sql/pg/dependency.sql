-- name: dependency_completion_read :opt
SELECT ended.execution_id, ended.flow_id, ended.outcome, ended.dispatched_at_ms FROM ff_completion_event AS ended
 WHERE ended.partition_key = :partition_key AND ended.event_id = :event_id;

-- name: dependency_completion_find :opt
SELECT ended.event_id FROM ff_completion_event AS ended
 WHERE ended.partition_key = :partition_key AND ended.execution_id = :execution_id
   AND ended.occurred_at_ms = :occurred_at_ms
 ORDER BY CASE WHEN ended.dispatched_at_ms IS NULL THEN 0 ELSE 1 END, ended.event_id LIMIT 1;

-- name: dependency_completion_settle :rows
UPDATE ff_completion_event SET dispatched_at_ms = :now_ms
 WHERE partition_key = :partition_key AND event_id = :event_id AND dispatched_at_ms IS NULL;

-- name: dependency_forgotten_list :many
SELECT ended.partition_key, ended.event_id, ended.execution_id FROM ff_completion_event AS ended
 WHERE ended.dispatched_at_ms IS NULL AND ended.flow_id IS NOT NULL AND ended.event_id > :after_event_id
   AND ended.committed_at_ms < :committed_before_ms
   AND (CAST(:namespace AS text) IS NULL OR ended.namespace = :namespace)
   AND (CAST(:instance_tag AS text) IS NULL OR ended.instance_tag = :instance_tag)
 ORDER BY ended.event_id LIMIT :page_size;

-- name: dependency_group_lock :opt
SELECT held.policy, held.success_count, held.fail_count, held.skip_count, held.running_count,
       held.cancel_siblings_pending_flag
  FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid
   FOR UPDATE;

-- name: dependency_group_try_lock :opt
SELECT held.downstream_eid FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid
   FOR UPDATE SKIP LOCKED;

-- name: dependency_group_count :exec
UPDATE ff_edge_group
   SET success_count = :success_count, fail_count = :fail_count, skip_count = :skip_count,
       running_count = :running_count
 WHERE partition_key = :partition_key AND flow_id = :flow_id AND downstream_eid = :downstream_eid;

-- name: dependency_upstream_list :many
SELECT edge.upstream_eid, edge.policy, core.lifecycle_phase, core.public_state
  FROM ff_edge AS edge
  LEFT JOIN ff_exec_core AS core ON core.partition_key = :partition_key AND core.execution_id = edge.upstream_eid
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.downstream_eid = :downstream_eid
 ORDER BY edge.edge_id;

-- name: dependency_child_lock :opt
SELECT core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.attempt_state, core.deadline_at_ms,
       core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: dependency_payload_pass :rows
UPDATE ff_exec_core AS core SET payload = source.result FROM ff_exec_core AS source
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND source.partition_key = :partition_key AND source.execution_id = :upstream_eid AND source.result IS NOT NULL;

-- name: dependency_child_release :exec
UPDATE ff_exec_core
   SET lifecycle_phase = :lifecycle_phase, eligibility_state = 'eligible_now', public_state = 'waiting',
       attempt_state = :attempt_state, blocking_reason = 'waiting_for_worker'
 WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- name: dependency_child_delay :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = :lifecycle_phase, eligibility_state = 'not_eligible_until_time', public_state = 'delayed',
       attempt_state = :attempt_state, blocking_reason = 'waiting_for_delay', deadline_at_ms = :wake_at_ms,
       raw_fields = CASE
                      WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                      ELSE jsonb_set(core.raw_fields, '{execution_deadline_at}', CAST(CAST(core.deadline_at_ms AS text) AS jsonb))
                    END
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: dependency_child_skip :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'skipped', attempt_state = 'attempt_terminal', blocking_reason = NULL,
       deadline_at_ms = CASE core.eligibility_state
                          WHEN 'not_eligible_until_time' THEN CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms),
       raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: dependency_attempt_skip :exec
UPDATE ff_attempt
   SET outcome = 'skipped', terminal_at_ms = COALESCE(terminal_at_ms, :now_ms), lease_expires_at_ms = NULL
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- name: dependency_lease_revoke :exec
UPDATE ff_attempt SET worker_instance_id = NULL, lease_expires_at_ms = NULL, lease_epoch = lease_epoch + 1
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- name: dependency_suspension_delete :exec
DELETE FROM ff_suspension_current WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- name: dependency_waitpoint_delete :exec
DELETE FROM ff_waitpoint_pending WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- name: dependency_grant_delete :exec
DELETE FROM ff_claim_grant WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- name: dependency_member_read :opt
SELECT core.lifecycle_phase, core.public_state FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: dependency_completion_insert :one
INSERT INTO ff_completion_event (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, :flow_id, :outcome, core.raw_fields ->> 'namespace',
       core.raw_fields -> 'tags' ->> 'cairn.instance_id', :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;
