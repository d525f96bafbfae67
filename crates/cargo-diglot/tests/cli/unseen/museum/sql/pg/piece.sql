-- name: piece_tree :many
WITH RECURSIVE t AS (SELECT id, title FROM piece WHERE id = :root UNION SELECT p.id, p.title FROM piece p, t WHERE p.part_of = t.id)
  SELECT id, title FROM t ORDER BY id;

-- name: piece_listed :many
-- param: ids i64[]
SELECT id, title FROM piece WHERE id = ANY(:ids) ORDER BY id;

-- name: piece_search :many
-- param: q text
SELECT id, title FROM piece WHERE position(lower(:q) IN lower(title)) > 0 ORDER BY title, id;

-- name: piece_keyword :many
-- param: word text
SELECT id FROM piece WHERE keywords ? :word ORDER BY id;

-- name: piece_untag :rows
-- param: word text
UPDATE piece SET keywords = keywords - :word::text WHERE id = :id;

-- name: piece_centuries :many
SELECT (facts ->> 'year')::bigint / 100 AS century, count(*) AS n FROM piece WHERE (facts ->> 'year') IS NOT NULL GROUP BY 1 ORDER BY 1;

-- name: piece_unsigned :many
SELECT id FROM piece WHERE facts -> 'signed' IS DISTINCT FROM 'true'::jsonb ORDER BY id;

-- name: piece_ranks :many
SELECT p.id, 1 + (SELECT count(*) FROM piece o WHERE o.state = p.state AND (o.worth > p.worth OR p.worth IS NULL
  AND o.worth IS NOT NULL)) AS place FROM piece p ORDER BY p.id;

-- name: piece_kilos :many
SELECT id, (grams / 1000)::text || '.' || lpad((grams % 1000)::text, 3, '0') AS kilos FROM piece ORDER BY id;

-- name: piece_move :opt
-- param: room text null
UPDATE piece SET room_code = :room, state = COALESCE(CASE WHEN :room::text IS NOT NULL THEN 'shown' END, 'stored'), revision = revision + 1
  WHERE id = :id AND revision = :revision RETURNING revision;

-- name: piece_remove :rows
DELETE FROM piece WHERE id = :id AND state NOT IN ('shown', 'lent');

-- name: piece_label :many
SELECT id, concat(title, ' / ', room_code) AS label FROM piece ORDER BY id;

-- name: piece_total :one
SELECT COALESCE(sum(worth), 0) AS worth FROM piece WHERE state <> 'lent';

-- name: piece_signed :many
SELECT id FROM piece WHERE facts ->> 'signed' = 'true' ORDER BY id;

-- name: piece_makers :many
SELECT id FROM piece WHERE facts ->> 'maker' LIKE 'van %' ORDER BY id;

-- name: piece_words :many
SELECT id, array_length(string_to_array(title, ' '), 1) AS words FROM piece ORDER BY id;

-- name: piece_heavy :many
SELECT id FROM piece WHERE grams > ALL (SELECT grams FROM piece WHERE state = 'lent') ORDER BY id;
