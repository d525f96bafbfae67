-- name: grant_reclaim_newest :opt
SELECT held.grant_id, held.worker_id, held.lane_id, held.expires_at_ms FROM ff_claim_grant AS held
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.kind = 'reclaim'
 ORDER BY held.issued_at_ms DESC, held.grant_id LIMIT 1 FOR UPDATE;

-- name: grant_execution_take :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
       public_state = 'running', attempt_state = 'running_attempt', blocking_reason = NULL,
       attempt_index = :attempt_index, lease_reclaim_count = :reclaim_count,
       started_at_ms = COALESCE(core.started_at_ms, :now_ms),
       raw_fields = core.raw_fields || jsonb_build_object('total_attempt_count', CAST(:total_attempt_count AS text))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: grant_lease_event_insert :one
INSERT INTO ff_lease_event (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
SELECT :execution_text, :lease_id, :event_type, :now_ms, core.partition_key,
       CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
       CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
         WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;

-- name: grant_completion_event_insert :one
INSERT INTO ff_completion_event (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, core.flow_id, :outcome,
       CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
       CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
         WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END, :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;
