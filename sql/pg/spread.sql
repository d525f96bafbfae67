-- name: spread_claimable_list :many
SELECT queued.partition_key, queued.execution_id, queued.priority, queued.created_at_ms FROM ff_claimable AS queued
 WHERE queued.lane_id = :lane_id AND queued.required_capabilities <@ :capabilities
   AND (queued.priority < :after_priority
        OR (queued.priority = :after_priority
            AND (queued.created_at_ms, queued.execution_id) > (:after_created_at_ms, :after_execution_id)))
 ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id LIMIT :page_size;

-- name: spread_try_lock :opt
SELECT core.lane_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.attempt_index,
       core.lease_reclaim_count, core.deadline_at_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
-- if: capabilities
   AND core.required_capabilities <@ :capabilities
   AND (core.flow_id IS NULL
        OR NOT EXISTS (SELECT 1 FROM ff_flow_pause AS pause
                        WHERE pause.partition_key = :partition_key AND pause.flow_id = core.flow_id))
-- end
   FOR UPDATE OF core SKIP LOCKED;

-- name: spread_delayed_release :rows
UPDATE ff_exec_core AS core
   SET eligibility_state = 'eligible_now', public_state = 'waiting', blocking_reason = 'waiting_for_worker',
       deadline_at_ms = CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND core.lifecycle_phase IN ('submitted', 'runnable') AND core.eligibility_state = 'not_eligible_until_time'
   AND core.deadline_at_ms <= :now_ms;

-- name: spread_stream_lock :opt
SELECT core.lifecycle_phase, held.lease_epoch, held.outcome
  FROM ff_exec_core AS core
  JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND held.partition_key = :partition_key AND held.execution_id = :execution_id
   AND held.attempt_index = :attempt_index
   FOR SHARE OF core, held;

-- name: spread_counter_lock :one
SELECT seen.last_ms, seen.last_seq, seen.frame_count FROM ff_stream_counter AS seen
 WHERE seen.partition_key = :partition_key AND seen.execution_id = :execution_id
   AND seen.attempt_index = :attempt_index
   FOR UPDATE;

-- name: spread_usage_delete :exec
DELETE FROM ff_budget_usage_by_exec WHERE execution_id = ANY (CAST(:executions AS uuid[]));
