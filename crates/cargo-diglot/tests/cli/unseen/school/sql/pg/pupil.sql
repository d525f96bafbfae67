-- name: pupil_birthdays :many
-- param: day date
SELECT id, name FROM pupil WHERE to_char(born_on, 'MM-DD') = to_char(:day::date, 'MM-DD') ORDER BY id;

-- name: pupil_age :many
-- param: day date
SELECT id, extract(year FROM age(:day::date, born_on))::bigint AS years FROM pupil WHERE born_on <= :day::date ORDER BY id;

-- name: pupil_vegetarian :many
SELECT id FROM pupil WHERE (doc ->> 'vegetarian')::boolean ORDER BY id;

-- name: pupil_allergic :many
-- param: what text
SELECT id FROM pupil WHERE doc -> 'allergies' ->> 0 = :what ORDER BY id;

-- name: pupil_award :rows
-- param: n i32
UPDATE pupil SET points = GREATEST(LEAST(points + :n, 1000), -1000) WHERE id = :id;

-- name: pupil_house_rank :many
SELECT id, house, dense_rank() OVER (PARTITION BY house ORDER BY points DESC) AS place FROM pupil WHERE house IS NOT NULL
 ORDER BY house, place, id;

-- name: pupil_house_top :many
SELECT id, house FROM (
  SELECT id, house, rank() OVER (PARTITION BY house ORDER BY points DESC) AS place FROM pupil WHERE house IS NOT NULL
) ranked WHERE place = 1 ORDER BY house, id;

-- name: pupil_find :many
-- param: q text
SELECT id, name FROM pupil WHERE position(lower(:q) IN lower(name)) > 0 ORDER BY name, id;

-- name: pupil_called :many
-- param: q text
SELECT id, name FROM pupil WHERE name ILIKE :q || '%' ORDER BY id;

-- name: pupil_nickname :many
SELECT id, CASE WHEN doc ? 'nickname' THEN doc ->> 'nickname' ELSE name END AS called FROM pupil ORDER BY id;

-- name: pupil_nick_set :rows
UPDATE pupil SET doc = doc || jsonb_build_object('nickname', :nickname::text) WHERE id = :id;

-- name: pupil_ending :many
SELECT id, substr(name, -2) AS ending FROM pupil ORDER BY id;

-- name: pupil_houses :many
SELECT lower(house) AS house, count(*) AS n FROM pupil WHERE house IS NOT NULL GROUP BY house ORDER BY 1;
