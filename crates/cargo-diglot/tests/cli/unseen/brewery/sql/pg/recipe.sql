-- name: recipe_hoppy :many
SELECT id, name FROM recipe WHERE hops -> 1 IS NOT NULL ORDER BY name;

-- name: recipe_citra :many
SELECT id FROM recipe WHERE hops ? 'citra' ORDER BY id;

-- name: recipe_bill :many
SELECT id, (SELECT string_agg(h, ', ' ORDER BY h) FROM jsonb_array_elements_text(hops) AS t (h)) AS bill FROM recipe ORDER BY id;

-- name: recipe_rename :rows
UPDATE recipe SET name = :name WHERE id = :id AND :name <> ALL (SELECT name FROM recipe WHERE id <> :id);

-- name: recipe_by_style :many
SELECT id, name FROM recipe ORDER BY array_position(ARRAY['stout', 'ale', 'lager'], style), name;

-- name: recipe_unused :many
SELECT r.id FROM recipe r WHERE NOT EXISTS (SELECT 1 FROM batch b WHERE b.recipe_id = r.id AND b.state <> 'dumped') ORDER BY r.id;
