-- name: dependency_forgotten_list :many
SELECT ended.partition_key, ended.event_id, ended.execution_id FROM ff_completion_event AS ended
 WHERE ended.dispatched_at_ms IS NULL AND ended.flow_id IS NOT NULL AND ended.event_id > :after_event_id
   AND ended.committed_at_ms < :committed_before_ms
   AND (CAST(:namespace AS text) IS NULL OR ended.namespace = :namespace)
   AND (CAST(:instance_tag AS text) IS NULL OR ended.instance_tag = :instance_tag)
   AND (CAST(:tag_key AS text) IS NULL
        OR EXISTS (SELECT 1 FROM ff_exec_core AS core
                    WHERE core.partition_key = ended.partition_key AND core.execution_id = ended.execution_id
                      AND core.raw_fields -> 'tags' ->> CAST(:tag_key AS text) = :tag_value
                   OFFSET 0))
 ORDER BY ended.event_id LIMIT :page_size;

-- name: dependency_group_lock :opt
SELECT held.policy, held.success_count, held.fail_count, held.skip_count, held.running_count,
       held.cancel_siblings_pending_flag
  FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid
   FOR UPDATE;

-- name: dependency_group_try_lock :opt
SELECT held.downstream_eid FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid
   FOR UPDATE SKIP LOCKED;

-- name: dependency_child_lock :opt
SELECT core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.attempt_state, core.deadline_at_ms,
       core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: dependency_child_delay :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = :lifecycle_phase, eligibility_state = 'not_eligible_until_time', public_state = 'delayed',
       attempt_state = :attempt_state, blocking_reason = 'waiting_for_delay', deadline_at_ms = :wake_at_ms,
       raw_fields = CASE
                      WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                      ELSE jsonb_set(core.raw_fields, '{execution_deadline_at}', CAST(CAST(core.deadline_at_ms AS text) AS jsonb))
                    END
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: dependency_child_skip :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'skipped', attempt_state = 'attempt_terminal', blocking_reason = NULL,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms),
       raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: dependency_completion_insert :one
INSERT INTO ff_completion_event (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, :flow_id, :outcome,
       CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
       CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
         WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END, :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;

-- Counts several edges, each of another flow, whose upstream executions have ended with success, lets the executions be
-- claimed that have waited for the last of theirs, and notes the completions that are given as followed. Only what an
-- execution asks for that waits for all of its edges is done here: one that is delayed or claimed, an edge that is not
-- applied, was counted before or passes a result, and a group with another policy or with a failure refuse the whole, as
-- `flow_member_join_many` does, and each hop is made alone.
-- rows: given(partition_key i16 key, flow_id uuid key, edge_id uuid key, event_id i64 null, now_ms i64)
-- name: dependency_hop_many :opt
-- each: dependency_hop
-- allow(unproved-list): no database has an edge, its group and both executions in states that let it go on.
-- column: ended_count i32
-- column: settled_event_id i64 null
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.flow_id, given.edge_id, given.event_id, given.now_ms FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
),
edge AS (
  INSERT INTO ff_edge AS edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy)
  SELECT member.partition_key, member.flow_id, member.edge_id, '00000000-0000-0000-0000-000000000000',
         '00000000-0000-0000-0000-000000000000',
         jsonb_build_object('edge_state', 'satisfied', 'resolved_at_ms', member.now_ms)
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.flow_id, member.edge_id
      ON CONFLICT (partition_key, flow_id, edge_id) DO UPDATE
     SET policy = edge.policy || excluded.policy
   WHERE jsonb_typeof(edge.policy -> 'applied_at_ms') = 'number' AND edge.policy ->> 'edge_state' = 'applied'
     AND COALESCE(edge.policy ->> 'data_passing_ref', '') = ''
  RETURNING edge.partition_key, edge.flow_id, edge.edge_id, edge.upstream_eid, edge.downstream_eid
),
held AS (
  INSERT INTO ff_edge_group AS held (partition_key, flow_id, downstream_eid, policy, running_count)
  SELECT edge.partition_key, edge.flow_id, edge.downstream_eid, '{}', 0 FROM edge
   WHERE ff_expect_all(edge.upstream_eid <> edge.downstream_eid)
   ORDER BY edge.partition_key, edge.flow_id, edge.downstream_eid
      ON CONFLICT (partition_key, flow_id, downstream_eid) DO UPDATE
     SET success_count = held.success_count + 1, running_count = held.running_count - 1
   WHERE held.policy ->> 'kind' = 'all_of' AND held.success_count >= 0 AND held.fail_count = 0 AND held.skip_count = 0
     AND held.running_count > 0
  RETURNING held.partition_key, held.flow_id, held.downstream_eid, held.success_count, held.running_count
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state, public_state,
          attempt_state, created_at_ms)
  SELECT held.partition_key, held.downstream_eid, '', 'terminal', 'unowned', 'not_applicable', 'skipped',
         'attempt_terminal', 0
    FROM held
   WHERE CASE
           WHEN held.running_count = 0 THEN
             ff_expect_all(ff_awaited_edges(held.partition_key, held.flow_id, held.downstream_eid)
                           <= held.success_count)
           ELSE false
         END
   ORDER BY held.partition_key, held.downstream_eid
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET eligibility_state = 'eligible_now', public_state = 'waiting', blocking_reason = 'waiting_for_worker',
         attempt_state = CASE
                           WHEN core.attempt_state = 'none' THEN 'pending_first_attempt'
                           ELSE core.attempt_state
                         END
   WHERE core.lifecycle_phase IN ('submitted', 'runnable') AND core.ownership_state = 'unowned'
     AND core.eligibility_state = 'blocked_by_dependencies' AND core.raw_fields ->> 'delay_until' IS NULL
     AND length(core.attempt_state) > 0
  RETURNING core.partition_key, core.execution_id, core.created_at_ms
),
done AS (
  SELECT member.ordinality, member.partition_key, member.event_id, member.now_ms, held.success_count
    FROM member
    LEFT JOIN held ON held.partition_key = member.partition_key AND held.flow_id = member.flow_id
    LEFT JOIN core ON core.partition_key = held.partition_key AND core.execution_id = held.downstream_eid
   WHERE ff_expect_all(held.success_count > 0 AND (held.running_count > 0 OR core.created_at_ms > 0))
)
SELECT done.ordinality, done.success_count AS ended_count,
       ff_follow_completion(done.partition_key, done.event_id, done.now_ms) AS settled_event_id
  FROM done;
