-- name: target_descendants :many
WITH RECURSIVE tree (id, depth) AS (
  SELECT id, 0 FROM target WHERE id = :root
  UNION ALL
  SELECT t.id, tree.depth + 1 FROM tree JOIN target t ON t.parent_id = tree.id
)
SELECT id, depth FROM tree ORDER BY depth, id;

-- name: target_bright :many
-- param: skip i64, most i64
SELECT id, magnitude FROM target ORDER BY magnitude DESC, id LIMIT :most OFFSET :skip;

-- name: target_tags :many
SELECT g.value AS tag, count(DISTINCT t.id) AS n FROM target t JOIN json_each(t.tags) AS g GROUP BY g.value ORDER BY n DESC, tag;

-- name: target_untag :rows
-- param: tag text
UPDATE target SET tags = (SELECT json_group_array(value) FROM json_each(target.tags) WHERE value <> :tag) WHERE id = :id;

-- name: target_search :many
-- param: part text
SELECT id, name FROM target
 WHERE name LIKE '%' || replace(replace(replace(:part, '\', '\\'), '%', '\%'), '_', '\_') || '%' ESCAPE '\'
 ORDER BY id;

-- name: target_label :many
SELECT id, CASE WHEN catalog IS NULL THEN name ELSE catalog || ' ' || name END AS label FROM target ORDER BY id;

-- name: target_ancestry :many
WITH RECURSIVE tree (id) AS (
  SELECT id FROM target WHERE id = :root
  UNION ALL
  SELECT t.id FROM target t JOIN tree ON t.parent_id = tree.id
)
SELECT t.id, t.name FROM target t JOIN tree ON tree.id = t.id ORDER BY t.id;

-- name: target_faintest :many
SELECT id FROM target ORDER BY magnitude DESC, id LIMIT 3;

-- name: target_tagged :many
-- param: tags text[]
SELECT id FROM target
 WHERE NOT EXISTS (SELECT 1 FROM json_each(:tags) AS w WHERE w.value NOT IN (SELECT g.value FROM json_each(target.tags) AS g))
 ORDER BY id;

-- name: target_degrees :many
SELECT id, CAST(dec AS INTEGER) AS degrees FROM target ORDER BY id;

-- name: target_matching :many
-- param: pattern text
SELECT id FROM target WHERE name LIKE :pattern ORDER BY id;

-- name: target_title :many
SELECT id, coalesce(catalog, '') || ' ' || name AS title FROM target ORDER BY id;

-- name: target_add :exec
INSERT INTO target (id, name, ra, dec) VALUES (:id, :name, :ra, :dec);
