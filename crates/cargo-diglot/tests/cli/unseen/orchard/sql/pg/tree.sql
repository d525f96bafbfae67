-- name: tree_rows :many
SELECT row_no, n FROM (SELECT row_no, count(*) AS n FROM tree WHERE felled_on IS NULL GROUP BY row_no) AS r
 WHERE n > 1 ORDER BY row_no;

-- name: tree_ages :many
-- param: day date
SELECT id, (extract(year FROM :day::date) - extract(year FROM planted_on))::bigint AS years
  FROM tree WHERE planted_on <= :day ORDER BY id;

-- name: tree_weekday :many
SELECT id, extract(dow FROM planted_on)::bigint AS d FROM tree ORDER BY id;

-- name: tree_ancestry :many
WITH RECURSIVE line (id, up) AS (
  SELECT id, graft_of FROM tree WHERE id = (SELECT graft_of FROM tree WHERE id = :id)
  UNION
  SELECT t.id, t.graft_of FROM line l JOIN tree t ON t.id = l.up
)
SELECT t.id, t.variety FROM tree t WHERE t.id IN (SELECT id FROM line) ORDER BY t.id;

-- name: tree_fell :opt
DELETE FROM tree WHERE id = :id AND id NOT IN (SELECT tree_id FROM pick) RETURNING id;

-- name: tree_tagged :many
SELECT id FROM tree WHERE marks -> 'tags' ? :tag ORDER BY id;

-- name: tree_sick :many
SELECT id, row_no FROM tree WHERE (marks ->> 'sick')::boolean AND felled_on IS NULL ORDER BY id;

-- name: tree_short :many
SELECT id, height_cm FROM tree WHERE variety = :variety ORDER BY height_cm, id LIMIT 3;

-- name: tree_metres :many
SELECT id, round(height_cm / 100.0::double precision)::bigint AS metres FROM tree WHERE height_cm IS NOT NULL ORDER BY id;

-- name: tree_anniversary :many
-- param: day date
SELECT id FROM tree WHERE extract(doy FROM planted_on) = extract(doy FROM :day::date) ORDER BY id;

-- name: tree_week :many
SELECT id, extract(week FROM planted_on)::bigint AS week FROM tree ORDER BY id;

-- name: tree_mark :rows
UPDATE tree SET marks = jsonb_set(marks, '{grade}', to_jsonb(:grade::bigint), false) WHERE row_no = :row_no;

-- name: tree_merge :rows
-- param: patch json
UPDATE tree SET marks = marks || :patch::jsonb WHERE id = :id;

-- name: tree_rank :many
SELECT id, dense_rank() OVER (PARTITION BY variety ORDER BY height_cm) AS place FROM tree WHERE height_cm IS NOT NULL ORDER BY id;
