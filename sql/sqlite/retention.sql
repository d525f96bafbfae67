-- Forgets keys of usage reports whose time is over, the oldest first.
-- name: retention_usage_key_delete :rows
WITH oldest AS (
  SELECT old.dedup_key FROM ff_budget_usage_dedup AS old
   WHERE old.partition_key = :partition_key AND old.expires_at_ms < :now_ms
   ORDER BY old.expires_at_ms, old.dedup_key LIMIT :page_size
)
DELETE FROM ff_budget_usage_dedup
 WHERE partition_key = :partition_key AND dedup_key IN (SELECT oldest.dedup_key FROM oldest);

-- Forgets keys of suspensions that are older than a time, the oldest first.
-- name: retention_suspend_key_delete :rows
WITH oldest AS (
  SELECT old.partition_key, old.idempotency_key FROM ff_suspend_dedup AS old
   WHERE old.created_at_ms < :created_before_ms
   ORDER BY old.created_at_ms, old.partition_key, old.idempotency_key LIMIT :page_size
)
DELETE FROM ff_suspend_dedup
 WHERE (partition_key, idempotency_key) IN (SELECT oldest.partition_key, oldest.idempotency_key FROM oldest);

-- Lists grants that nobody used in their time, the oldest first, strictly after a cursor. One without a time stays.
-- name: retention_grant_list :many
-- both
SELECT granted.partition_key, granted.grant_id, granted.execution_id, granted.expires_at_ms
  FROM ff_claim_grant AS granted
 WHERE granted.expires_at_ms > 0 AND granted.expires_at_ms < :now_ms
   AND (granted.expires_at_ms, granted.grant_id) > (:after_expires_at_ms, :after_grant_id)
 ORDER BY granted.expires_at_ms, granted.grant_id LIMIT :page_size;

-- Withdraws a grant whose time is over.
-- name: retention_grant_delete :rows
-- both
DELETE FROM ff_claim_grant
 WHERE partition_key = :partition_key AND grant_id = :grant_id AND expires_at_ms > 0 AND expires_at_ms < :now_ms;

-- Makes an execution claimable again that was kept for a claim, unless a grant for one is left.
-- name: retention_claim_reopen :rows
UPDATE ff_exec_core AS core
   SET eligibility_state = 'eligible_now', raw_fields = json_remove(core.raw_fields, '$.claim_grant')
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND core.lifecycle_phase IN ('submitted', 'runnable') AND core.ownership_state = 'unowned'
   AND core.eligibility_state = 'pending_claim'
   AND NOT EXISTS (SELECT 1 FROM ff_claim_grant AS other
                    WHERE other.partition_key = :partition_key AND other.execution_id = :execution_id
                      AND other.kind = 'claim');

-- Forgets which executions callers' keys created before a time, the oldest first.
-- name: retention_idempotency_key_delete :rows
WITH oldest AS (
  SELECT old.namespace, old.idempotency_key FROM ff_idempotency_key AS old
   WHERE old.created_at_ms <= :created_before_ms
   ORDER BY old.created_at_ms, old.namespace, old.idempotency_key LIMIT :page_size
)
DELETE FROM ff_idempotency_key
 WHERE (namespace, idempotency_key) IN (SELECT oldest.namespace, oldest.idempotency_key FROM oldest);

-- Forgets where lanes begin for workers that have not claimed there since a time.
-- name: retention_claim_mark_delete :rows
WITH oldest AS (
  SELECT old.mark_key FROM ff_claim_mark AS old
   WHERE old.made_at_ms < :made_before_ms
   ORDER BY old.made_at_ms, old.mark_key LIMIT :page_size
)
DELETE FROM ff_claim_mark WHERE mark_key IN (SELECT oldest.mark_key FROM oldest);

-- Forgets what happened to worker instances before a time, the oldest first.
-- name: retention_worker_event_delete :rows
WITH oldest AS (
  SELECT old.namespace, old.worker_instance_id, old.event_at_ms, old.event_kind FROM ff_worker_registry_event AS old
   WHERE old.event_at_ms < :before_ms
   ORDER BY old.event_at_ms, old.namespace, old.worker_instance_id, old.event_kind
   LIMIT :page_size
)
DELETE FROM ff_worker_registry_event
 WHERE (namespace, worker_instance_id, event_at_ms, event_kind)
       IN (SELECT oldest.namespace, oldest.worker_instance_id, oldest.event_at_ms, oldest.event_kind FROM oldest);

