-- Creates a quota policy; one that is there stays as it is.
-- name: quota_create :rows
-- both
INSERT INTO ff_quota_policy
       (partition_key, quota_policy_id, requests_per_window_seconds, max_requests_per_window, active_concurrency_cap,
        active_concurrency, created_at_ms, updated_at_ms)
VALUES (:partition_key, :quota_policy_id, :window_seconds, :max_requests, :max_concurrent, 0, :now_ms, :now_ms)
    ON CONFLICT (partition_key, quota_policy_id) DO NOTHING;

-- Reads the limits of a quota policy.
-- name: quota_limits_read :opt
-- both
SELECT policy.max_requests_per_window, policy.requests_per_window_seconds, policy.active_concurrency_cap
  FROM ff_quota_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.quota_policy_id = :quota_policy_id;

-- Locks a quota policy, which orders everything that is admitted under it.
-- name: quota_policy_lock :opt
SELECT policy.requests_per_window_seconds, policy.active_concurrency_cap, policy.active_concurrency
  FROM ff_quota_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.quota_policy_id = :quota_policy_id;

-- Locks a quota policy that nobody else holds. No row: there is none, or somebody holds it.
-- name: quota_policy_try_lock :opt
SELECT policy.quota_policy_id FROM ff_quota_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.quota_policy_id = :quota_policy_id;

-- Deletes a quota policy that an admission made only to lock it.
-- name: quota_policy_delete :exec
-- both
DELETE FROM ff_quota_policy WHERE partition_key = :partition_key AND quota_policy_id = :quota_policy_id;

-- Says how many executions hold a place under a quota policy.
-- name: quota_active_set :exec
-- both
UPDATE ff_quota_policy SET active_concurrency = :active_concurrency, updated_at_ms = :now_ms
 WHERE partition_key = :partition_key AND quota_policy_id = :quota_policy_id;

-- Lists a partition's quota policies in the order of their ids, strictly after a cursor.
-- name: quota_policy_list :many
SELECT policy.quota_policy_id FROM ff_quota_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.quota_policy_id > :after
 ORDER BY policy.quota_policy_id LIMIT :page_size;

-- Reads until when an execution is admitted.
-- name: quota_admitted_read :opt
-- both
SELECT admitted.expires_at_ms FROM ff_quota_admitted AS admitted
 WHERE admitted.partition_key = :partition_key AND admitted.quota_policy_id = :quota_policy_id
   AND admitted.execution_id = :execution_id;

-- Forgets admissions that have left the window.
-- name: quota_window_trim :rows
-- both
DELETE FROM ff_quota_window
 WHERE partition_key = :partition_key AND quota_policy_id = :quota_policy_id AND admitted_at_ms < :cutoff_ms;

-- Counts the admissions in the window and finds the oldest.
-- name: quota_window_read :one
-- both
-- column: admitted_count i64
SELECT count(*) AS admitted_count, min(entry.admitted_at_ms) AS oldest_at_ms FROM ff_quota_window AS entry
 WHERE entry.partition_key = :partition_key AND entry.quota_policy_id = :quota_policy_id;

-- Writes an admission down: in the window, and as the place that the execution holds.
-- name: quota_admit :exec
INSERT INTO ff_quota_window (partition_key, quota_policy_id, dimension, admitted_at_ms, execution_id)
VALUES (:partition_key, :quota_policy_id, '', :now_ms, :execution_id)
    ON CONFLICT (partition_key, quota_policy_id, dimension, admitted_at_ms, execution_id) DO NOTHING;
INSERT INTO ff_quota_admitted (partition_key, quota_policy_id, execution_id, admitted_at_ms, expires_at_ms)
VALUES (:partition_key, :quota_policy_id, :execution_id, :now_ms, :expires_at_ms)
    ON CONFLICT (partition_key, quota_policy_id, execution_id) DO UPDATE
   SET admitted_at_ms = excluded.admitted_at_ms, expires_at_ms = excluded.expires_at_ms;

-- Gives the place of an execution back.
-- name: quota_admitted_delete :rows
-- both
DELETE FROM ff_quota_admitted
 WHERE partition_key = :partition_key AND quota_policy_id = :quota_policy_id AND execution_id = :execution_id;

-- Gives the places back whose time is over.
-- name: quota_admitted_prune :rows
-- both
DELETE FROM ff_quota_admitted
 WHERE partition_key = :partition_key AND quota_policy_id = :quota_policy_id AND expires_at_ms <= :now_ms;

-- Counts the places that are held.
-- name: quota_admitted_count :one
-- both
-- column: admitted_count i64
SELECT count(*) AS admitted_count FROM ff_quota_admitted AS admitted
 WHERE admitted.partition_key = :partition_key AND admitted.quota_policy_id = :quota_policy_id;

-- Counts what a quota policy has admitted since a time, and the places under it that are held.
-- name: quota_use_read :one
-- both
-- column: admitted_count i64, held_count i64
SELECT (SELECT count(*) FROM ff_quota_window AS entry
         WHERE entry.partition_key = :partition_key AND entry.quota_policy_id = :quota_policy_id
           AND entry.admitted_at_ms >= :cutoff_ms) AS admitted_count,
       (SELECT count(*) FROM ff_quota_admitted AS held
         WHERE held.partition_key = :partition_key AND held.quota_policy_id = :quota_policy_id
           AND held.expires_at_ms > :now_ms) AS held_count;

-- Forgets admissions whose time is over under limits that no policy stores.
-- name: quota_stray_admitted_delete :rows
WITH oldest AS (
  SELECT old.quota_policy_id, old.execution_id FROM ff_quota_admitted AS old
   WHERE old.partition_key = :partition_key AND old.expires_at_ms <= :now_ms
     AND NOT EXISTS (SELECT 1 FROM ff_quota_policy AS policy
                      WHERE policy.partition_key = :partition_key AND policy.quota_policy_id = old.quota_policy_id)
   ORDER BY old.expires_at_ms, old.quota_policy_id, old.execution_id LIMIT :page_size
)
DELETE FROM ff_quota_admitted
 WHERE partition_key = :partition_key
   AND (quota_policy_id, execution_id) IN (SELECT oldest.quota_policy_id, oldest.execution_id FROM oldest);

-- Forgets what was admitted before a time in a window that no policy stores.
-- name: quota_stray_window_delete :rows
WITH oldest AS (
  SELECT old.quota_policy_id, old.dimension, old.admitted_at_ms, old.execution_id FROM ff_quota_window AS old
   WHERE old.partition_key = :partition_key AND old.admitted_at_ms < :before_ms
     AND NOT EXISTS (SELECT 1 FROM ff_quota_policy AS policy
                      WHERE policy.partition_key = :partition_key AND policy.quota_policy_id = old.quota_policy_id
                        AND policy.requests_per_window_seconds > 0)
   ORDER BY old.quota_policy_id, old.dimension, old.admitted_at_ms, old.execution_id LIMIT :page_size
)
DELETE FROM ff_quota_window
 WHERE partition_key = :partition_key
   AND (quota_policy_id, dimension, admitted_at_ms, execution_id)
       IN (SELECT oldest.quota_policy_id, oldest.dimension, oldest.admitted_at_ms, oldest.execution_id FROM oldest);
