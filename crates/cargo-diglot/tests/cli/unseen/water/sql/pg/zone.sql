-- name: zone_paths :many
WITH RECURSIVE z AS (
  SELECT r.id, r.name AS path, 5 AS left_over FROM zone r WHERE NOT EXISTS (SELECT 1 FROM zone p WHERE p.id = r.parent_id)
  UNION ALL
  SELECT c.id, concat_ws('/', z.path, c.name), z.left_over - 1 FROM z, zone c WHERE c.parent_id = z.id AND z.left_over > 1
)
SELECT id, path FROM z ORDER BY id;

-- name: zone_leaves :many
SELECT id, name FROM zone WHERE id <> ALL (SELECT parent_id FROM zone WHERE parent_id IS NOT NULL) ORDER BY name;

-- name: zone_crowded :many
SELECT id FROM zone WHERE population >= (SELECT avg(population) FROM zone) ORDER BY id;
