-- Takes an execution that waits to run out of the queue until its reason is gone. No row: there is none that waits.
-- name: admission_block :rows
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = :eligibility_state,
       public_state = 'rate_limited', blocking_reason = :blocking_reason,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       raw_fields = json_set(core.raw_fields, '$.blocking_detail', CAST(:blocking_detail AS text), '$.last_mutation_at',
                             CAST(:now_text AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND core.lifecycle_phase IN ('submitted', 'runnable');

-- Reads the phase of an execution.
-- name: admission_phase_read :opt
-- both
SELECT core.lifecycle_phase FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Puts an execution back into the queue if it is still blocked for that reason.
-- name: admission_unblock :rows
UPDATE ff_exec_core AS core
   SET ownership_state = 'unowned', eligibility_state = 'eligible_now', public_state = 'waiting',
       blocking_reason = 'waiting_for_worker',
       raw_fields = json_set(core.raw_fields, '$.blocking_detail', '', '$.last_mutation_at', CAST(:now_text AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'runnable'
   AND core.eligibility_state IN ('blocked_by_budget', 'blocked_by_quota', 'blocked_by_route', 'blocked_by_operator')
   AND core.blocking_reason = :blocking_reason;

-- Lists executions that wait for something that may have come and that pass a filter, in the order of their ids, strictly
-- after a cursor.
-- name: admission_blocked_list :many
-- param: namespace text null, tag_key text null, tag_value text null
-- column: required_capabilities text
SELECT core.partition_key, core.execution_id, core.blocking_reason, core.raw_fields,
       COALESCE((SELECT group_concat(required.capability, ',') FROM ff_execution_capabilities AS required
                  WHERE required.execution_id = core.execution_id),
                '') AS required_capabilities
  FROM ff_exec_core AS core
 WHERE (core.eligibility_state = 'blocked_by_budget' OR core.eligibility_state = 'blocked_by_quota'
        OR core.eligibility_state = 'blocked_by_route')
   AND core.lifecycle_phase = 'runnable'
   AND (core.partition_key, core.execution_id) > (:after_partition_key, :after_execution_id)
   AND (:namespace IS NULL
        OR json_type(core.raw_fields, '$.namespace') = 'text' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (:tag_key IS NULL
        OR EXISTS (SELECT 1 FROM json_each(core.raw_fields, '$.tags') AS tag
                    WHERE tag.key = :tag_key AND tag.atom = :tag_value))
 ORDER BY core.partition_key, core.execution_id LIMIT :page_size;
