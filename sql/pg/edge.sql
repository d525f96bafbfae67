-- name: edge_members :many
SELECT core.execution_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
   AND core.execution_id IN (:upstream_eid, :downstream_eid)
 ORDER BY core.execution_id;

-- name: edge_reach :many
-- allow(unordered-limit): which nodes are cut off does not matter, only whether some are.
WITH RECURSIVE reach(node) AS (
  SELECT edge.downstream_eid FROM ff_edge AS edge
   WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.upstream_eid = :from_node
  UNION
  SELECT edge.downstream_eid
    FROM reach
    JOIN ff_edge AS edge ON edge.upstream_eid = reach.node
   WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id
)
SELECT reach.node FROM reach LIMIT :max_nodes;

-- name: edge_insert :rows
INSERT INTO ff_edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy, policy_version)
VALUES (:partition_key, :flow_id, :edge_id, :upstream_eid, :downstream_eid, :policy, 0)
    ON CONFLICT (partition_key, flow_id, edge_id) DO NOTHING;

-- name: edge_read :opt
SELECT edge.edge_id, edge.upstream_eid, edge.downstream_eid, edge.policy FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id;

-- name: edge_lock :opt
SELECT edge.upstream_eid, edge.downstream_eid, edge.policy FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id
   FOR UPDATE;

-- name: edge_try_lock :opt
SELECT edge.edge_id FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id
   FOR UPDATE SKIP LOCKED;

-- name: edge_policy_write :exec
UPDATE ff_edge SET policy = :policy WHERE partition_key = :partition_key AND flow_id = :flow_id AND edge_id = :edge_id;

-- Lists the edges that leave a node.
-- name: edge_list_outgoing :many
SELECT edge.edge_id, edge.upstream_eid, edge.downstream_eid, edge.policy FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.upstream_eid = :node
 ORDER BY edge.edge_id;

-- Lists the edges that enter a node.
-- name: edge_list_incoming :many
SELECT edge.edge_id, edge.upstream_eid, edge.downstream_eid, edge.policy FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.downstream_eid = :node
 ORDER BY edge.edge_id;

-- name: edge_count_incoming :one
SELECT count(*) AS edges FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.downstream_eid = :node;

-- name: edge_group_await :one
INSERT INTO ff_edge_group AS held (partition_key, flow_id, downstream_eid, policy, running_count)
VALUES (:partition_key, :flow_id, :downstream_eid, :policy, 1)
    ON CONFLICT (partition_key, flow_id, downstream_eid) DO UPDATE SET running_count = held.running_count + 1
RETURNING policy, success_count, fail_count, skip_count, running_count;

-- name: edge_group_policy_read :opt
SELECT held.policy FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid;

-- name: edge_group_policy_set :exec
INSERT INTO ff_edge_group AS held (partition_key, flow_id, downstream_eid, policy)
VALUES (:partition_key, :flow_id, :downstream_eid, :policy)
    ON CONFLICT (partition_key, flow_id, downstream_eid) DO UPDATE SET policy = excluded.policy;

-- name: edge_group_list :many
SELECT held.downstream_eid, held.policy, held.success_count, held.fail_count, held.skip_count, held.running_count
  FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id
 ORDER BY held.downstream_eid;

-- name: edge_child_lock :opt
SELECT core.flow_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.deadline_at_ms,
       core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: edge_child_block :exec
UPDATE ff_exec_core
   SET eligibility_state = 'blocked_by_dependencies', blocking_reason = 'waiting_for_children',
       public_state = 'waiting_children'
 WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- name: edge_child_block_delayed :exec
UPDATE ff_exec_core
   SET eligibility_state = 'blocked_by_dependencies', blocking_reason = 'waiting_for_children',
       public_state = 'waiting_children', deadline_at_ms = :deadline_at_ms,
       raw_fields = raw_fields || jsonb_build_object('delay_until', CAST(:delay_until AS text))
 WHERE partition_key = :partition_key AND execution_id = :execution_id;
