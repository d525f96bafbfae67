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

-- name: dependency_child_lock :opt
SELECT core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.attempt_state, core.deadline_at_ms,
       core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

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
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms),
       raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: dependency_completion_insert :one
INSERT INTO ff_completion_event (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, :flow_id, :outcome,
       CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
       CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
         WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END, :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;