-- Forgets lease events from before a time, the oldest first. They are found by the time that they tell, because in the order
-- of their ids those of a host whose clock is ahead stand before others.
-- name: retention_lease_event_delete :rows
WITH oldest AS (
  SELECT old.event_id FROM ff_lease_event AS old
   WHERE old.occurred_at_ms < :before_ms
   ORDER BY old.occurred_at_ms, old.event_id LIMIT :page_size
)
DELETE FROM ff_lease_event WHERE event_id IN (SELECT oldest.event_id FROM oldest);

-- Forgets deliveries of signals from before a time, the oldest first.
-- name: retention_signal_event_delete :rows
WITH oldest AS (
  SELECT old.event_id FROM ff_signal_event AS old
   WHERE old.delivered_at_ms < :before_ms
   ORDER BY old.delivered_at_ms, old.event_id LIMIT :page_size
)
DELETE FROM ff_signal_event WHERE event_id IN (SELECT oldest.event_id FROM oldest);

-- Forgets operator events from before a time, the oldest first.
-- name: retention_operator_event_delete :rows
WITH oldest AS (
  SELECT old.event_id FROM ff_operator_event AS old
   WHERE old.occurred_at_ms < :before_ms
   ORDER BY old.occurred_at_ms, old.event_id LIMIT :page_size
)
DELETE FROM ff_operator_event WHERE event_id IN (SELECT oldest.event_id FROM oldest);

-- Lists completions in the order of their ids, strictly after one.
-- name: retention_completion_list :many
-- both
SELECT ended.partition_key, ended.event_id, ended.flow_id, ended.occurred_at_ms, ended.committed_at_ms,
       ended.dispatched_at_ms
  FROM ff_completion_event AS ended
 WHERE ended.event_id > :after
 ORDER BY ended.event_id LIMIT :page_size;

-- Forgets completions of a partition.
-- name: retention_completion_event_delete :rows
-- param: event_ids i64[]
DELETE FROM ff_completion_event
 WHERE partition_key = :partition_key AND event_id IN (SELECT value FROM json_each(:event_ids));

-- Lists flows without members that were made before a time, the oldest first, strictly after a cursor.
-- name: retention_flow_list :many
-- both
SELECT flow.partition_key, flow.flow_id, flow.created_at_ms FROM ff_flow_core AS flow
 WHERE flow.created_at_ms < :before_ms AND (flow.created_at_ms, flow.flow_id) > (:after_created_at_ms, :after_flow_id)
   AND NOT EXISTS (SELECT 1 FROM ff_exec_core AS core
                    WHERE core.partition_key = flow.partition_key AND core.flow_id = flow.flow_id)
 ORDER BY flow.created_at_ms, flow.flow_id LIMIT :page_size;

-- Reads a flow that may be forgotten, and keeps others from joining it until the transaction ends. No row: there is
-- none, or somebody holds it.
-- name: retention_flow_try_lock :opt
SELECT flow.public_flow_state, flow.created_at_ms, flow.terminal_at_ms, flow.raw_fields FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id;

-- Deletes the edges of a flow.
-- name: retention_flow_edges_delete :exec
-- both
DELETE FROM ff_edge WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- Deletes the dependency groups of a flow.
-- name: retention_flow_groups_delete :exec
-- both
DELETE FROM ff_edge_group WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- Deletes a flow with its summary and what was noted about cancelling and pausing it.
-- name: retention_flow_delete :exec
DELETE FROM ff_pending_cancel_groups WHERE partition_key = :partition_key AND flow_id = :flow_id;
DELETE FROM ff_cancel_dispatch_outbox WHERE partition_key = :partition_key AND flow_id = :flow_id;
DELETE FROM ff_cancel_backlog_member WHERE partition_key = :partition_key AND flow_id = :flow_id;
DELETE FROM ff_cancel_backlog WHERE partition_key = :partition_key AND flow_id = :flow_id;
DELETE FROM ff_flow_pause WHERE partition_key = :partition_key AND flow_id = :flow_id;
DELETE FROM ff_flow_summary WHERE partition_key = :partition_key AND flow_id = :flow_id;
DELETE FROM ff_flow_core WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- Lists executions that spent something of a budget and have not since a time, strictly after one.
-- name: retention_spender_list :many
-- column: execution_text text
SELECT DISTINCT spent.execution_id AS execution_text FROM ff_budget_usage_by_exec AS spent
 WHERE spent.partition_key = :partition_key AND spent.updated_at_ms < :before_ms AND spent.execution_id > :after
 ORDER BY execution_text LIMIT :page_size;

-- Finds those of some executions that are there, in whatever partition.
-- name: retention_executions_find :many
SELECT core.execution_id FROM ff_exec_core AS core
 WHERE core.execution_id IN (SELECT unhex(value, '-') FROM json_each(:executions));
