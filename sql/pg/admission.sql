-- name: admission_block :rows
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = :eligibility_state,
       public_state = 'rate_limited', blocking_reason = :blocking_reason,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       raw_fields = core.raw_fields
                    || jsonb_build_object('blocking_detail', CAST(:blocking_detail AS text), 'last_mutation_at',
                                          CAST(:now_text AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND core.lifecycle_phase IN ('submitted', 'runnable');

-- name: admission_unblock :rows
UPDATE ff_exec_core AS core
   SET ownership_state = 'unowned', eligibility_state = 'eligible_now', public_state = 'waiting',
       blocking_reason = 'waiting_for_worker',
       raw_fields = core.raw_fields
                    || jsonb_build_object('blocking_detail', '', 'last_mutation_at', CAST(:now_text AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'runnable'
   AND core.eligibility_state IN ('blocked_by_budget', 'blocked_by_quota', 'blocked_by_route', 'blocked_by_operator')
   AND core.blocking_reason = :blocking_reason;

-- name: admission_blocked_list :many
SELECT core.partition_key, core.execution_id, core.blocking_reason, core.raw_fields,
       array_to_string(core.required_capabilities, ',') AS required_capabilities
  FROM ff_exec_core AS core
 WHERE (core.eligibility_state = 'blocked_by_budget' OR core.eligibility_state = 'blocked_by_quota'
        OR core.eligibility_state = 'blocked_by_route')
   AND core.lifecycle_phase = 'runnable'
   AND (core.partition_key, core.execution_id) > (:after_partition_key, :after_execution_id)
   AND (CAST(:namespace AS text) IS NULL
        OR jsonb_typeof(core.raw_fields -> 'namespace') = 'string' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (CAST(:tag_key AS text) IS NULL OR core.raw_fields -> 'tags' ->> CAST(:tag_key AS text) = :tag_value)
 ORDER BY core.partition_key, core.execution_id LIMIT :page_size;
