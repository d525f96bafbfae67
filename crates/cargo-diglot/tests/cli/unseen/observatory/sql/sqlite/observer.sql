-- name: observer_register :opt
-- param: institute text null
INSERT INTO observer (id, handle, name, institute, joined_at) VALUES (:id, :handle, :name, :institute, :now)
ON CONFLICT (handle) DO UPDATE SET name = excluded.name, institute = coalesce(excluded.institute, institute)
RETURNING id, institute, quota_minutes;

-- name: observer_list :many
SELECT id, handle FROM observer WHERE institute IS NOT NULL ORDER BY handle;

-- name: observer_left :many
SELECT o.id, o.quota_minutes - coalesce(sum(e.seconds), 0) / 60 AS minutes
  FROM observer o LEFT JOIN exposure e ON e.observer_id = o.id AND NOT e.rejected
 GROUP BY o.id, o.quota_minutes ORDER BY o.id;

-- name: observer_drop :rows
DELETE FROM observer WHERE joined_at < :before AND id NOT IN (SELECT observer_id FROM exposure WHERE observer_id IS NOT NULL);

-- name: observer_names :many
SELECT id, handle FROM observer ORDER BY handle;

-- name: observer_used :many
SELECT o.id, o.quota_minutes - coalesce(sum(e.seconds), 0) / 60 AS minutes
  FROM observer o LEFT JOIN exposure e ON e.observer_id = o.id
 GROUP BY o.id, o.quota_minutes ORDER BY o.id;

-- name: observer_seniors :many
SELECT id FROM observer WHERE joined_at <= strftime('%Y-%m-%dT%H:%M:%SZ', :now, '-1 year') ORDER BY id;
