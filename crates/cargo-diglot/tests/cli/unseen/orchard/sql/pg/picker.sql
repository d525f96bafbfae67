-- name: picker_label :many
SELECT id, CASE WHEN btrim(nick) <> '' THEN btrim(nick) ELSE name END AS label FROM picker ORDER BY id;

-- name: picker_find :many
SELECT id FROM picker WHERE strpos(name, :part) > 0 ORDER BY id;

-- name: picker_search :many
SELECT id, name FROM picker WHERE name LIKE '%' || :part || '%' ORDER BY id;

-- name: picker_first :many
SELECT id, split_part(name, ' ', 1) AS first FROM picker ORDER BY id;

-- name: picker_drop :rows
DELETE FROM picker WHERE id = :id AND NOT EXISTS (SELECT 1 FROM pick WHERE pick.picker_id = picker.id);
