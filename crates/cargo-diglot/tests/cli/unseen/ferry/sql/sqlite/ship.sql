-- name: ship_named :many
SELECT id FROM ship WHERE name = :name COLLATE NOCASE ORDER BY id;

-- name: ship_century :many
SELECT id, (built + 99) / 100 AS century FROM ship ORDER BY id;

-- name: ship_idle :many
SELECT id, name FROM ship s WHERE retired = 0 AND NOT EXISTS (SELECT 1 FROM sailing WHERE ship_id = s.id) ORDER BY id;

-- name: ship_flag_count :many
SELECT id, coalesce(json_array_length(spec, '$.flags'), 0) AS n FROM ship ORDER BY id;

-- name: ship_fuel :many
SELECT id, coalesce(json_extract(spec, '$.fuel'), 'oil') AS fuel FROM ship ORDER BY id;

-- name: ship_big :many
SELECT id, capacity FROM ship WHERE retired = 0 ORDER BY capacity DESC, id LIMIT 2;

-- name: ship_plain_name :many
SELECT id, ltrim(name, 'MS ') AS plain FROM ship ORDER BY id;

-- name: ship_sorted :many
SELECT id, name FROM ship ORDER BY name COLLATE NOCASE, id;

-- name: ship_flag_first :many
SELECT id FROM ship WHERE json_extract(spec, '$.flags[0]') = :flag ORDER BY id;
