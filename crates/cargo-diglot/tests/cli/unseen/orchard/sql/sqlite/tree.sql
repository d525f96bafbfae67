-- name: tree_rows :many
SELECT row_no, count(*) AS n FROM tree WHERE felled_on IS NULL GROUP BY row_no HAVING count(*) >= 2 ORDER BY row_no;

-- name: tree_ages :many
-- param: day date
SELECT id, CAST(strftime('%Y', :day) AS INTEGER) - CAST(strftime('%Y', planted_on) AS INTEGER) AS years
  FROM tree WHERE planted_on <= :day ORDER BY id;

-- name: tree_weekday :many
SELECT id, CAST(strftime('%w', planted_on) AS INTEGER) AS d FROM tree ORDER BY id;

-- name: tree_ancestry :many
WITH RECURSIVE line (id) AS (
  SELECT graft_of FROM tree WHERE id = :id AND graft_of IS NOT NULL
  UNION
  SELECT t.graft_of FROM line l JOIN tree t ON t.id = l.id WHERE t.graft_of IS NOT NULL
)
SELECT t.id, t.variety FROM line l JOIN tree t ON t.id = l.id ORDER BY t.id;

-- name: tree_fell :opt
DELETE FROM tree WHERE id = :id AND NOT EXISTS (SELECT 1 FROM pick WHERE pick.tree_id = tree.id) RETURNING id;

-- name: tree_tagged :many
SELECT id FROM tree WHERE EXISTS (SELECT 1 FROM json_each(marks, '$.tags') WHERE value = :tag) ORDER BY id;

-- name: tree_sick :many
SELECT id, row_no FROM tree WHERE json_extract(marks, '$.sick') = 1 AND felled_on IS NULL ORDER BY id;

-- name: tree_short :many
SELECT id, height_cm FROM tree WHERE variety = :variety ORDER BY height_cm, id LIMIT 3;

-- name: tree_metres :many
SELECT id, CAST(round(height_cm / 100.0) AS INTEGER) AS metres FROM tree WHERE height_cm IS NOT NULL ORDER BY id;

-- name: tree_anniversary :many
-- param: day date
SELECT id FROM tree WHERE strftime('%m-%d', planted_on) = strftime('%m-%d', :day) ORDER BY id;

-- name: tree_week :many
SELECT id, CAST(strftime('%W', planted_on) AS INTEGER) AS week FROM tree ORDER BY id;

-- name: tree_mark :rows
UPDATE tree SET marks = json_set(marks, '$.grade', :grade) WHERE row_no = :row_no;

-- name: tree_merge :rows
-- param: patch json
UPDATE tree SET marks = json_patch(marks, :patch) WHERE id = :id;

-- name: tree_rank :many
SELECT id, rank() OVER (PARTITION BY variety ORDER BY height_cm) AS place FROM tree WHERE height_cm IS NOT NULL ORDER BY id;
