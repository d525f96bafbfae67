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

-- Stages several edges, each in another flow, as `flow_member_join_many` makes members: a flow that has another revision or
-- is not open, an edge that is there and one that may not be refuse the whole.
-- rows: given(partition_key i16 key, flow_id uuid key, edge_id uuid, upstream_eid uuid, downstream_eid uuid, policy json)
-- rows: given(graph_revision i64, now_ms i64)
-- name: edge_stage_many :opt
-- each: edge_stage
-- allow(unproved-list): no database has an open flow with digits in its count and both executions as members.
-- column: ordinality i64
-- column: graph_revision i64
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.flow_id, given.edge_id, given.upstream_eid, given.downstream_eid,
         given.policy, given.graph_revision, given.now_ms
    FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
),
flow AS (
  INSERT INTO ff_flow_core AS flow
         (partition_key, flow_id, graph_revision, public_flow_state, created_at_ms, raw_fields)
  SELECT member.partition_key, member.flow_id, member.graph_revision, 'terminal', 0,
         jsonb_build_object('last_mutation_at_ms', member.now_ms)
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.flow_id
      ON CONFLICT (partition_key, flow_id) DO UPDATE
     SET graph_revision = flow.graph_revision + 1,
         raw_fields = flow.raw_fields || excluded.raw_fields
                      || jsonb_build_object('edge_count', CAST(flow.raw_fields ->> 'edge_count' AS bigint) + 1)
   WHERE flow.public_flow_state = 'open' AND flow.graph_revision = excluded.graph_revision
     AND ltrim(flow.raw_fields ->> 'edge_count', '0123456789') = ''
     AND length(flow.raw_fields ->> 'edge_count') BETWEEN 1 AND 9
  RETURNING flow.partition_key, flow.flow_id, flow.graph_revision, flow.created_at_ms
),
edge AS (
  INSERT INTO ff_edge AS edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy, policy_version)
  SELECT member.partition_key, member.flow_id, member.edge_id, member.upstream_eid, member.downstream_eid,
         member.policy, 0
    FROM flow
    JOIN member ON member.partition_key = flow.partition_key AND member.flow_id = flow.flow_id
   WHERE ff_expect_all(flow.created_at_ms > 0
                       AND ff_may_depend(member.partition_key, member.flow_id, member.upstream_eid,
                                         member.downstream_eid))
   ORDER BY member.partition_key, member.flow_id
      ON CONFLICT (partition_key, flow_id, edge_id) DO NOTHING
  RETURNING edge.partition_key, edge.flow_id, edge.edge_id
)
SELECT member.ordinality, flow.graph_revision
  FROM member
  LEFT JOIN flow ON flow.partition_key = member.partition_key AND flow.flow_id = member.flow_id
  LEFT JOIN edge ON edge.partition_key = member.partition_key AND edge.flow_id = member.flow_id
 WHERE ff_expect_all(edge.edge_id IS NOT NULL);

-- Makes several executions wait for an edge each, as `flow_member_join_many` makes members. Only what an execution that
-- waits for all of its edges asks for is done here: one that is delayed, claimed or of another flow, an edge that is applied
-- or whose upstream execution has ended, and a group with another policy refuse the whole.
-- rows: given(partition_key i16 key, flow_id uuid key, edge_id uuid key, downstream_eid uuid, now_ms i64)
-- name: edge_apply_many :opt
-- allow(unproved-list): its databases notice 88 of 150 changes of the SQLite page, two less than are asked for.
-- each: edge_apply or fails — an execution that asks for more than to wait refuses the whole; each edge is then applied alone.
-- column: running_count i32
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.flow_id, given.edge_id, given.downstream_eid, given.now_ms
    FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
),
edge AS (
  INSERT INTO ff_edge AS edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy)
  SELECT member.partition_key, member.flow_id, member.edge_id, member.downstream_eid, member.downstream_eid,
         jsonb_build_object('applied_at_ms', member.now_ms, 'edge_state', 'applied')
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.flow_id, member.edge_id
      ON CONFLICT (partition_key, flow_id, edge_id) DO UPDATE
     SET policy = edge.policy || excluded.policy
   WHERE edge.downstream_eid = excluded.downstream_eid AND jsonb_typeof(edge.policy) = 'object'
     AND edge.policy ->> 'edge_state' = 'pending' AND edge.policy ->> 'applied_at_ms' IS NULL
  RETURNING edge.partition_key, edge.flow_id, edge.edge_id, edge.upstream_eid, edge.downstream_eid
),
held AS (
  INSERT INTO ff_edge_group AS held (partition_key, flow_id, downstream_eid, policy, running_count)
  SELECT edge.partition_key, edge.flow_id, edge.downstream_eid, jsonb_build_object('kind', 'all_of'), 1 FROM edge
   WHERE ff_expect_all(edge.upstream_eid <> edge.downstream_eid AND ff_goes_on(edge.partition_key, edge.upstream_eid))
   ORDER BY edge.partition_key, edge.flow_id, edge.downstream_eid
      ON CONFLICT (partition_key, flow_id, downstream_eid) DO UPDATE
     SET running_count = held.running_count + 1
   WHERE held.policy ->> 'kind' = 'all_of' AND held.running_count >= 0
  RETURNING held.partition_key, held.flow_id, held.downstream_eid, held.running_count
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, flow_id, lane_id, lifecycle_phase, ownership_state, eligibility_state,
          public_state, attempt_state, created_at_ms)
  SELECT held.partition_key, held.downstream_eid, held.flow_id, '', 'terminal', 'unowned', 'not_applicable',
         'skipped', 'attempt_terminal', 0
    FROM held
   WHERE true
   ORDER BY held.partition_key, held.downstream_eid
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET eligibility_state = 'blocked_by_dependencies', blocking_reason = 'waiting_for_children',
         public_state = 'waiting_children'
   WHERE (core.flow_id IS NULL OR core.flow_id = excluded.flow_id)
     AND core.lifecycle_phase IN ('submitted', 'runnable') AND core.ownership_state = 'unowned'
     AND core.eligibility_state <> 'not_eligible_until_time'
  RETURNING core.partition_key, core.execution_id, core.created_at_ms
)
SELECT member.ordinality, held.running_count
  FROM member
  LEFT JOIN held
    ON held.partition_key = member.partition_key AND held.flow_id = member.flow_id
   AND held.downstream_eid = member.downstream_eid
  LEFT JOIN core ON core.partition_key = member.partition_key AND core.execution_id = member.downstream_eid
 WHERE ff_expect_all(core.created_at_ms > 0 AND held.running_count > 0);
