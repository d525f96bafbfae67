-- Lists the ended executions of a lane that nobody needs any more, oldest first, strictly after a cursor.
-- name: trim_list :many
-- column: terminal_at_ms i64
SELECT core.execution_id, core.terminal_at_ms, core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.lane_id = :lane_id
   AND core.lifecycle_phase IN ('terminal', 'cancelled')
   AND core.terminal_at_ms IS NOT NULL
   AND core.terminal_at_ms <= :ended_before_ms
   AND (core.terminal_at_ms, core.execution_id) > (:after_terminal_at_ms, :after_execution_id)
 ORDER BY core.terminal_at_ms, core.execution_id
 LIMIT :page_size;

-- Lists where executions are that ended long ago, oldest first.
-- name: trim_due_list :many
SELECT core.partition_key, core.lane_id
  FROM ff_exec_core AS core
 WHERE core.lifecycle_phase IN ('terminal', 'cancelled')
   AND core.terminal_at_ms IS NOT NULL
   AND core.terminal_at_ms <= :ended_before_ms
 ORDER BY core.terminal_at_ms, core.partition_key, core.execution_id
 LIMIT :page_size;

-- Deletes an execution and what is kept with it. Completions of a flow that nobody has followed yet stay.
-- name: trim_delete :exec
-- diverges(results.required_capabilities): an id is in one partition; SQLite knows the capabilities by the id alone.
-- diverges(parts.ff_execution_capabilities#bbc7ed): SQLite has no array columns, so the required capabilities are rows of a table of their own.
DELETE FROM ff_attempt
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id;
DELETE FROM ff_claim_grant
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id;
DELETE FROM ff_stream_counter
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id;
DELETE FROM ff_stream_frame
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id;
DELETE FROM ff_stream_meta
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id;
DELETE FROM ff_stream_summary
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id;
DELETE FROM ff_suspension_current
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id;
DELETE FROM ff_waitpoint_pending
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id;
DELETE FROM ff_completion_event
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id
   AND (dispatched_at_ms IS NOT NULL OR flow_id IS NULL);
DELETE FROM ff_execution_capabilities
 WHERE execution_id = :execution_id;
DELETE FROM ff_exec_core
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id;

-- Deletes the lease events of executions.
-- name: trim_lease_event_delete :exec
-- param: executions text[]
DELETE FROM ff_lease_event
 WHERE partition_key = :partition_key
   AND execution_id IN (SELECT value FROM json_each(:executions));

-- Deletes the signal events of executions.
-- name: trim_signal_event_delete :exec
-- param: executions text[]
DELETE FROM ff_signal_event
 WHERE partition_key = :partition_key
   AND execution_id IN (SELECT value FROM json_each(:executions));

-- Deletes the operator events of executions.
-- name: trim_operator_event_delete :exec
-- param: executions text[]
DELETE FROM ff_operator_event
 WHERE partition_key = :partition_key
   AND execution_id IN (SELECT value FROM json_each(:executions));

-- Deletes what executions used of their budgets.
-- name: trim_usage_delete :exec
-- param: executions text[]
DELETE FROM ff_budget_usage_by_exec
 WHERE execution_id IN (SELECT value FROM json_each(:executions));

-- Forgets executions that a cancelled flow still had to cancel.
-- name: trim_backlog_delete :exec
-- param: executions text[]
DELETE FROM ff_cancel_backlog_member
 WHERE execution_id IN (SELECT value FROM json_each(:executions));
