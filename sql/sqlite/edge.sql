-- Finds those of two executions that are members of a flow.
-- name: edge_members :many
-- both
SELECT core.execution_id FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
   AND core.execution_id IN (:upstream_eid, :downstream_eid)
 ORDER BY core.execution_id;

-- Follows a flow's edges from a node, which comes along; the nodes that can be reached, up to a limit.
-- name: edge_reach :many
-- both
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

-- Stages an edge. No row changes when the id is taken in this flow.
-- name: edge_insert :rows
-- both
INSERT INTO ff_edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy, policy_version)
VALUES (:partition_key, :flow_id, :edge_id, :upstream_eid, :downstream_eid, :policy, 0)
    ON CONFLICT (partition_key, flow_id, edge_id) DO NOTHING;

-- Stages an edge between two members of a flow and gives the graph's next revision. No row where something is in the way:
-- the flow is not open or has another revision, the edge is there, or the downstream execution leads to the upstream one.
-- name: edge_stage :opt
-- require: fence
-- param: now_ms i64, flow_id uuid, edge_id uuid, upstream_eid uuid, downstream_eid uuid, policy json
-- allow(unordered-limit): which nodes are cut off does not matter, only whether some are.
WITH fence AS (
  SELECT flow.partition_key, flow.flow_id FROM ff_flow_core AS flow
   WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id AND flow.public_flow_state = 'open'
     AND flow.graph_revision = :graph_revision
     AND CASE
           WHEN json_valid(flow.raw_fields) THEN
             ltrim(json_extract(flow.raw_fields, '$.edge_count'), '0123456789') = ''
             AND length(json_extract(flow.raw_fields, '$.edge_count')) BETWEEN 1 AND 9
         END
     AND (SELECT count(*) FROM ff_exec_core AS core
           WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
             AND core.execution_id IN (:upstream_eid, :downstream_eid)) = 2
     AND NOT EXISTS (SELECT 1 FROM ff_edge AS known
                      WHERE known.partition_key = :partition_key AND known.flow_id = :flow_id
                        AND known.edge_id = :edge_id)
     AND NOT EXISTS (WITH RECURSIVE reach(node) AS (
                       SELECT edge.downstream_eid FROM ff_edge AS edge
                        WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id
                          AND edge.upstream_eid = :downstream_eid
                       UNION
                       SELECT edge.downstream_eid
                         FROM reach
                         JOIN ff_edge AS edge ON edge.upstream_eid = reach.node
                        WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id
                     ),
                     -- As many as `edge_reach` is asked for.
                     seen AS (SELECT reach.node FROM reach LIMIT 1000)
                     SELECT count(*) FROM seen HAVING count(*) >= 1000 OR max(seen.node = :upstream_eid))
);
INSERT INTO ff_edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy, policy_version)
SELECT fence.partition_key, fence.flow_id, :edge_id, :upstream_eid, :downstream_eid, :policy, 0 FROM fence;
UPDATE ff_flow_core AS flow
   SET graph_revision = flow.graph_revision + 1,
       raw_fields = json_set(flow.raw_fields, '$.edge_count',
                             CAST(json_extract(flow.raw_fields, '$.edge_count') AS integer) + 1,
                             '$.last_mutation_at_ms', :now_ms)
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id AND EXISTS (SELECT 1 FROM fence)
RETURNING graph_revision;

-- Reads an edge.
-- name: edge_read :opt
-- both
SELECT edge.edge_id, edge.upstream_eid, edge.downstream_eid, edge.policy FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id;

-- Reads an edge that a transaction decides on, and keeps it so until the transaction ends.
-- name: edge_lock :opt
SELECT edge.upstream_eid, edge.downstream_eid, edge.policy FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id;

-- Keeps an edge that nobody else holds until the transaction ends. No row: there is none, or somebody holds it.
-- name: edge_try_lock :opt
SELECT edge.edge_id FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id;

-- Replaces an edge's document.
-- name: edge_policy_write :exec
-- both
UPDATE ff_edge SET policy = :policy WHERE partition_key = :partition_key AND flow_id = :flow_id AND edge_id = :edge_id;

-- Lists the edges that leave a node. The plus keeps SQLite from walking all edges of the flow to save a sort.
-- name: edge_list_outgoing :many
SELECT edge.edge_id, edge.upstream_eid, edge.downstream_eid, edge.policy FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.upstream_eid = :node
 ORDER BY + edge.edge_id;

-- Lists the edges that enter a node. The plus keeps SQLite from walking all edges of the flow to save a sort.
-- name: edge_list_incoming :many
SELECT edge.edge_id, edge.upstream_eid, edge.downstream_eid, edge.policy FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.downstream_eid = :node
 ORDER BY + edge.edge_id;

-- Counts the edges that enter a node, applied or not.
-- name: edge_count_incoming :one
-- both
SELECT count(*) AS edges FROM ff_edge AS edge
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.downstream_eid = :node;

