-- name: piece_tree :many
WITH RECURSIVE t (id) AS (SELECT :root UNION SELECT p.id FROM piece p JOIN t ON p.part_of = t.id) SELECT p.id, p.title FROM piece p
  JOIN t ON t.id = p.id ORDER BY p.id;

-- name: piece_listed :many
-- param: ids i64[]
SELECT p.id, p.title FROM piece p WHERE p.id IN (SELECT value FROM json_each(:ids)) ORDER BY p.id;

-- name: piece_search :many
-- param: q text
SELECT id, title FROM piece WHERE instr(lower(title), lower(:q)) > 0 ORDER BY title, id;

-- name: piece_keyword :many
-- param: word text
SELECT id FROM piece WHERE EXISTS (SELECT 1 FROM json_each(piece.keywords) k WHERE k.value = :word) ORDER BY id;

-- name: piece_untag :rows
-- param: word text
UPDATE piece SET keywords = (SELECT json_group_array(k.value) FROM json_each(piece.keywords) k WHERE k.value <> :word) WHERE id = :id;

-- name: piece_centuries :many
SELECT (facts ->> '$.year') / 100 AS century, count(*) AS n FROM piece WHERE facts ->> '$.year' IS NOT NULL GROUP BY century ORDER BY century;

-- name: piece_unsigned :many
SELECT id FROM piece WHERE facts ->> '$.signed' IS NOT 1 ORDER BY id;

-- name: piece_ranks :many
SELECT id, rank() OVER (PARTITION BY state ORDER BY worth DESC) AS place FROM piece ORDER BY id;

-- name: piece_kilos :many
SELECT id, printf('%d.%03d', grams / 1000, grams % 1000) AS kilos FROM piece ORDER BY id;

-- name: piece_move :opt
-- param: room text null
UPDATE piece SET room_code = :room, state = CASE WHEN :room IS NULL THEN 'stored' ELSE 'shown' END, revision = revision + 1 WHERE id = :id
  AND revision = :revision RETURNING revision;

-- name: piece_remove :rows
DELETE FROM piece WHERE id = :id AND state IN ('stored', 'repair');

-- name: piece_label :many
SELECT id, title || ' / ' || room_code AS label FROM piece ORDER BY id;

-- name: piece_total :one
SELECT sum(worth) AS worth FROM piece WHERE state <> 'lent';

-- name: piece_signed :many
SELECT id FROM piece WHERE json_extract(facts, '$.signed') = 'true' ORDER BY id;

-- name: piece_makers :many
SELECT id FROM piece WHERE facts ->> '$.maker' LIKE 'van %' ORDER BY id;

-- name: piece_words :many
SELECT id, length(title) - length(replace(title, ' ', '')) + 1 AS words FROM piece ORDER BY id;

-- name: piece_heavy :many
SELECT id FROM piece WHERE grams > (SELECT max(grams) FROM piece WHERE state = 'lent') ORDER BY id;
