-- name: pupil_birthdays :many
-- param: day date
SELECT id, name FROM pupil WHERE strftime('%m-%d', born_on) = strftime('%m-%d', :day) ORDER BY id;

-- name: pupil_age :many
-- param: day date
SELECT id, strftime('%Y', :day) - strftime('%Y', born_on) - (strftime('%m-%d', :day) < strftime('%m-%d', born_on)) AS years
  FROM pupil WHERE born_on <= :day ORDER BY id;

-- name: pupil_vegetarian :many
SELECT id FROM pupil WHERE json_extract(doc, '$.vegetarian') = 1 ORDER BY id;

-- name: pupil_allergic :many
-- param: what text
SELECT id FROM pupil WHERE EXISTS (SELECT 1 FROM json_each(pupil.doc, '$.allergies') a WHERE a.value = :what) ORDER BY id;

-- name: pupil_award :rows
-- param: n i32
UPDATE pupil SET points = max(-1000, min(1000, points + :n)) WHERE id = :id;

-- name: pupil_house_rank :many
SELECT id, house, rank() OVER (PARTITION BY house ORDER BY points DESC) AS place FROM pupil WHERE house IS NOT NULL
 ORDER BY house, place, id;

-- name: pupil_house_top :many
SELECT id, house FROM pupil p
 WHERE house IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pupil o WHERE o.house = p.house AND o.points > p.points)
 ORDER BY house, id;

-- name: pupil_find :many
-- param: q text
SELECT id, name FROM pupil WHERE instr(lower(name), lower(:q)) > 0 ORDER BY name, id;

-- name: pupil_called :many
-- param: q text
SELECT id, name FROM pupil WHERE name LIKE :q || '%' ORDER BY id;

-- name: pupil_nickname :many
SELECT id, coalesce(doc ->> '$.nickname', name) AS called FROM pupil ORDER BY id;

-- name: pupil_nick_set :rows
UPDATE pupil SET doc = json_set(doc, '$.nickname', :nickname) WHERE id = :id;

-- name: pupil_ending :many
SELECT id, substr(name, -2) AS ending FROM pupil ORDER BY id;

-- name: pupil_houses :many
SELECT lower(house) AS house, count(*) AS n FROM pupil WHERE house IS NOT NULL GROUP BY lower(house) ORDER BY 1;
