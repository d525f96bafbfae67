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

-- Has a lane give out no claim. No row is written where it is paused already, and where it was never used.
-- name: manage_lane_pause :rows
-- both
INSERT INTO ff_lane_pause (lane_id, paused_at_ms, reason)
SELECT lane.lane_id, :now_ms, :reason FROM ff_lane_registry AS lane WHERE lane.lane_id = :lane_id
    ON CONFLICT (lane_id) DO NOTHING;

-- Lets a lane give out claims again.
-- name: manage_lane_resume :rows
-- both
DELETE FROM ff_lane_pause WHERE lane_id = :lane_id;

-- Reads the pause of a lane. No row: it is not paused.
-- name: manage_lane_pause_read :opt
-- both
SELECT pause.paused_at_ms FROM ff_lane_pause AS pause WHERE pause.lane_id = :lane_id;

-- Has the members of a flow be claimed by nobody. No row is written where it is paused already, and where there is no flow.
-- name: manage_flow_pause :rows
-- both
-- allow(lock-order): what somebody holds of the queue is passed over, so nobody is waited for.
INSERT INTO ff_flow_pause (partition_key, flow_id, paused_at_ms, reason)
SELECT flow.partition_key, flow.flow_id, :now_ms, :reason FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id
    ON CONFLICT (partition_key, flow_id) DO NOTHING;

-- Lets the members of a flow be claimed again.
-- name: manage_flow_resume :rows
-- both
-- allow(lock-order): it puts back what is not there; who brings the same row does not wait for the pause.
DELETE FROM ff_flow_pause WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- Reads the pause of a flow. No row: it is not paused.
-- name: manage_flow_pause_read :opt
-- both
SELECT pause.paused_at_ms FROM ff_flow_pause AS pause
 WHERE pause.partition_key = :partition_key AND pause.flow_id = :flow_id;

-- Lists the lanes that are paused.
-- name: manage_lane_pause_list :many
-- both
SELECT pause.lane_id, pause.paused_at_ms, pause.reason FROM ff_lane_pause AS pause ORDER BY pause.lane_id;

-- Lists the flows that are paused.
-- name: manage_flow_pause_list :many
-- both
-- allow(shard-key): a list over all partitions, as its caller asks for.
SELECT pause.flow_id, pause.paused_at_ms, pause.reason FROM ff_flow_pause AS pause
 ORDER BY pause.partition_key, pause.flow_id;
