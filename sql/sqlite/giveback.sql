-- Reads the epoch at which an earlier giving back left a leased attempt that had not run until then. No row: somebody
-- else holds the attempt by now, or it has ended.
-- name: giveback_read :opt
-- column: unstarted_epoch text null
SELECT CASE json_type(held.raw_fields, '$.unstarted_epoch')
         WHEN 'text' THEN json_extract(held.raw_fields, '$.unstarted_epoch') END AS unstarted_epoch
  FROM ff_attempt AS held
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index
   AND held.lease_epoch = :lease_epoch AND held.outcome IS NULL;

-- Takes the lease off an attempt; the next epoch fences it.
-- name: giveback_attempt :exec
-- param: unstarted_epoch text
UPDATE ff_attempt AS held
   SET worker_id = NULL, worker_instance_id = NULL, lease_epoch = held.lease_epoch + 1, lease_expires_at_ms = NULL,
       raw_fields = json_set(held.raw_fields, '$.unstarted_epoch', CAST(:unstarted_epoch AS text))
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index
   AND held.lease_epoch = :lease_epoch;

-- Puts an execution back to where a claim took it from.
-- name: giveback_execution :exec
-- param: total_attempt_count text
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = :ownership_state, eligibility_state = 'eligible_now',
       public_state = :public_state, attempt_state = :attempt_state, attempt_index = :attempt_index,
       lease_reclaim_count = :reclaim_count,
       raw_fields = json_set(core.raw_fields, '$.total_attempt_count', CAST(:total_attempt_count AS text),
                             '$.last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;
