-- Reads the end of an execution for those that wait for it.
-- name: dependency_completion_read :opt
-- both
SELECT ended.execution_id, ended.flow_id, ended.outcome, ended.dispatched_at_ms FROM ff_completion_event AS ended
 WHERE ended.partition_key = :partition_key AND ended.event_id = :event_id;

-- Finds the completion that a payload tells of: of those at that time the first that nobody followed yet, else
-- the first.
-- name: dependency_completion_find :opt
-- both
SELECT ended.event_id FROM ff_completion_event AS ended
 WHERE ended.partition_key = :partition_key AND ended.execution_id = :execution_id
   AND ended.occurred_at_ms = :occurred_at_ms
 ORDER BY CASE WHEN ended.dispatched_at_ms IS NULL THEN 0 ELSE 1 END, ended.event_id LIMIT 1;

-- Notes that every edge was followed. No row changes when that was noted before.
-- name: dependency_completion_settle :rows
-- both
UPDATE ff_completion_event SET dispatched_at_ms = :now_ms
 WHERE partition_key = :partition_key AND event_id = :event_id AND dispatched_at_ms IS NULL;

-- Lists ends of members that nobody has followed to the last edge, the oldest first, strictly after a place.
-- The end of an execution outside a flow concerns nobody.
-- Postgres would otherwise read all executions to know those of a tag; the OFFSET has it ask for each.
-- name: dependency_forgotten_list :many
-- param: namespace text null, instance_tag text null, tag_key text null, tag_value text null
SELECT ended.partition_key, ended.event_id, ended.execution_id FROM ff_completion_event AS ended
 WHERE ended.dispatched_at_ms IS NULL AND ended.flow_id IS NOT NULL AND ended.event_id > :after_event_id
   AND ended.committed_at_ms < :committed_before_ms
   AND (CAST(:namespace AS text) IS NULL OR ended.namespace = :namespace)
   AND (CAST(:instance_tag AS text) IS NULL OR ended.instance_tag = :instance_tag)
   AND (:tag_key IS NULL
        OR EXISTS (SELECT 1 FROM ff_exec_core AS core
                    WHERE core.partition_key = ended.partition_key AND core.execution_id = ended.execution_id
                      AND EXISTS (SELECT 1 FROM json_each(core.raw_fields, '$.tags') AS tag
                                   WHERE tag.key = :tag_key AND tag.atom = :tag_value)))
 ORDER BY ended.event_id LIMIT :page_size;

-- Reads the group of a member's incoming edges, and keeps it so until the transaction ends.
-- name: dependency_group_lock :opt
SELECT held.policy, held.success_count, held.fail_count, held.skip_count, held.running_count,
       held.cancel_siblings_pending_flag
  FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid;

-- Keeps a group that nobody else holds until the transaction ends. No row: there is none, or somebody holds it.
-- name: dependency_group_try_lock :opt
SELECT held.downstream_eid FROM ff_edge_group AS held
 WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id AND held.downstream_eid = :downstream_eid;

-- Counts how the edges of a group stand.
-- name: dependency_group_count :exec
-- both
UPDATE ff_edge_group
   SET success_count = :success_count, fail_count = :fail_count, skip_count = :skip_count,
       running_count = :running_count
 WHERE partition_key = :partition_key AND flow_id = :flow_id AND downstream_eid = :downstream_eid;

-- Lists a member's incoming edges with the state of the executions that they come from, which may be gone.
-- name: dependency_upstream_list :many
-- both
SELECT edge.upstream_eid, edge.policy, core.lifecycle_phase, core.public_state
  FROM ff_edge AS edge
  LEFT JOIN ff_exec_core AS core ON core.partition_key = :partition_key AND core.execution_id = edge.upstream_eid
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.downstream_eid = :downstream_eid
 ORDER BY edge.edge_id;

-- Reads the execution that waits, and keeps it so until the transaction ends.
-- name: dependency_child_lock :opt
SELECT core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.attempt_state, core.deadline_at_ms,
       core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Hands the result of one execution to another as its input, if there is a result.
-- name: dependency_payload_pass :rows
-- both
UPDATE ff_exec_core AS core SET payload = source.result FROM ff_exec_core AS source
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND source.partition_key = :partition_key AND source.execution_id = :upstream_eid AND source.result IS NOT NULL;

-- Lets an execution be claimed whose dependencies are met.
-- name: dependency_child_release :exec
-- both
UPDATE ff_exec_core
   SET lifecycle_phase = :lifecycle_phase, eligibility_state = 'eligible_now', public_state = 'waiting',
       attempt_state = :attempt_state, blocking_reason = 'waiting_for_worker'
 WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- The same for an execution that is also delayed: it waits for its time now. The wake-up time takes the
