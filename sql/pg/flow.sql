-- name: flow_lock :opt
SELECT flow.graph_revision, flow.public_flow_state, flow.raw_fields FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id
   FOR UPDATE;

-- name: flow_member_lock :opt
SELECT core.flow_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

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
