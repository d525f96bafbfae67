-- name: giveback_read :opt
SELECT CASE jsonb_typeof(held.raw_fields -> 'unstarted_epoch')
         WHEN 'string' THEN held.raw_fields ->> 'unstarted_epoch' END AS unstarted_epoch
  FROM ff_attempt AS held
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index
   AND held.lease_epoch = :lease_epoch AND held.outcome IS NULL;

-- name: giveback_attempt :exec
UPDATE ff_attempt AS held
   SET worker_id = NULL, worker_instance_id = NULL, lease_epoch = held.lease_epoch + 1, lease_expires_at_ms = NULL,
       raw_fields = held.raw_fields || jsonb_build_object('unstarted_epoch', CAST(:unstarted_epoch AS text))
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index
   AND held.lease_epoch = :lease_epoch;

-- name: giveback_execution :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = :ownership_state, eligibility_state = 'eligible_now',
       public_state = :public_state, attempt_state = :attempt_state, attempt_index = :attempt_index,
       lease_reclaim_count = :reclaim_count,
       raw_fields = core.raw_fields
                    || jsonb_build_object('total_attempt_count', CAST(:total_attempt_count AS text), 'last_mutation_at',
                                          CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;