-- Counts one more running dependency of a node, whose group is made when this is the first.
-- name: edge_group_await :one
-- both
INSERT INTO ff_edge_group AS held (partition_key, flow_id, downstream_eid, policy, running_count)
VALUES (:partition_key, :flow_id, :downstream_eid, :policy, 1)
    ON CONFLICT (partition_key, flow_id, downstream_eid) DO UPDATE SET running_count = held.running_count + 1
RETURNING policy, success_count, fail_count, skip_count, running_count;

-- Makes the downstream execution of a staged edge wait for it, where it waits for all of its edges, and gives how many it
-- then waits for. No row for what more is to be done for: an execution that is delayed, claimed or of another flow, an edge
-- that is applied or whose upstream execution has ended, a group with another policy, and a document that is none.
-- name: edge_apply :opt
-- require: fence
-- param: now_ms i64, flow_id uuid, edge_id uuid, downstream_eid uuid
WITH fence AS (
  SELECT edge.partition_key, edge.flow_id, edge.edge_id, edge.downstream_eid, core.execution_id
    FROM ff_edge AS edge
    JOIN ff_exec_core AS core ON core.partition_key = edge.partition_key AND core.execution_id = edge.downstream_eid
   WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id
     AND edge.downstream_eid = :downstream_eid AND edge.upstream_eid <> edge.downstream_eid
     AND CASE
           WHEN json_valid(edge.policy) THEN
             json_type(edge.policy) = 'object' AND json_extract(edge.policy, '$.edge_state') = 'pending'
             AND json_extract(edge.policy, '$.applied_at_ms') IS NULL
         END
     AND core.partition_key = :partition_key AND core.execution_id = :downstream_eid
     AND (core.flow_id IS NULL OR core.flow_id = :flow_id) AND core.lifecycle_phase IN ('submitted', 'runnable')
     AND core.ownership_state = 'unowned' AND core.eligibility_state <> 'not_eligible_until_time'
     AND EXISTS (SELECT 1 FROM ff_exec_core AS upstream
                  WHERE upstream.partition_key = :partition_key AND upstream.execution_id = edge.upstream_eid
                    AND upstream.lifecycle_phase NOT IN ('terminal', 'cancelled'))
     AND NOT EXISTS (SELECT 1 FROM ff_edge_group AS held
                      WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id
                        AND held.downstream_eid = :downstream_eid
                        AND (CASE WHEN json_valid(held.policy) THEN json_extract(held.policy, '$.kind') END IS NOT 'all_of'
                             OR held.running_count < 0))
);
UPDATE ff_edge AS edge
   SET policy = json_set(edge.policy, '$.applied_at_ms', :now_ms, '$.edge_state', 'applied')
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id
   AND EXISTS (SELECT 1 FROM fence);
UPDATE ff_exec_core AS core
   SET eligibility_state = 'blocked_by_dependencies', blocking_reason = 'waiting_for_children',
       public_state = 'waiting_children'
 WHERE core.partition_key = :partition_key AND core.execution_id = :downstream_eid AND EXISTS (SELECT 1 FROM fence);
INSERT INTO ff_edge_group AS held (partition_key, flow_id, downstream_eid, policy, running_count)
SELECT fence.partition_key, fence.flow_id, fence.downstream_eid, json_object('kind', 'all_of'), 1 FROM fence
 WHERE true
    ON CONFLICT (partition_key, flow_id, downstream_eid) DO UPDATE SET running_count = held.running_count + 1
RETURNING running_count;

-- Reads the policy of a node's dependencies.
-- name: edge_group_policy_read :opt
-- both
SELECT held.policy FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid;

-- Sets the policy of a node's dependencies; the counters stay.
-- name: edge_group_policy_set :exec
-- both
INSERT INTO ff_edge_group AS held (partition_key, flow_id, downstream_eid, policy)
VALUES (:partition_key, :flow_id, :downstream_eid, :policy)
    ON CONFLICT (partition_key, flow_id, downstream_eid) DO UPDATE SET policy = excluded.policy;

-- Lists the dependency groups of a flow.
-- name: edge_group_list :many
-- both
SELECT held.downstream_eid, held.policy, held.success_count, held.fail_count, held.skip_count, held.running_count
  FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id
 ORDER BY held.downstream_eid;

-- Reads the execution that gets a dependency, and keeps it so until the transaction ends.
-- name: edge_child_lock :opt
SELECT core.flow_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.deadline_at_ms,
       core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Keeps an execution from being claimed until its dependencies are met.
-- name: edge_child_block :exec
-- both
UPDATE ff_exec_core
   SET eligibility_state = 'blocked_by_dependencies', blocking_reason = 'waiting_for_children',
       public_state = 'waiting_children'
 WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- The same for an execution that is delayed: it gets back the deadline whose place its wake-up time took, and
-- the open document remembers the wake-up time.
-- name: edge_child_block_delayed :exec
-- param: deadline_at_ms i64 null
UPDATE ff_exec_core
   SET eligibility_state = 'blocked_by_dependencies', blocking_reason = 'waiting_for_children',
       public_state = 'waiting_children', deadline_at_ms = :deadline_at_ms,
       raw_fields = json_set(raw_fields, '$.delay_until', CAST(:delay_until AS text))
 WHERE partition_key = :partition_key AND execution_id = :execution_id;
