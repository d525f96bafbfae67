-- Reads what decides whether an execution may run, apart from what it depends on.
-- name: schedule_state_read :opt
-- both
SELECT core.lifecycle_phase, core.ownership_state, core.flow_id, core.raw_fields FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Lists what an execution depends on: the policy of each edge to it, and how its upstream execution stands.
-- name: schedule_upstream_list :many
-- both
SELECT edge.policy, upstream.lifecycle_phase, upstream.public_state, upstream.raw_fields
  FROM ff_edge AS edge
  LEFT JOIN ff_exec_core AS upstream
    ON upstream.partition_key = :partition_key AND upstream.execution_id = edge.upstream_eid
 WHERE edge.partition_key = :partition_key AND edge.flow_id = :flow_id AND edge.downstream_eid = :execution_id;

-- Lists what a partition offers on a lane to claims by grant, best first. Interrupted attempts are left out, because
-- they are resumed or taken over, not granted.
-- name: schedule_eligible_list :many
-- both
SELECT ready.execution_id
  FROM ff_claimable AS ready
  JOIN ff_exec_core AS core ON core.partition_key = :partition_key AND core.execution_id = ready.execution_id
 WHERE ready.partition_key = :partition_key AND ready.lane_id = :lane_id
   AND core.attempt_state NOT IN ('running_attempt', 'attempt_interrupted') AND core.public_state <> 'resumable'
 ORDER BY ready.priority DESC, ready.created_at_ms, ready.execution_id LIMIT :page_size;

-- Reads what decides whether an execution may be granted, and keeps it so until the transaction ends.
-- name: schedule_lock :opt
-- column: required_capabilities text
SELECT core.lane_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.attempt_state,
       core.public_state, core.raw_fields,
       COALESCE((SELECT group_concat(required.capability, ',') FROM ff_execution_capabilities AS required
                  WHERE required.execution_id = core.execution_id),
                '') AS required_capabilities
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Finds a grant to claim an execution that has not expired.
-- name: schedule_grant_live :opt
-- both
SELECT granted.expires_at_ms FROM ff_claim_grant AS granted
 WHERE granted.partition_key = :partition_key AND granted.execution_id = :execution_id AND granted.kind = 'claim'
   AND granted.expires_at_ms > :now_ms
 ORDER BY granted.expires_at_ms DESC, granted.grant_id LIMIT 1;

-- Deletes the grants to claim an execution that have expired.
-- name: schedule_grant_expire :exec
-- both
DELETE FROM ff_claim_grant
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND kind = 'claim' AND expires_at_ms <= :now_ms;

-- Issues a grant to claim an execution.
-- name: schedule_grant_insert :exec
-- both
-- param: lane_id text null, capability_hash text null, route_snapshot_json text null, admission_summary text null
INSERT INTO ff_claim_grant
       (partition_key, grant_id, execution_id, kind, worker_id, worker_instance_id, lane_id, capability_hash,
        worker_capabilities, route_snapshot_json, admission_summary, grant_ttl_ms, issued_at_ms, expires_at_ms)
VALUES (:partition_key, :grant_id, :execution_id, 'claim', :worker_id, :worker_instance_id, :lane_id, :capability_hash,
        :worker_capabilities, :route_snapshot_json, :admission_summary, :grant_ttl_ms, :issued_at_ms, :expires_at_ms);

-- Notes when a worker was last offered an execution that it cannot run.
-- name: schedule_mismatch_note :exec
UPDATE ff_exec_core AS core
   SET raw_fields = json_set(core.raw_fields, '$.last_capability_mismatch_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Takes the best execution of a lane that a worker with these capabilities may run, strictly after another one.
-- name: schedule_candidate_next :opt
-- param: capabilities text[]
WITH ready AS (
  SELECT queued.partition_key, queued.execution_id, queued.attempt_index, queued.priority, queued.created_at_ms
    FROM ff_claimable AS queued
   WHERE queued.lane_id = :lane_id
     AND NOT EXISTS (SELECT 1 FROM ff_lane_pause AS pause WHERE pause.lane_id = :lane_id)
     AND NOT EXISTS (SELECT 1 FROM ff_execution_capabilities AS required
                      WHERE required.execution_id = queued.execution_id
                        AND required.capability NOT IN (SELECT value FROM json_each(:capabilities)))
     AND (queued.priority < :after_priority
          OR (queued.priority = :after_priority
              AND (queued.created_at_ms, queued.execution_id) > (:after_created_at_ms, :after_execution_id)))
   ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id
)
SELECT ready.partition_key, ready.execution_id, ready.priority, ready.created_at_ms FROM ready LIMIT 1;

-- Keeps a granted execution from other claims until its grant is used or expires.
-- name: schedule_granted_mark :exec
UPDATE ff_exec_core AS core
   SET eligibility_state = 'pending_claim',
       raw_fields = json_set(core.raw_fields, '$.claim_grant',
                             json_object('grant_key', CAST(:grant_key AS text), 'worker_id', CAST(:worker_id AS text),
                                         'worker_instance_id', CAST(:worker_instance_id AS text), 'expires_at_ms',
                                         CAST(:expires_at_ms AS bigint), 'issued_at_ms', CAST(:issued_at_ms AS bigint)))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Lists granted executions whose grant has expired by what their documents say, strictly after a cursor.
-- name: schedule_granted_due_list :many
-- both
SELECT granted.partition_key, granted.execution_id, granted.expires_at_ms FROM ff_granted AS granted
 WHERE granted.expires_at_ms <= :now_ms
   AND (granted.expires_at_ms, granted.execution_id) > (:after_expires_at_ms, :after_execution_id)
 ORDER BY granted.expires_at_ms, granted.execution_id LIMIT :batch_size;

-- Offers a granted execution to claims again when its grants have expired, and deletes them. No row: it is granted
-- no longer, a grant is live, or somebody holds it, whom the sweep does not wait for.
-- name: schedule_granted_release :opt
WITH free AS (
  SELECT core.partition_key, core.execution_id FROM ff_exec_core AS core
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND core.eligibility_state = 'pending_claim'
     AND NOT EXISTS (SELECT 1 FROM ff_claim_grant AS live
                      WHERE live.partition_key = :partition_key AND live.execution_id = :execution_id
                        AND live.kind = 'claim' AND live.expires_at_ms > :now_ms)
);
DELETE FROM ff_claim_grant
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND kind = 'claim'
   AND EXISTS (SELECT 1 FROM free);
UPDATE ff_exec_core AS core
   SET eligibility_state = 'eligible_now', raw_fields = json_remove(core.raw_fields, '$.claim_grant')
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND core.eligibility_state = 'pending_claim' AND EXISTS (SELECT 1 FROM free)
RETURNING execution_id;

-- Reads the limits of a budget.
-- name: schedule_budget_read :opt
-- both
SELECT policy.policy_json FROM ff_budget_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id;

-- Lists what was used of a budget.
-- name: schedule_usage_list :many
-- both
SELECT used.dimensions_key, used.current_value FROM ff_budget_usage AS used
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id;
