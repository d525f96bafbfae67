-- Issues a grant to reclaim an execution.
-- name: grant_reclaim_insert :exec
-- both
-- param: capability_hash text null, route_snapshot_json text null, admission_summary text null
INSERT INTO ff_claim_grant
       (partition_key, grant_id, execution_id, kind, worker_id, worker_instance_id, lane_id, capability_hash,
        worker_capabilities, route_snapshot_json, admission_summary, grant_ttl_ms, issued_at_ms, expires_at_ms)
VALUES (:partition_key, :grant_id, :execution_id, 'reclaim', :worker_id, :worker_instance_id, :lane_id,
        :capability_hash, :worker_capabilities, :route_snapshot_json, :admission_summary, :grant_ttl_ms, :issued_at_ms,
        :expires_at_ms);

-- Finds the newest grant to reclaim an execution.
-- name: grant_reclaim_newest :opt
SELECT held.grant_id, held.worker_id, held.lane_id, held.expires_at_ms FROM ff_claim_grant AS held
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.kind = 'reclaim'
 ORDER BY held.issued_at_ms DESC, held.grant_id LIMIT 1;

-- Deletes a grant.
-- name: grant_delete :exec
-- both
DELETE FROM ff_claim_grant WHERE partition_key = :partition_key AND grant_id = :grant_id;

-- Deletes every grant to reclaim an execution.
-- name: grant_reclaim_delete_all :exec
-- both
DELETE FROM ff_claim_grant WHERE partition_key = :partition_key AND execution_id = :execution_id AND kind = 'reclaim';

-- Ends an attempt whose execution was reclaimed, so that nothing takes its lease for a live one.
-- name: grant_attempt_supersede :rows
-- both
UPDATE ff_attempt
   SET outcome = 'interrupted_reclaimed', terminal_at_ms = COALESCE(terminal_at_ms, :now_ms), lease_expires_at_ms = NULL
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- Ends the last attempt of an execution that was reclaimed too often, and forgets its worker.
-- name: grant_attempt_exhaust :rows
-- both
UPDATE ff_attempt
   SET outcome = 'interrupted_reclaimed', terminal_at_ms = :now_ms, lease_expires_at_ms = NULL, worker_id = NULL,
       worker_instance_id = NULL
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- Starts the attempt that takes a reclaimed execution over.
-- name: grant_attempt_insert :exec
-- both
-- param: policy json null
INSERT INTO ff_attempt
       (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch, lease_expires_at_ms,
        started_at_ms, policy, raw_fields)
VALUES (:partition_key, :execution_id, :attempt_index, :worker_id, :worker_instance_id, :lease_epoch,
        :lease_expires_at_ms, :now_ms, :policy, :attempt_fields);

-- Gives a reclaimed execution to its new attempt.
-- name: grant_execution_take :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
       public_state = 'running', attempt_state = 'running_attempt', blocking_reason = NULL,
       attempt_index = :attempt_index, lease_reclaim_count = :reclaim_count,
       started_at_ms = COALESCE(core.started_at_ms, :now_ms),
       raw_fields = json_set(core.raw_fields, '$.total_attempt_count', CAST(:total_attempt_count AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Fails an execution that was reclaimed too often.
-- name: grant_execution_exhaust :exec
-- both
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = 'failed', attempt_state = 'attempt_terminal', blocking_reason = NULL,
       terminal_at_ms = COALESCE(core.terminal_at_ms, :now_ms),
       cancellation_reason = COALESCE(core.cancellation_reason, 'reclaim_cap_exceeded')
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Writes a lease event about an execution, with its namespace and instance tag when it is stored.
-- name: grant_lease_event_insert :one
-- param: lease_id text null
INSERT INTO ff_lease_event (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT :execution_text, :lease_id, :event_type, :now_ms, core.partition_key,
       CASE json_type(core.raw_fields, '$.namespace')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.namespace') END,
       CASE json_type(core.raw_fields, '$.tags."cairn.instance_id"')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.tags."cairn.instance_id"') END
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;

-- Writes the completion of an execution.
-- name: grant_completion_event_insert :one
INSERT INTO ff_completion_event (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, core.flow_id, :outcome,
       CASE json_type(core.raw_fields, '$.namespace')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.namespace') END,
       CASE json_type(core.raw_fields, '$.tags."cairn.instance_id"')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.tags."cairn.instance_id"') END, :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;
