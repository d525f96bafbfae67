-- name: zone_paths :many
WITH RECURSIVE z (id, path, depth) AS (
  SELECT id, name, 1 FROM zone WHERE parent_id IS NULL
  UNION ALL
  SELECT c.id, z.path || '/' || c.name, z.depth + 1 FROM zone c JOIN z ON c.parent_id = z.id WHERE z.depth < 5
)
SELECT id, path FROM z ORDER BY id;

-- name: zone_leaves :many
SELECT z.id, z.name FROM zone z LEFT JOIN zone c ON c.parent_id = z.id WHERE c.id IS NULL ORDER BY z.name;

-- name: zone_crowded :many
SELECT id FROM zone WHERE population > (SELECT avg(population) FROM zone) ORDER BY id;
