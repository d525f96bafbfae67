-- name: flow_create :rows
INSERT INTO ff_flow_core (partition_key, flow_id, graph_revision, public_flow_state, created_at_ms, raw_fields)
VALUES (:partition_key, :flow_id, 0, 'open', :now_ms, :raw_fields)
    ON CONFLICT (partition_key, flow_id) DO NOTHING;

-- name: flow_lock :opt
SELECT flow.graph_revision, flow.public_flow_state, flow.raw_fields FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id
   FOR UPDATE;

-- name: flow_member_lock :opt
SELECT core.flow_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: flow_member_join :exec
UPDATE ff_exec_core SET flow_id = :flow_id WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- name: flow_grow_nodes :exec
UPDATE ff_flow_core
   SET graph_revision = :graph_revision,
       raw_fields = raw_fields
                    || jsonb_build_object('node_count', CAST(:node_count AS bigint), 'last_mutation_at_ms',
                                          CAST(:now_ms AS bigint))
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- name: flow_grow_edges :exec
UPDATE ff_flow_core
   SET graph_revision = :graph_revision,
       raw_fields = raw_fields
                    || jsonb_build_object('edge_count', CAST(:edge_count AS bigint), 'last_mutation_at_ms',
                                          CAST(:now_ms AS bigint))
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- name: flow_read :opt
SELECT flow.graph_revision, flow.public_flow_state, flow.created_at_ms, flow.terminal_at_ms, flow.raw_fields
  FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id;

-- name: flow_list :many
SELECT flow.flow_id, flow.public_flow_state, flow.created_at_ms FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id > :after
 ORDER BY flow.flow_id LIMIT :page_size;
