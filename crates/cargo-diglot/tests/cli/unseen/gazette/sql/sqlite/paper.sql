-- name: paper_span :many
-- param: year i32
SELECT id, coalesce(closed, :year) - founded AS years FROM paper WHERE founded <= :year ORDER BY id;

-- name: paper_issues :many
SELECT p.id, (SELECT json_group_array(json_object('number', i.number, 'pages', i.pages)) FROM
  (SELECT number, pages FROM issue WHERE paper_id = p.id AND withdrawn = 0 ORDER BY number) i) AS issues FROM paper p ORDER BY p.id;

-- name: paper_alive :many
-- param: year i32
SELECT id, title FROM paper WHERE founded <= :year AND coalesce(closed, 9999) >= :year ORDER BY id;

-- name: paper_dailies :many
SELECT id FROM paper WHERE coalesce(json_extract(meta, '$.daily'), 1) = 1 ORDER BY id;

-- name: paper_translate :rows
UPDATE paper SET meta = json_set(meta, '$.language', :language) WHERE id = :id;
