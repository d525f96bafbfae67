-- Lists the ended executions of a lane that nobody needs any more and that pass a filter, oldest first, strictly
-- after a cursor.
-- name: trim_list :many
-- param: namespace text null, tag_key text null, tag_value text null
-- column: terminal_at_ms i64
SELECT core.execution_id, core.terminal_at_ms FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.lane_id = :lane_id
   AND core.lifecycle_phase IN ('terminal', 'cancelled') AND core.terminal_at_ms IS NOT NULL
   AND core.terminal_at_ms <= :ended_before_ms
   AND (core.terminal_at_ms, core.execution_id) > (:after_terminal_at_ms, :after_execution_id)
   AND (:namespace IS NULL
        OR json_type(core.raw_fields, '$.namespace') = 'text' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (:tag_key IS NULL
        OR EXISTS (SELECT 1 FROM json_each(core.raw_fields, '$.tags') AS tag
                    WHERE tag.key = :tag_key AND tag.atom = :tag_value))
 ORDER BY core.terminal_at_ms, core.execution_id LIMIT :page_size;

-- Reads those of some executions that nobody needs any more, and keeps them so until the transaction ends. One that
-- somebody else changes is left for the next time. What has failed may be kept for another time than the others.
-- name: trim_lock :many
SELECT core.execution_id, core.flow_id, core.raw_fields FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.execution_id IN (SELECT unhex(value, '-') FROM json_each(:executions))
   AND core.lifecycle_phase IN ('terminal', 'cancelled') AND core.terminal_at_ms <= :ended_before_ms
   AND core.terminal_at_ms <= CASE WHEN core.public_state = 'failed' THEN :failed_before_ms ELSE :others_before_ms END
 ORDER BY core.execution_id;

-- Lists executions of a lane, or of all but some, that ended long ago and pass a filter, oldest first, strictly after a
-- cursor. `ended_before_ms` is the later of the two times.
-- name: trim_due_list :many
-- diverges(where.raw_fields#995bf9): tags are texts, of which the list of members on SQLite takes any key, also one that is a path there.
-- param: lane_id text null, other_lanes text[], namespace text null, tag_key text null, tag_value text null
-- column: terminal_at_ms i64
SELECT core.partition_key, core.execution_id, core.terminal_at_ms FROM ff_exec_core AS core
 WHERE core.lifecycle_phase IN ('terminal', 'cancelled') AND core.terminal_at_ms IS NOT NULL
   AND core.terminal_at_ms <= :ended_before_ms
   AND core.terminal_at_ms <= CASE WHEN core.public_state = 'failed' THEN :failed_before_ms ELSE :others_before_ms END
   AND (:lane_id IS NULL OR core.lane_id = :lane_id)
   AND core.lane_id NOT IN (SELECT value FROM json_each(:other_lanes))
   AND (core.terminal_at_ms, core.partition_key, core.execution_id) > (:after_terminal_at_ms, :after_partition_key,
                                                                       :after_execution_id)
   AND (:namespace IS NULL
        OR json_type(core.raw_fields, '$.namespace') = 'text' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (:tag_key IS NULL
        OR EXISTS (SELECT 1 FROM json_each(core.raw_fields, '$.tags') AS tag
                    WHERE tag.key = :tag_key AND tag.atom = :tag_value))
 ORDER BY core.terminal_at_ms, core.partition_key, core.execution_id LIMIT :page_size;

-- Keeps the completions and streams of an execution until the transaction ends, as far as nobody else holds them. Counts
-- what is kept and what there is: where less is kept, somebody holds the rest. The frames of a stream are left to whoever
-- has its counter.
-- name: trim_parts_try_lock :one
-- column: kept_count i64, there_count i64
WITH completion_event AS (
  SELECT held.execution_id FROM ff_completion_event AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
),
stream_counter AS (
  SELECT held.execution_id FROM ff_stream_counter AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
),
stream_meta AS (
  SELECT held.execution_id FROM ff_stream_meta AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
),
stream_summary AS (
  SELECT held.execution_id FROM ff_stream_summary AS held
   WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
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

-- Deletes an execution and what is kept with it. Completions of a flow that nobody has followed yet stay.
-- name: trim_delete :exec
DELETE FROM ff_attempt WHERE partition_key = :partition_key AND execution_id = :execution_id;
DELETE FROM ff_claim_grant WHERE partition_key = :partition_key AND execution_id = :execution_id;
DELETE FROM ff_stream_counter WHERE partition_key = :partition_key AND execution_id = :execution_id;
DELETE FROM ff_stream_frame WHERE partition_key = :partition_key AND execution_id = :execution_id;
DELETE FROM ff_stream_meta WHERE partition_key = :partition_key AND execution_id = :execution_id;
DELETE FROM ff_stream_summary WHERE partition_key = :partition_key AND execution_id = :execution_id;
DELETE FROM ff_suspension_current WHERE partition_key = :partition_key AND execution_id = :execution_id;
DELETE FROM ff_waitpoint_pending WHERE partition_key = :partition_key AND execution_id = :execution_id;
DELETE FROM ff_completion_event
 WHERE partition_key = :partition_key AND execution_id = :execution_id
   AND (dispatched_at_ms IS NOT NULL OR flow_id IS NULL);
DELETE FROM ff_execution_capabilities WHERE execution_id = :execution_id;
DELETE FROM ff_exec_core WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Deletes the edges that lead to a member that is forgotten. What somebody follows at this moment stays.
-- name: trim_edge_delete :exec
DELETE FROM ff_edge
 WHERE partition_key = :partition_key AND flow_id = :flow_id
   AND edge_id IN (SELECT held.edge_id FROM ff_edge AS held
                    WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id
                      AND held.downstream_eid = :downstream_eid);

-- Deletes the group of the edges that lead to a member that is forgotten.
-- name: trim_group_delete :exec
DELETE FROM ff_edge_group
 WHERE partition_key = :partition_key AND flow_id = :flow_id
   AND downstream_eid IN (SELECT held.downstream_eid FROM ff_edge_group AS held
                           WHERE held.partition_key = :partition_key AND held.flow_id = :flow_id
                             AND held.downstream_eid = :downstream_eid);

-- Deletes the lease events of executions from before a time. What somebody holds is left to the time after which events are
-- forgotten.
-- name: trim_lease_event_delete :exec
-- param: executions text[]
DELETE FROM ff_lease_event
 WHERE partition_key = :partition_key
   AND event_id IN (SELECT old.event_id FROM ff_lease_event AS old
                     WHERE old.partition_key = :partition_key AND old.occurred_at_ms <= :ended_before_ms
                       AND old.execution_id IN (SELECT value FROM json_each(:executions))
                     ORDER BY old.occurred_at_ms, old.event_id);

-- Deletes the signal events of executions from before a time. What somebody holds is left to the time after which events are
-- forgotten.
-- name: trim_signal_event_delete :exec
-- param: executions text[]
DELETE FROM ff_signal_event
 WHERE partition_key = :partition_key
   AND event_id IN (SELECT old.event_id FROM ff_signal_event AS old
                     WHERE old.partition_key = :partition_key AND old.delivered_at_ms <= :ended_before_ms
                       AND old.execution_id IN (SELECT value FROM json_each(:executions))
                     ORDER BY old.delivered_at_ms, old.event_id);

-- Deletes the operator events of executions from before a time. What somebody holds is left to the time after which events are
-- forgotten.
-- name: trim_operator_event_delete :exec
-- param: executions text[]
DELETE FROM ff_operator_event
 WHERE partition_key = :partition_key
   AND event_id IN (SELECT old.event_id FROM ff_operator_event AS old
                     WHERE old.partition_key = :partition_key AND old.occurred_at_ms <= :ended_before_ms
                       AND old.execution_id IN (SELECT value FROM json_each(:executions))
                     ORDER BY old.occurred_at_ms, old.event_id);

-- Deletes what executions used of their budgets.
-- name: trim_usage_delete :exec
-- param: executions text[]
DELETE FROM ff_budget_usage_by_exec
 WHERE (partition_key, budget_id, execution_id, dimensions_key) IN (SELECT spent.partition_key, spent.budget_id,
                                                                           spent.execution_id, spent.dimensions_key
                                                                      FROM ff_budget_usage_by_exec AS spent
                                                                     WHERE spent.execution_id IN (SELECT value
                                                                                                    FROM json_each(:executions))
                                                                     ORDER BY spent.partition_key, spent.budget_id,
                                                                              spent.execution_id, spent.dimensions_key);

-- Forgets executions that a cancelled flow still had to cancel.
-- name: trim_backlog_delete :exec
-- param: executions text[]
DELETE FROM ff_cancel_backlog_member WHERE execution_id IN (SELECT value FROM json_each(:executions));
