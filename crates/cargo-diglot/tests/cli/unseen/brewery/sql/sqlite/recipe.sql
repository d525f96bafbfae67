-- name: recipe_hoppy :many
SELECT id, name FROM recipe WHERE json_array_length(hops) >= 2 ORDER BY name;

-- name: recipe_citra :many
SELECT id FROM recipe WHERE 'citra' IN (SELECT value FROM json_each(recipe.hops)) ORDER BY id;

-- name: recipe_bill :many
SELECT id, (SELECT group_concat(value, ', ') FROM json_each(recipe.hops)) AS bill FROM recipe ORDER BY id;

-- name: recipe_rename :rows
UPDATE recipe SET name = :name WHERE id = :id AND NOT EXISTS (SELECT 1 FROM recipe o WHERE o.name = :name AND o.id <> :id);

-- name: recipe_by_style :many
SELECT id, name FROM recipe ORDER BY CASE style WHEN 'stout' THEN 0 WHEN 'ale' THEN 1 ELSE 2 END, name;

-- name: recipe_unused :many
SELECT id FROM recipe EXCEPT SELECT recipe_id FROM batch ORDER BY 1;
