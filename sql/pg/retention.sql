-- name: retention_usage_key_delete :rows
WITH oldest AS (
  SELECT old.dedup_key FROM ff_budget_usage_dedup AS old
   WHERE old.partition_key = :partition_key AND old.expires_at_ms < :now_ms
   ORDER BY old.expires_at_ms, old.dedup_key COLLATE "C" LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_budget_usage_dedup
 WHERE partition_key = :partition_key AND dedup_key IN (SELECT oldest.dedup_key FROM oldest);

-- name: retention_suspend_key_delete :rows
WITH oldest AS (
  SELECT old.partition_key, old.idempotency_key FROM ff_suspend_dedup AS old
   WHERE old.created_at_ms < :created_before_ms
   ORDER BY old.created_at_ms, old.partition_key, old.idempotency_key COLLATE "C" LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_suspend_dedup
 WHERE (partition_key, idempotency_key) IN (SELECT oldest.partition_key, oldest.idempotency_key FROM oldest);

-- name: retention_claim_reopen :rows
UPDATE ff_exec_core AS core SET eligibility_state = 'eligible_now', raw_fields = core.raw_fields - 'claim_grant'
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND core.lifecycle_phase IN ('submitted', 'runnable') AND core.ownership_state = 'unowned'
   AND core.eligibility_state = 'pending_claim'
   AND NOT EXISTS (SELECT 1 FROM ff_claim_grant AS other
                    WHERE other.partition_key = :partition_key AND other.execution_id = :execution_id
                      AND other.kind = 'claim');

-- name: retention_idempotency_key_delete :rows
WITH oldest AS (
  SELECT old.namespace, old.idempotency_key FROM ff_idempotency_key AS old
   WHERE old.created_at_ms <= :created_before_ms
   ORDER BY old.created_at_ms, old.namespace, old.idempotency_key LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_idempotency_key
 WHERE (namespace, idempotency_key) IN (SELECT oldest.namespace, oldest.idempotency_key FROM oldest);

-- name: retention_claim_mark_delete :rows
WITH oldest AS (
  SELECT old.mark_key FROM ff_claim_mark AS old
   WHERE old.made_at_ms < :made_before_ms
   ORDER BY old.made_at_ms, old.mark_key LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_claim_mark WHERE mark_key IN (SELECT oldest.mark_key FROM oldest);

-- name: retention_worker_event_delete :rows
WITH oldest AS (
  SELECT old.namespace, old.worker_instance_id, old.event_at_ms, old.event_kind FROM ff_worker_registry_event AS old
   WHERE old.partition_key = :partition_key AND old.event_at_ms < :before_ms
   ORDER BY old.event_at_ms, old.namespace COLLATE "C", old.worker_instance_id COLLATE "C", old.event_kind COLLATE "C"
   LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_worker_registry_event
 WHERE partition_key = :partition_key
   AND (namespace, worker_instance_id, event_at_ms, event_kind)
       IN (SELECT oldest.namespace, oldest.worker_instance_id, oldest.event_at_ms, oldest.event_kind FROM oldest);

-- name: retention_lease_event_delete :rows
WITH oldest AS (
  SELECT old.event_id FROM ff_lease_event AS old
   WHERE old.occurred_at_ms < :before_ms
   ORDER BY old.occurred_at_ms, old.event_id LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_lease_event WHERE event_id IN (SELECT oldest.event_id FROM oldest);

-- name: retention_signal_event_delete :rows
WITH oldest AS (
  SELECT old.event_id FROM ff_signal_event AS old
   WHERE old.delivered_at_ms < :before_ms
   ORDER BY old.delivered_at_ms, old.event_id LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_signal_event WHERE event_id IN (SELECT oldest.event_id FROM oldest);

-- name: retention_operator_event_delete :rows
WITH oldest AS (
  SELECT old.event_id FROM ff_operator_event AS old
   WHERE old.occurred_at_ms < :before_ms
   ORDER BY old.occurred_at_ms, old.event_id LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_operator_event WHERE event_id IN (SELECT oldest.event_id FROM oldest);

-- name: retention_completion_event_delete :rows
-- allow(lock-order): the index of the primary key gives the rows in its order, because our sessions have bitmap scans off.
DELETE FROM ff_completion_event WHERE partition_key = :partition_key AND event_id = ANY (:event_ids);

-- name: retention_flow_try_lock :opt
SELECT flow.public_flow_state, flow.created_at_ms, flow.terminal_at_ms, flow.raw_fields FROM ff_flow_core AS flow
 WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id
   FOR UPDATE SKIP LOCKED;

-- name: retention_flow_delete :exec
WITH pending_cancel_groups AS (
  DELETE FROM ff_pending_cancel_groups WHERE partition_key = :partition_key AND flow_id = :flow_id
),
cancel_dispatch_outbox AS (
  DELETE FROM ff_cancel_dispatch_outbox WHERE partition_key = :partition_key AND flow_id = :flow_id
),
cancel_backlog_member AS (
  DELETE FROM ff_cancel_backlog_member WHERE partition_key = :partition_key AND flow_id = :flow_id
),
cancel_backlog AS (DELETE FROM ff_cancel_backlog WHERE partition_key = :partition_key AND flow_id = :flow_id),
flow_pause AS (DELETE FROM ff_flow_pause WHERE partition_key = :partition_key AND flow_id = :flow_id),
flow_summary AS (DELETE FROM ff_flow_summary WHERE partition_key = :partition_key AND flow_id = :flow_id)
DELETE FROM ff_flow_core WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- name: retention_spender_list :many
-- diverges(where.execution_id#5bfc14, columns.execution_text#dd3b03, order#808bc6): a uuid on Postgres, its text on SQLite, as the databases that exist have it.
SELECT DISTINCT CAST(spent.execution_id AS text) COLLATE "C" AS execution_text FROM ff_budget_usage_by_exec AS spent
 WHERE spent.partition_key = :partition_key AND spent.updated_at_ms < :before_ms
   AND CAST(spent.execution_id AS text) COLLATE "C" > :after
 ORDER BY execution_text LIMIT :page_size;

-- name: retention_executions_find :many
SELECT core.execution_id FROM ff_exec_core AS core WHERE core.execution_id = ANY (:executions);
