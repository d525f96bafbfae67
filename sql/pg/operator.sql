-- name: operator_execution_lock :opt
SELECT core.flow_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.public_state,
       core.priority, core.policy, core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: operator_execution_cancel :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'cancelled', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'cancelled', attempt_state = 'cancelled', blocking_reason = NULL,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms),
       cancellation_reason = COALESCE(core.cancellation_reason, :reason),
       cancelled_by = COALESCE(core.cancelled_by, :source),
       raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: operator_execution_release :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
       public_state = 'waiting', attempt_state = 'attempt_interrupted', blocking_reason = NULL,
       raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'active';

-- name: operator_priority_set :rows
UPDATE ff_exec_core AS core
   SET priority = :priority,
       raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'runnable'
   AND core.eligibility_state = 'eligible_now';

-- name: operator_edges_lock :many
SELECT edge.edge_id FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.downstream_eid = :execution_id
 ORDER BY edge.edge_id FOR UPDATE;

-- name: operator_group_lock :opt
SELECT held.downstream_eid FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :execution_id
   FOR UPDATE;

-- name: operator_edges_reopen :exec
UPDATE ff_edge SET policy = (policy - 'resolved_at_ms') || jsonb_build_object('edge_state', 'applied')
 WHERE partition_key = :partition_key AND flow_id = :flow_id AND downstream_eid = :execution_id
   AND policy ->> 'edge_state' = 'impossible';

-- name: operator_execution_replay :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = :eligibility_state,
       public_state = :public_state, attempt_state = 'pending_replay_attempt', blocking_reason = :blocking_reason,
       terminal_at_ms = NULL, result = NULL, cancellation_reason = NULL, cancelled_by = NULL,
       raw_fields = (core.raw_fields - 'crash_count')
                    || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text), 'replay_count',
                                          CAST(:replay_count AS bigint))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: operator_event_insert :one
INSERT INTO ff_operator_event
       (execution_id, event_type, details, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT :execution_text, :event_type, :details, :now_ms, core.partition_key,
       CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
       CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
         WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;
