-- name: picker_label :many
SELECT id, coalesce(nullif(trim(nick), ''), name) AS label FROM picker ORDER BY id;

-- name: picker_find :many
SELECT id FROM picker WHERE instr(name, :part) > 0 ORDER BY id;

-- name: picker_search :many
SELECT id, name FROM picker WHERE name LIKE '%' || :part || '%' ORDER BY id;

-- name: picker_first :many
SELECT id, substr(name, 1, instr(name, ' ') - 1) AS first FROM picker ORDER BY id;

-- name: picker_drop :rows
DELETE FROM picker WHERE id = :id AND id NOT IN (SELECT picker_id FROM pick);
