-- name: listener_countries :one
SELECT group_concat(country, ', ') AS countries
  FROM (SELECT DISTINCT country FROM listener WHERE country IS NOT NULL ORDER BY country);

-- name: listener_idle :many
SELECT l.id FROM listener l LEFT JOIN play p ON p.listener_id = l.id WHERE p.id IS NULL ORDER BY l.id;

-- name: listener_by_plan :many
SELECT id, plan FROM listener
 ORDER BY CASE plan WHEN 'pro' THEN 1 WHEN 'plus' THEN 2 ELSE 3 END, id;

-- name: listener_register :opt
INSERT INTO listener (id, handle, plan, joined_at) VALUES (:id, :handle, :plan, :now)
ON CONFLICT (handle) DO NOTHING
RETURNING id;

-- name: listener_invite :exec
INSERT INTO listener (id, handle, plan, joined_at) VALUES (:id, :handle, 'free', :now)
ON CONFLICT (handle) DO NOTHING;

-- name: listener_edit :rows
-- param: email text null
UPDATE listener SET email = COALESCE(:email, email), plan = :plan WHERE id = :id;

-- name: listener_abroad :many
SELECT id FROM listener WHERE country IS NOT :country ORDER BY id;

-- name: listener_short :many
SELECT id, substr(handle, 1, 3) AS short FROM listener ORDER BY id;
