-- name: ship_named :many
SELECT id FROM ship WHERE lower(name) = lower(:name) ORDER BY id;

-- name: ship_century :many
SELECT id, ceil(built / 100.0)::bigint AS century FROM ship ORDER BY id;

-- name: ship_idle :many
SELECT s.id, s.name FROM ship s LEFT JOIN sailing x ON x.ship_id = s.id WHERE NOT s.retired AND x.id IS NULL ORDER BY s.id;

-- name: ship_flag_count :many
SELECT id, CASE WHEN spec ? 'flags' THEN jsonb_array_length(spec -> 'flags') ELSE 0 END AS n FROM ship ORDER BY id;

-- name: ship_fuel :many
SELECT id, COALESCE(spec ->> 'fuel', 'oil') AS fuel FROM ship ORDER BY id;

-- name: ship_big :many
SELECT id, capacity FROM ship WHERE NOT retired ORDER BY capacity DESC LIMIT 2;

-- name: ship_plain_name :many
SELECT id, regexp_replace(name, '^MS ', '') AS plain FROM ship ORDER BY id;

-- name: ship_sorted :many
SELECT id, name FROM ship ORDER BY name, id;

-- name: ship_flag_first :many
SELECT id FROM ship WHERE spec -> 'flags' ? :flag ORDER BY id;
