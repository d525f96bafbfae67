-- name: schedule_lock :opt
SELECT core.lane_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.attempt_state,
       core.public_state, core.raw_fields, array_to_string(core.required_capabilities, ',') AS required_capabilities
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: schedule_mismatch_note :exec
UPDATE ff_exec_core AS core
   SET raw_fields = core.raw_fields
                    || jsonb_build_object('last_capability_mismatch_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: schedule_candidate_next :opt
WITH ready AS (
  SELECT queued.partition_key, queued.execution_id, queued.attempt_index, queued.priority, queued.created_at_ms
    FROM ff_claimable AS queued
   WHERE queued.lane_id = :lane_id
     AND NOT EXISTS (SELECT 1 FROM ff_lane_pause AS pause WHERE pause.lane_id = :lane_id)
     AND queued.required_capabilities <@ :capabilities
     AND (queued.priority < :after_priority
          OR (queued.priority = :after_priority
              AND (queued.created_at_ms, queued.execution_id) > (:after_created_at_ms, :after_execution_id)))
   ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id OFFSET 0
)
SELECT ready.partition_key, ready.execution_id, ready.priority, ready.created_at_ms FROM ready
 WHERE ff_take_claimable(ready.partition_key, ready.execution_id, ready.attempt_index, NULL, :lane_id, :capabilities) IS NOT NULL
 LIMIT 1;

-- name: schedule_granted_mark :exec
UPDATE ff_exec_core AS core
   SET eligibility_state = 'pending_claim',
       raw_fields = core.raw_fields
                    || jsonb_build_object('claim_grant',
                                          jsonb_build_object('grant_key', CAST(:grant_key AS text), 'worker_id',
                                                             CAST(:worker_id AS text), 'worker_instance_id',
                                                             CAST(:worker_instance_id AS text), 'expires_at_ms',
                                                             CAST(:expires_at_ms AS bigint), 'issued_at_ms',
                                                             CAST(:issued_at_ms AS bigint)))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Offers a granted execution to claims again when its grants have expired, and deletes them. No row: it is granted
-- no longer, or a grant is live.
-- name: schedule_granted_release :opt
WITH free AS (
  SELECT core.partition_key, core.execution_id FROM ff_exec_core AS core
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND core.eligibility_state = 'pending_claim'
     AND NOT EXISTS (SELECT 1 FROM ff_claim_grant AS live
                      WHERE live.partition_key = :partition_key AND live.execution_id = :execution_id
                        AND live.kind = 'claim' AND live.expires_at_ms > :now_ms)
),
expired AS (
  DELETE FROM ff_claim_grant
   WHERE partition_key = :partition_key AND execution_id = :execution_id AND kind = 'claim'
     AND EXISTS (SELECT 1 FROM free)
)
UPDATE ff_exec_core AS core SET eligibility_state = 'eligible_now', raw_fields = core.raw_fields - 'claim_grant'
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND core.eligibility_state = 'pending_claim' AND EXISTS (SELECT 1 FROM free)
RETURNING core.execution_id;
