-- Creates a flow without members. No row changes when the id is taken.
-- name: flow_create :rows
-- both
INSERT INTO ff_flow_core (partition_key, flow_id, graph_revision, public_flow_state, created_at_ms, raw_fields)
VALUES (:partition_key, :flow_id, 0, 'open', :now_ms, :raw_fields)
    ON CONFLICT (partition_key, flow_id) DO NOTHING;

-- Reads a flow that a transaction decides on, and keeps it so until the transaction ends.
-- name: flow_lock :opt
SELECT flow.graph_revision, flow.public_flow_state, flow.raw_fields FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id;

-- Reads whose member an execution is, and keeps it so until the transaction ends.
-- name: flow_member_lock :opt
SELECT core.flow_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Makes an execution a member of a flow.
-- name: flow_member_join :exec
-- both
UPDATE ff_exec_core SET flow_id = :flow_id WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Counts a new member of a flow.
-- name: flow_grow_nodes :exec
UPDATE ff_flow_core
   SET graph_revision = :graph_revision,
       raw_fields = json_set(raw_fields, '$.node_count', :node_count, '$.last_mutation_at_ms', :now_ms)
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- Counts a new edge of a flow.
-- name: flow_grow_edges :exec
UPDATE ff_flow_core
   SET graph_revision = :graph_revision,
       raw_fields = json_set(raw_fields, '$.edge_count', :edge_count, '$.last_mutation_at_ms', :now_ms)
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- Reads a flow.
-- name: flow_read :opt
-- both
SELECT flow.graph_revision, flow.public_flow_state, flow.created_at_ms, flow.terminal_at_ms, flow.raw_fields
  FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id;

-- Lists a partition's flows in the order of their ids, strictly after a cursor; all when it is the nil id.
-- name: flow_list :many
-- both
SELECT flow.flow_id, flow.public_flow_state, flow.created_at_ms FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id > :after
 ORDER BY flow.flow_id LIMIT :page_size;
