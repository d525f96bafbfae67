-- name: target_descendants :many
WITH RECURSIVE tree (id, depth) AS (
  SELECT id, 0::bigint FROM target WHERE id = :root
  UNION ALL
  SELECT t.id, tree.depth + 1 FROM target t, tree WHERE tree.id = t.parent_id
)
SELECT id, depth FROM tree ORDER BY depth, id;

-- name: target_bright :many
-- param: skip i64, most i64
SELECT id, magnitude FROM target ORDER BY magnitude DESC NULLS LAST, id OFFSET :skip LIMIT :most;

-- name: target_tags :many
SELECT g.tag, count(DISTINCT t.id) AS n FROM target t, jsonb_array_elements_text(t.tags) AS g (tag)
 GROUP BY g.tag ORDER BY n DESC, g.tag COLLATE "C";

-- name: target_untag :rows
-- param: tag text
UPDATE target SET tags = tags - :tag::text WHERE id = :id;

-- name: target_search :many
-- param: part text
SELECT id, name FROM target
 WHERE name COLLATE "C" ILIKE '%' || replace(replace(replace(:part, '\', '\\'), '%', '\%'), '_', '\_') || '%'
 ORDER BY id;

-- name: target_label :many
SELECT id, concat_ws(' ', catalog, name) AS label FROM target ORDER BY id;

-- name: target_ancestry :many
WITH RECURSIVE tree (id) AS (
  SELECT id FROM target WHERE parent_id = :root
  UNION ALL
  SELECT t.id FROM target t JOIN tree ON t.parent_id = tree.id
)
SELECT t.id, t.name FROM target t JOIN tree ON tree.id = t.id ORDER BY t.id;

-- name: target_faintest :many
SELECT id FROM target ORDER BY magnitude DESC, id LIMIT 3;

-- name: target_tagged :many
-- param: tags text[]
SELECT id FROM target WHERE tags ?| :tags ORDER BY id;

-- name: target_degrees :many
SELECT id, floor(dec)::bigint AS degrees FROM target ORDER BY id;

-- name: target_matching :many
-- param: pattern text
SELECT id FROM target WHERE name COLLATE "C" ILIKE :pattern ORDER BY id;

-- name: target_title :many
SELECT id, concat_ws(' ', catalog, name) AS title FROM target ORDER BY id;

-- name: target_add :exec
INSERT INTO target (id, name, dec, ra) VALUES (:id, :name, :ra, :dec);
