-- Forgets keys of usage reports whose time is over, the oldest first.
-- name: retention_usage_key_delete :rows
DELETE FROM ff_budget_usage_dedup
 WHERE partition_key = :partition_key
   AND dedup_key IN (SELECT old.dedup_key
                       FROM ff_budget_usage_dedup AS old
                      WHERE old.partition_key = :partition_key
                        AND old.expires_at_ms < :now_ms
                      ORDER BY old.expires_at_ms, old.dedup_key COLLATE "C"
                      LIMIT :page_size);

-- Forgets keys of suspensions that are older than a time, the oldest first.
-- name: retention_suspend_key_delete :rows
DELETE FROM ff_suspend_dedup
 WHERE (partition_key, idempotency_key) IN (SELECT old.partition_key, old.idempotency_key
                                              FROM ff_suspend_dedup AS old
                                             WHERE old.created_at_ms < :created_before_ms
                                             ORDER BY old.created_at_ms, old.partition_key, old.idempotency_key COLLATE "C"
                                             LIMIT :page_size);

-- Lists grants that nobody used in their time. One without a time stays.
-- name: retention_grant_list :many
-- allow(shard-key): the sweep is over all partitions
SELECT granted.partition_key, granted.grant_id, granted.execution_id
  FROM ff_claim_grant AS granted
 WHERE granted.expires_at_ms > 0
   AND granted.expires_at_ms < :now_ms
 ORDER BY granted.expires_at_ms, granted.grant_id
 LIMIT :page_size;

-- Withdraws a grant whose time is over.
-- name: retention_grant_delete :rows
DELETE FROM ff_claim_grant
 WHERE partition_key = :partition_key
   AND grant_id = :grant_id
   AND expires_at_ms > 0
   AND expires_at_ms < :now_ms;

-- Makes an execution claimable again that was kept for a claim, unless a grant for one is left.
-- name: retention_claim_reopen :rows
UPDATE ff_exec_core AS core
   SET eligibility_state = 'eligible_now',
       raw_fields = core.raw_fields - 'claim_grant'
 WHERE core.partition_key = :partition_key
   AND core.execution_id = :execution_id
   AND core.lifecycle_phase IN ('submitted', 'runnable')
   AND core.ownership_state = 'unowned'
   AND core.eligibility_state = 'pending_claim'
   AND NOT EXISTS (SELECT 1
                     FROM ff_claim_grant AS other
                    WHERE other.partition_key = :partition_key
                      AND other.execution_id = :execution_id
                      AND other.kind = 'claim');
