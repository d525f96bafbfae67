-- name: flow_lock :opt
SELECT flow.graph_revision, flow.public_flow_state, flow.raw_fields FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id
   FOR UPDATE;

-- name: flow_member_join :opt
WITH fence AS (
  SELECT flow.partition_key, flow.flow_id, core.execution_id
    FROM ff_flow_core AS flow
    JOIN ff_exec_core AS core ON core.partition_key = flow.partition_key
   WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id
     AND flow.public_flow_state NOT IN ('completed', 'failed', 'cancelled', 'terminal')
     AND core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.flow_id IS NULL
     FOR UPDATE OF flow, core
),
core AS (
  UPDATE ff_exec_core AS core SET flow_id = :flow_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
),
flow AS (
  UPDATE ff_flow_core AS flow
     SET graph_revision = flow.graph_revision + 1,
         raw_fields = flow.raw_fields
                      || jsonb_build_object('node_count',
                                            CASE
                                              WHEN ltrim(flow.raw_fields ->> 'node_count', '0123456789') = ''
                                                   AND length(flow.raw_fields ->> 'node_count') BETWEEN 1 AND 18
                                                THEN CAST(flow.raw_fields ->> 'node_count' AS bigint) + 1
                                              ELSE 1
                                            END, 'last_mutation_at_ms', CAST(:now_ms AS bigint))
   WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id AND EXISTS (SELECT 1 FROM fence)
  RETURNING CAST(flow.raw_fields ->> 'node_count' AS bigint) AS node_count
)
SELECT flow.node_count FROM flow;

-- name: flow_grow_edges :exec
UPDATE ff_flow_core
   SET graph_revision = :graph_revision,
       raw_fields = raw_fields
                    || jsonb_build_object('edge_count', CAST(:edge_count AS bigint), 'last_mutation_at_ms',
                                          CAST(:now_ms AS bigint))
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- Makes several executions members of flows, each of another flow. The counts of a flow are changed by an upsert, which
-- routes each row to its partition; it waits for each in its turn, in the order of their keys, and judges it as it then
-- is. A flow or an execution that is not as it should be refuses the whole: `ff_expect_all` answers with an error, so
-- nothing is changed and nothing inserted, and each is made a member alone.
-- rows: given(partition_key i16 key, flow_id uuid key, execution_id uuid, now_ms i64)
-- name: flow_member_join_many :opt
-- each: flow_member_join or fails — a flow or an execution that cannot be joined plainly refuses the whole; each joins alone then.
-- column: node_count i64
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.flow_id, given.execution_id, given.now_ms FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
),
flow AS (
  INSERT INTO ff_flow_core AS flow (partition_key, flow_id, public_flow_state, created_at_ms, raw_fields)
  SELECT member.partition_key, member.flow_id, 'terminal', 0,
         jsonb_build_object('last_mutation_at_ms', member.now_ms)
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.flow_id
      ON CONFLICT (partition_key, flow_id) DO UPDATE
     SET graph_revision = flow.graph_revision + 1,
         raw_fields = flow.raw_fields || excluded.raw_fields
                      || jsonb_build_object('node_count',
                                            CASE
                                              WHEN ltrim(flow.raw_fields ->> 'node_count', '0123456789') = ''
                                                   AND length(flow.raw_fields ->> 'node_count') BETWEEN 1 AND 18
                                                THEN CAST(flow.raw_fields ->> 'node_count' AS bigint) + 1
                                              ELSE 1
                                            END)
   WHERE flow.public_flow_state NOT IN ('completed', 'failed', 'cancelled', 'terminal')
  RETURNING flow.partition_key, flow.flow_id, CAST(flow.raw_fields ->> 'node_count' AS bigint) AS node_count
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, flow_id, lane_id, lifecycle_phase, ownership_state, eligibility_state,
          public_state, attempt_state, created_at_ms)
  SELECT member.partition_key, member.execution_id, member.flow_id, '', 'terminal', 'unowned', 'not_applicable',
         'skipped', 'attempt_terminal', 0
    FROM flow
    JOIN member ON member.partition_key = flow.partition_key AND member.flow_id = flow.flow_id
   WHERE true
   ORDER BY member.partition_key, member.execution_id
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET flow_id = excluded.flow_id
   WHERE core.flow_id IS NULL
  RETURNING core.partition_key, core.execution_id, core.created_at_ms
)
SELECT member.ordinality, flow.node_count
  FROM member
  LEFT JOIN flow ON flow.partition_key = member.partition_key AND flow.flow_id = member.flow_id
  LEFT JOIN core ON core.partition_key = member.partition_key AND core.execution_id = member.execution_id
 WHERE ff_expect_all(flow.node_count IS NOT NULL AND core.created_at_ms > 0);
