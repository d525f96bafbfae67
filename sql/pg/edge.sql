-- name: edge_lock :opt
SELECT edge.upstream_eid, edge.downstream_eid, edge.policy FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id
   FOR UPDATE;

-- name: edge_try_lock :opt
SELECT edge.edge_id FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id
   FOR UPDATE SKIP LOCKED;

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

-- name: edge_child_lock :opt
SELECT core.flow_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.deadline_at_ms,
       core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: edge_child_block_delayed :exec
UPDATE ff_exec_core
   SET eligibility_state = 'blocked_by_dependencies', blocking_reason = 'waiting_for_children',
       public_state = 'waiting_children', deadline_at_ms = :deadline_at_ms,
       raw_fields = raw_fields || jsonb_build_object('delay_until', CAST(:delay_until AS text))
 WHERE partition_key = :partition_key AND execution_id = :execution_id;
