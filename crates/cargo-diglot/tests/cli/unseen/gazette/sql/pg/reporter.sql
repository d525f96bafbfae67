-- name: reporter_team :many
WITH RECURSIVE team AS (
  SELECT id, name FROM reporter WHERE boss_id = :boss
  UNION
  SELECT r.id, r.name FROM team t, reporter r WHERE r.boss_id = t.id
)
SELECT id, name FROM team WHERE id <> :boss ORDER BY name, id;

-- name: reporter_silent :many
SELECT r.id FROM reporter r WHERE NOT EXISTS (SELECT FROM article a WHERE a.reporter_id = r.id AND a.deleted_at IS NULL) ORDER BY r.id;

-- name: reporter_dismiss :rows
WITH gone AS (DELETE FROM article WHERE reporter_id = :id)
DELETE FROM reporter WHERE id = :id;

-- name: reporter_others :many
SELECT id FROM reporter WHERE boss_id IS DISTINCT FROM :boss AND left_at IS NULL ORDER BY id;

-- name: reporter_bylines :many
SELECT id, COALESCE(NULLIF(pen_name, ''), name) AS byline FROM reporter ORDER BY id;

-- name: reporter_rehire :rows
INSERT INTO reporter (id, name, hired_at) VALUES (:id, :name, :now)
ON CONFLICT (id) DO UPDATE SET hired_at = EXCLUDED.hired_at;
