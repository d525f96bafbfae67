-- name: sibling_pending_try_lock :opt
SELECT pending.enqueued_at_ms FROM ff_pending_cancel_groups AS pending
 WHERE pending.partition_key = :partition_key AND pending.flow_id = :flow_id
   AND pending.downstream_eid = :downstream_eid
   FOR UPDATE SKIP LOCKED;

-- name: sibling_group_try_lock :opt
SELECT held.cancel_siblings_pending_flag, to_json(held.cancel_siblings_pending_members) AS members
  FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid
   FOR UPDATE SKIP LOCKED;

-- name: sibling_execution_cancel :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'cancelled', attempt_state = 'cancelled', blocking_reason = NULL,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms), cancellation_reason = 'sibling_quorum_satisfied',
       cancelled_by = 'engine',
       raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;
