-- name: reporter_team :many
WITH RECURSIVE team (id) AS (
  SELECT id FROM reporter WHERE boss_id = :boss
  UNION
  SELECT r.id FROM reporter r JOIN team t ON r.boss_id = t.id
)
SELECT r.id, r.name FROM reporter r WHERE r.id IN (SELECT id FROM team) AND r.id <> :boss ORDER BY r.name, r.id;

-- name: reporter_silent :many
SELECT id FROM reporter EXCEPT SELECT reporter_id FROM article WHERE deleted_at IS NULL ORDER BY 1;

-- name: reporter_dismiss :rows
DELETE FROM reporter WHERE id = :id;

-- name: reporter_others :many
SELECT id FROM reporter WHERE boss_id <> :boss AND left_at IS NULL ORDER BY id;

-- name: reporter_bylines :many
SELECT id, coalesce(pen_name, name) AS byline FROM reporter ORDER BY id;

-- name: reporter_rehire :rows
INSERT INTO reporter (id, name, hired_at) VALUES (:id, :name, :now)
ON CONFLICT (id) DO UPDATE SET hired_at = excluded.hired_at, left_at = NULL;
