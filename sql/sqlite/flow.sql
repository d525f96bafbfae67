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

-- Makes an execution that stands alone a member of a flow that goes on, and gives how many members it has. A count that is
-- none begins anew. No row: the flow has ended, the execution is some flow's member, or one of them is not there.
-- name: flow_member_join :opt
-- require: fence
-- column: node_count i64
-- diverges(set.raw_fields#26ee03, columns.node_count#b84224): the count is a number, or its digits in a text; it is read as a number either way.
WITH fence AS (
  SELECT flow.partition_key, flow.flow_id, core.execution_id
    FROM ff_flow_core AS flow
    JOIN ff_exec_core AS core ON core.partition_key = flow.partition_key
   WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id
     AND flow.public_flow_state NOT IN ('completed', 'failed', 'cancelled', 'terminal')
     AND core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.flow_id IS NULL
);
WITH core AS (
  UPDATE ff_exec_core AS core SET flow_id = :flow_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
),
flow AS (
  UPDATE ff_flow_core AS flow
     SET graph_revision = flow.graph_revision + 1,
         raw_fields = json_set(flow.raw_fields, '$.node_count',
                               CASE
                                 WHEN ltrim(CAST(json_extract(flow.raw_fields, '$.node_count') AS text), '0123456789') = ''
                                      AND length(CAST(json_extract(flow.raw_fields, '$.node_count') AS text)) BETWEEN 1 AND 18
                                   THEN CAST(json_extract(flow.raw_fields, '$.node_count') AS bigint) + 1
                                 ELSE 1
                               END, '$.last_mutation_at_ms', CAST(:now_ms AS bigint))
   WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id AND EXISTS (SELECT 1 FROM fence)
  RETURNING CAST(json_extract(raw_fields, '$.node_count') AS bigint) AS node_count
)
SELECT flow.node_count FROM flow;

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
