-- name: quota_policy_lock :opt
SELECT policy.requests_per_window_seconds, policy.active_concurrency_cap, policy.active_concurrency
  FROM ff_quota_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.quota_policy_id = :quota_policy_id
   FOR UPDATE;

-- name: quota_policy_try_lock :opt
SELECT policy.quota_policy_id FROM ff_quota_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.quota_policy_id = :quota_policy_id
   FOR UPDATE SKIP LOCKED;

-- name: quota_policy_list :many
SELECT policy.quota_policy_id FROM ff_quota_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.quota_policy_id COLLATE "C" > :after
 ORDER BY policy.quota_policy_id COLLATE "C" LIMIT :page_size;

-- name: quota_admit :exec
WITH entry AS (
  INSERT INTO ff_quota_window (partition_key, quota_policy_id, dimension, admitted_at_ms, execution_id)
  VALUES (:partition_key, :quota_policy_id, '', :now_ms, :execution_id)
      ON CONFLICT (partition_key, quota_policy_id, dimension, admitted_at_ms, execution_id) DO NOTHING
)
INSERT INTO ff_quota_admitted (partition_key, quota_policy_id, execution_id, admitted_at_ms, expires_at_ms)
VALUES (:partition_key, :quota_policy_id, :execution_id, :now_ms, :expires_at_ms)
    ON CONFLICT (partition_key, quota_policy_id, execution_id) DO UPDATE
   SET admitted_at_ms = excluded.admitted_at_ms, expires_at_ms = excluded.expires_at_ms;

-- name: quota_stray_admitted_delete :rows
WITH oldest AS (
  SELECT old.quota_policy_id, old.execution_id FROM ff_quota_admitted AS old
   WHERE old.partition_key = :partition_key AND old.expires_at_ms <= :now_ms
     AND NOT EXISTS (SELECT 1 FROM ff_quota_policy AS policy
                      WHERE policy.partition_key = :partition_key AND policy.quota_policy_id = old.quota_policy_id)
   ORDER BY old.expires_at_ms, old.quota_policy_id COLLATE "C", old.execution_id COLLATE "C" LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_quota_admitted
 WHERE partition_key = :partition_key
   AND (quota_policy_id, execution_id) IN (SELECT oldest.quota_policy_id, oldest.execution_id FROM oldest);

-- name: quota_stray_window_delete :rows
WITH oldest AS (
  SELECT old.quota_policy_id, old.dimension, old.admitted_at_ms, old.execution_id FROM ff_quota_window AS old
   WHERE old.partition_key = :partition_key AND old.admitted_at_ms < :before_ms
     AND NOT EXISTS (SELECT 1 FROM ff_quota_policy AS policy
                      WHERE policy.partition_key = :partition_key AND policy.quota_policy_id = old.quota_policy_id
                        AND policy.requests_per_window_seconds > 0)
   ORDER BY old.quota_policy_id COLLATE "C", old.dimension COLLATE "C", old.admitted_at_ms, old.execution_id COLLATE "C" LIMIT :page_size
     FOR UPDATE SKIP LOCKED
)
DELETE FROM ff_quota_window
 WHERE partition_key = :partition_key
   AND (quota_policy_id, dimension, admitted_at_ms, execution_id)
       IN (SELECT oldest.quota_policy_id, oldest.dimension, oldest.admitted_at_ms, oldest.execution_id FROM oldest);
