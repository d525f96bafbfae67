-- What whoever looks after a database asks and does: counts, lists by any property. Lists are pages in the order of
-- the keys, so that one command reads the executions once from end to end.

-- How many executions each lane has in which state, and since when the oldest of them is there.
-- name: manage_count_list :many
-- both
-- column: oldest_at_ms i64
SELECT core.lane_id, core.public_state, core.eligibility_state, count(*) AS depth, min(core.created_at_ms) AS oldest_at_ms
  FROM ff_exec_core AS core
 GROUP BY core.lane_id, core.public_state, core.eligibility_state;

-- Lists executions by lane, flow, state and time, strictly after a key. The time is when one ended, or was created.
-- name: manage_execution_list :many
-- param: lane_id text null, flow_id uuid null, any_state i32, states text[]
-- column: required_capabilities text
SELECT core.partition_key, core.execution_id, core.flow_id, core.lane_id, core.eligibility_state, core.public_state,
       core.blocking_reason, core.priority, core.created_at_ms, core.terminal_at_ms, core.deadline_at_ms, core.raw_fields,
       (SELECT COALESCE(group_concat(required.capability, ','), '') FROM ff_execution_capabilities AS required
         WHERE required.execution_id = core.execution_id) AS required_capabilities
  FROM ff_exec_core AS core
 WHERE (core.partition_key, core.execution_id) > (:after_partition_key, :after_execution_id)
   AND (:lane_id IS NULL OR core.lane_id = :lane_id)
   AND (:flow_id IS NULL OR core.flow_id = :flow_id)
   AND (:any_state = 1 OR core.public_state IN (SELECT value FROM json_each(:states)))
   AND COALESCE(core.terminal_at_ms, core.created_at_ms) <= :before_ms
 ORDER BY core.partition_key, core.execution_id LIMIT :page_size;
