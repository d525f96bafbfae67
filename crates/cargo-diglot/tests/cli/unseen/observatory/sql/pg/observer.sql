-- name: observer_register :opt
-- param: institute text null
INSERT INTO observer AS o (id, handle, name, institute, joined_at) VALUES (:id, :handle, :name, :institute, :now)
ON CONFLICT (handle) DO UPDATE SET name = EXCLUDED.name, institute = COALESCE(EXCLUDED.institute, o.institute)
RETURNING id, institute, quota_minutes;

-- name: observer_list :many
SELECT id, handle FROM observer WHERE institute IS NOT NULL ORDER BY handle COLLATE "C";

-- name: observer_left :many
SELECT o.id, o.quota_minutes - COALESCE((SELECT sum(e.seconds) FROM exposure e WHERE e.observer_id = o.id AND NOT e.rejected), 0)::bigint / 60 AS minutes
  FROM observer o ORDER BY o.id;

-- name: observer_drop :rows
DELETE FROM observer o WHERE o.joined_at < :before AND NOT EXISTS (SELECT 1 FROM exposure e WHERE e.observer_id = o.id);

-- name: observer_names :many
SELECT id, handle FROM observer ORDER BY handle;

-- name: observer_used :many
SELECT o.id, (o.quota_minutes - COALESCE(sum(e.seconds), 0) / 60)::bigint AS minutes
  FROM observer o LEFT JOIN exposure e ON e.observer_id = o.id
 GROUP BY o.id, o.quota_minutes ORDER BY o.id;

-- name: observer_seniors :many
SELECT id FROM observer WHERE joined_at <= :now::timestamptz - interval '365 days' ORDER BY id;
