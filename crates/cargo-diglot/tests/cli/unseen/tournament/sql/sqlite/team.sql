-- name: team_seeded :many
SELECT id, name, seed FROM team ORDER BY coalesce(seed, 1000), name;

-- name: team_old :many
-- param: year i64
SELECT id FROM team WHERE json_extract(meta, '$.founded') < :year ORDER BY id;

-- name: team_colors :many
SELECT c.value AS color, count(*) AS n FROM team t, json_each(t.meta, '$.colors') AS c GROUP BY c.value ORDER BY c.value;

-- name: team_withdraw :rows
DELETE FROM team WHERE id = :id;

-- name: team_squads :many
SELECT t.id, (SELECT group_concat(name, ', ') FROM (SELECT p.name FROM player p WHERE p.team_id = t.id ORDER BY p.number)) AS squad
  FROM team t ORDER BY t.id;

-- name: team_near :many
SELECT id FROM team WHERE city = :city ORDER BY id;

-- name: team_recolor :rows
-- param: meta json
UPDATE team SET meta = json_patch(meta, :meta) WHERE id = :id;

-- name: team_color_first :many
SELECT id, json_extract(meta, '$.colors[0]') AS color FROM team ORDER BY id;

-- name: team_search :many
-- param: word text
SELECT id FROM team WHERE instr(name, :word) > 0 ORDER BY id;