-- deadline's column, and the open document keeps the deadline.
-- name: dependency_child_delay :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = :lifecycle_phase, eligibility_state = 'not_eligible_until_time', public_state = 'delayed',
       attempt_state = :attempt_state, blocking_reason = 'waiting_for_delay', deadline_at_ms = :wake_at_ms,
       raw_fields = CASE
                      WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                      ELSE json_set(core.raw_fields, '$.execution_deadline_at', core.deadline_at_ms)
                    END
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Ends an execution whose dependencies can no longer be met.
-- name: dependency_child_skip :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'skipped', attempt_state = 'attempt_terminal', blocking_reason = NULL,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms),
       raw_fields = json_set(core.raw_fields, '$.last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Ends the attempt of an execution that is skipped.
-- name: dependency_attempt_skip :exec
-- both
UPDATE ff_attempt
   SET outcome = 'skipped', terminal_at_ms = COALESCE(terminal_at_ms, :now_ms), lease_expires_at_ms = NULL
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- Takes the lease away from the worker of an attempt, so that its handle is refused from here on.
-- name: dependency_lease_revoke :exec
-- both
UPDATE ff_attempt SET worker_instance_id = NULL, lease_expires_at_ms = NULL, lease_epoch = lease_epoch + 1
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- Forgets the suspension of an execution that ended, so that its timer does not find it.
-- name: dependency_suspension_delete :exec
-- both
DELETE FROM ff_suspension_current WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Forgets the waitpoints of an execution that ended.
-- name: dependency_waitpoint_delete :exec
-- both
DELETE FROM ff_waitpoint_pending WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Forgets the grants of an execution that ended.
-- name: dependency_grant_delete :exec
-- both
DELETE FROM ff_claim_grant WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Reads how far an execution has come.
-- name: dependency_member_read :opt
-- both
SELECT core.lifecycle_phase, core.public_state FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Writes the completion of a flow's member.
-- name: dependency_completion_insert :one
INSERT INTO ff_completion_event (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, :flow_id, :outcome,
       CASE json_type(core.raw_fields, '$.namespace')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.namespace') END,
       CASE json_type(core.raw_fields, '$.tags."cairn.instance_id"')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.tags."cairn.instance_id"') END, :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;

-- Counts an edge whose upstream execution has ended with success, lets its execution be claimed where that has waited for
-- the last of its edges, and notes the completion that is given as followed. No row for what more is to be done for: an
-- execution that is delayed or claimed, an edge that is not applied, was counted before or passes a result, and a group with
-- another policy or with a failure.
-- name: dependency_hop :opt
-- require: fence
-- param: event_id i64 null, flow_id uuid, edge_id uuid
-- column: ended_count i32
-- column: settled_event_id i64 null
WITH fence AS (
  SELECT edge.partition_key, edge.flow_id, edge.edge_id, held.downstream_eid
    FROM ff_edge AS edge
    JOIN ff_edge_group AS held
      ON held.partition_key = edge.partition_key AND held.flow_id = edge.flow_id
     AND held.downstream_eid = edge.downstream_eid
   WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id
     AND edge.upstream_eid <> edge.downstream_eid
     AND CASE
           WHEN json_valid(edge.policy) THEN
             json_extract(edge.policy, '$.edge_state') = 'applied'
             AND json_type(edge.policy, '$.applied_at_ms') IN ('integer', 'real')
             AND COALESCE(json_extract(edge.policy, '$.data_passing_ref'), '') = ''
         END
     AND CASE WHEN json_valid(held.policy) THEN json_extract(held.policy, '$.kind') = 'all_of' END
     AND held.success_count >= 0 AND held.fail_count = 0 AND held.skip_count = 0 AND held.running_count > 0
     AND (held.running_count > 1
          OR (SELECT count(*) FROM ff_edge AS other
               WHERE other.partition_key = :partition_key AND other.flow_id = :flow_id
                 AND other.downstream_eid = edge.downstream_eid
                 AND CASE
                       WHEN NOT json_valid(other.policy) THEN true
                       WHEN json_type(other.policy, '$.applied_at_ms') IN ('integer', 'real') THEN true
                       ELSE json_type(other.policy, '$.applied_at_ms') IS NULL
                            AND json_extract(other.policy, '$.edge_state') IS NOT 'pending'
                     END) <= held.success_count + 1
             AND EXISTS (SELECT 1 FROM ff_exec_core AS core
                          WHERE core.partition_key = :partition_key AND core.execution_id = edge.downstream_eid
                            AND core.lifecycle_phase IN ('submitted', 'runnable')
                            AND core.ownership_state = 'unowned'
                            AND core.eligibility_state = 'blocked_by_dependencies'
                            AND CASE
                                  WHEN json_valid(core.raw_fields) THEN json_extract(core.raw_fields, '$.delay_until') IS NULL
                                END))
);
WITH edge AS (
  UPDATE ff_edge AS edge
     SET policy = json_set(edge.policy, '$.edge_state', 'satisfied', '$.resolved_at_ms', :now_ms)
   WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.edge_id = :edge_id
     AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET eligibility_state = 'eligible_now', public_state = 'waiting', blocking_reason = 'waiting_for_worker',
         attempt_state = CASE
                           WHEN core.attempt_state = 'none' THEN 'pending_first_attempt'
                           ELSE core.attempt_state
                         END
   WHERE core.partition_key = :partition_key AND EXISTS (SELECT 1 FROM fence)
     AND core.execution_id = (SELECT held.downstream_eid
                                FROM fence
                                JOIN ff_edge_group AS held
                                  ON held.partition_key = fence.partition_key AND held.flow_id = fence.flow_id
                                 AND held.downstream_eid = fence.downstream_eid
                               WHERE held.running_count = 1)
),
held AS (
  UPDATE ff_edge_group AS held
     SET success_count = held.success_count + 1, running_count = held.running_count - 1
   WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id
     AND held.downstream_eid = (SELECT fence.downstream_eid FROM fence)
  RETURNING success_count
),
followed AS (
  UPDATE ff_completion_event AS ended SET dispatched_at_ms = :now_ms
   WHERE ended.partition_key = :partition_key AND ended.event_id = :event_id AND ended.dispatched_at_ms IS NULL
     AND EXISTS (SELECT 1 FROM fence)
  RETURNING event_id
)
SELECT held.success_count AS ended_count, followed.event_id AS settled_event_id
  FROM held
  LEFT JOIN followed ON true;
