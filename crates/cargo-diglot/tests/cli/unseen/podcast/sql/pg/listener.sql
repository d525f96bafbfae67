-- name: listener_countries :one
SELECT string_agg(DISTINCT country, ', ' ORDER BY country) AS countries FROM listener;

-- name: listener_idle :many
SELECT id FROM listener EXCEPT SELECT listener_id FROM play ORDER BY id;

-- name: listener_by_plan :many
SELECT l.id, l.plan
  FROM listener l JOIN (VALUES ('pro', 1), ('plus', 2), ('free', 3)) AS o (plan, place) ON o.plan = l.plan
 ORDER BY o.place, l.id;

-- name: listener_register :opt
INSERT INTO listener (id, handle, plan, joined_at) VALUES (:id, :handle, :plan, :now)
ON CONFLICT (handle) DO NOTHING
RETURNING id;

-- name: listener_invite :exec
INSERT INTO listener (id, handle, plan, joined_at) VALUES (:id, :handle, 'free', :now)
ON CONFLICT DO NOTHING;

-- name: listener_edit :rows
-- param: email text null
UPDATE listener SET email = :email, plan = :plan WHERE id = :id;

-- name: listener_abroad :many
SELECT id FROM listener WHERE country <> :country ORDER BY id;

-- name: listener_short :many
SELECT id, left(handle, 4) AS short FROM listener ORDER BY id;
