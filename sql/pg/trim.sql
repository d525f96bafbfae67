-- name: trim_list :many
SELECT core.execution_id, core.terminal_at_ms FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.lane_id = :lane_id
   AND core.lifecycle_phase IN ('terminal', 'cancelled') AND core.terminal_at_ms IS NOT NULL
   AND core.terminal_at_ms <= :ended_before_ms
   AND (core.terminal_at_ms, core.execution_id) > (:after_terminal_at_ms, :after_execution_id)
   AND (CAST(:namespace AS text) IS NULL
        OR jsonb_typeof(core.raw_fields -> 'namespace') = 'string' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (CAST(:tag_key AS text) IS NULL OR core.raw_fields -> 'tags' ->> CAST(:tag_key AS text) = :tag_value)
 ORDER BY core.terminal_at_ms, core.execution_id LIMIT :page_size;

-- name: trim_lock :many
SELECT core.execution_id, core.flow_id, core.raw_fields FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = ANY (:executions)
   AND core.lifecycle_phase IN ('terminal', 'cancelled') AND core.terminal_at_ms <= :ended_before_ms
   AND core.terminal_at_ms <= CASE WHEN core.public_state = 'failed' THEN :failed_before_ms ELSE :others_before_ms END
 ORDER BY core.execution_id FOR UPDATE SKIP LOCKED;

-- name: trim_due_list :many
SELECT core.partition_key, core.execution_id, core.terminal_at_ms FROM ff_exec_core AS core
 WHERE core.lifecycle_phase IN ('terminal', 'cancelled') AND core.terminal_at_ms IS NOT NULL
   AND core.terminal_at_ms <= :ended_before_ms
   AND core.terminal_at_ms <= CASE WHEN core.public_state = 'failed' THEN :failed_before_ms ELSE :others_before_ms END
   AND (CAST(:lane_id AS text) IS NULL OR core.lane_id = :lane_id)
   AND core.lane_id <> ALL (:other_lanes)
   AND (core.terminal_at_ms, core.partition_key, core.execution_id) > (:after_terminal_at_ms, :after_partition_key,
                                                                       :after_execution_id)
   AND (CAST(:namespace AS text) IS NULL
        OR jsonb_typeof(core.raw_fields -> 'namespace') = 'string' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (CAST(:tag_key AS text) IS NULL OR core.raw_fields -> 'tags' ->> CAST(:tag_key AS text) = :tag_value)
 ORDER BY core.terminal_at_ms, core.partition_key, core.execution_id LIMIT :page_size;

-- name: trim_parts_try_lock :one
WITH completion_event AS (
  SELECT held.execution_id FROM ff_completion_event AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
),
stream_counter AS (
  SELECT held.execution_id FROM ff_stream_counter AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
),
stream_meta AS (
  SELECT held.execution_id FROM ff_stream_meta AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
),
stream_summary AS (
  SELECT held.execution_id FROM ff_stream_summary AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
     FOR UPDATE SKIP LOCKED
)
SELECT (SELECT count(*) FROM completion_event) + (SELECT count(*) FROM stream_counter)
       + (SELECT count(*) FROM stream_meta) + (SELECT count(*) FROM stream_summary) AS kept_count,
       (SELECT count(*) FROM ff_completion_event AS held
         WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id)
       + (SELECT count(*) FROM ff_stream_counter AS held
           WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id)
       + (SELECT count(*) FROM ff_stream_meta AS held
           WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id)
       + (SELECT count(*) FROM ff_stream_summary AS held
           WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id) AS there_count;

-- name: trim_delete :exec
WITH attempt AS (DELETE FROM ff_attempt WHERE partition_key = :partition_key AND execution_id = :execution_id),
claim_grant AS (DELETE FROM ff_claim_grant WHERE partition_key = :partition_key AND execution_id = :execution_id),
stream_counter AS (DELETE FROM ff_stream_counter WHERE partition_key = :partition_key AND execution_id = :execution_id),
stream_frame AS (DELETE FROM ff_stream_frame WHERE partition_key = :partition_key AND execution_id = :execution_id),
stream_meta AS (DELETE FROM ff_stream_meta WHERE partition_key = :partition_key AND execution_id = :execution_id),
stream_summary AS (DELETE FROM ff_stream_summary WHERE partition_key = :partition_key AND execution_id = :execution_id),
suspension_current AS (
  DELETE FROM ff_suspension_current WHERE partition_key = :partition_key AND execution_id = :execution_id
),
waitpoint_pending AS (
  DELETE FROM ff_waitpoint_pending WHERE partition_key = :partition_key AND execution_id = :execution_id
),
completion_event AS (
  DELETE FROM ff_completion_event
   WHERE partition_key = :partition_key AND execution_id = :execution_id
     AND (dispatched_at_ms IS NOT NULL OR flow_id IS NULL)
)
DELETE FROM ff_exec_core WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- name: trim_edge_delete :exec
DELETE FROM ff_edge
 WHERE partition_key = :partition_key AND flow_id = :flow_id
   AND edge_id IN (SELECT held.edge_id FROM ff_edge AS held
                    WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id
                      AND held.downstream_eid = :downstream_eid
                      FOR UPDATE SKIP LOCKED);

-- name: trim_group_delete :exec
DELETE FROM ff_edge_group
 WHERE partition_key = :partition_key AND flow_id = :flow_id
   AND downstream_eid IN (SELECT held.downstream_eid FROM ff_edge_group AS held
                           WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id
                             AND held.downstream_eid = :downstream_eid
                             FOR UPDATE SKIP LOCKED);

-- name: trim_lease_event_delete :exec
DELETE FROM ff_lease_event
 WHERE partition_key = :partition_key
   AND event_id IN (SELECT old.event_id FROM ff_lease_event AS old
                     WHERE old.partition_key = :partition_key AND old.occurred_at_ms <= :ended_before_ms
                       AND old.execution_id = ANY (:executions)
                     ORDER BY old.occurred_at_ms, old.event_id FOR UPDATE SKIP LOCKED);

-- name: trim_signal_event_delete :exec
DELETE FROM ff_signal_event
 WHERE partition_key = :partition_key
   AND event_id IN (SELECT old.event_id FROM ff_signal_event AS old
                     WHERE old.partition_key = :partition_key AND old.delivered_at_ms <= :ended_before_ms
                       AND old.execution_id = ANY (:executions)
                     ORDER BY old.delivered_at_ms, old.event_id FOR UPDATE SKIP LOCKED);

-- name: trim_operator_event_delete :exec
DELETE FROM ff_operator_event
 WHERE partition_key = :partition_key
   AND event_id IN (SELECT old.event_id FROM ff_operator_event AS old
                     WHERE old.partition_key = :partition_key AND old.occurred_at_ms <= :ended_before_ms
                       AND old.execution_id = ANY (:executions)
                     ORDER BY old.occurred_at_ms, old.event_id FOR UPDATE SKIP LOCKED);

-- name: trim_usage_delete :exec
DELETE FROM ff_budget_usage_by_exec
 WHERE (partition_key, budget_id, execution_id, dimensions_key) IN (SELECT spent.partition_key, spent.budget_id,
                                                                           spent.execution_id, spent.dimensions_key
                                                                      FROM ff_budget_usage_by_exec AS spent
                                                                     WHERE spent.execution_id = ANY (CAST(:executions AS uuid[]))
                                                                     ORDER BY spent.partition_key,
                                                                              spent.budget_id COLLATE "C",
                                                                              spent.execution_id,
                                                                              spent.dimensions_key COLLATE "C"
                                                                       FOR UPDATE SKIP LOCKED);

-- name: trim_backlog_delete :exec
DELETE FROM ff_cancel_backlog_member WHERE execution_id = ANY (:executions);
