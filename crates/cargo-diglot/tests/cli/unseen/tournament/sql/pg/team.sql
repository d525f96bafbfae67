-- name: team_seeded :many
SELECT id, name, seed FROM team ORDER BY seed ASC NULLS LAST, name;

-- name: team_old :many
-- param: year i64
SELECT id FROM team WHERE (meta ->> 'founded')::bigint < :year ORDER BY id;

-- name: team_colors :many
SELECT c.color, count(*) AS n FROM team t CROSS JOIN LATERAL jsonb_array_elements_text(t.meta -> 'colors') AS c (color)
 GROUP BY c.color ORDER BY c.color;

-- name: team_withdraw :rows
DELETE FROM team WHERE id = :id;

-- name: team_squads :many
SELECT t.id, string_agg(p.name, ', ' ORDER BY p.number) AS squad
  FROM team t LEFT JOIN player p ON p.team_id = t.id GROUP BY t.id ORDER BY t.id;

-- name: team_near :many
SELECT id FROM team WHERE COALESCE(city, '') = :city ORDER BY id;

-- name: team_recolor :rows
-- param: meta json
UPDATE team SET meta = meta || :meta::jsonb WHERE id = :id;

-- name: team_color_first :many
SELECT id, meta -> 'colors' ->> -1 AS color FROM team ORDER BY id;

-- name: team_search :many
-- param: word text
SELECT id FROM team WHERE name COLLATE "C" ILIKE '%' || :word || '%' ORDER BY id;
