-- name: clipping_shift :rows
-- param: from i32
-- param: to i32
UPDATE clipping SET place = place + iif(:from < :to, -1, 1) WHERE reader_id = :reader AND place BETWEEN min(:from, :to) AND max(:from, :to);

-- name: clipping_compact :rows
UPDATE clipping SET place = n.k FROM (
  SELECT article_id, row_number() OVER (ORDER BY place, article_id) AS k FROM clipping WHERE reader_id = :reader
) n WHERE clipping.reader_id = :reader AND clipping.article_id = n.article_id;

-- name: clipping_page :many
SELECT article_id, note FROM clipping WHERE reader_id = :reader AND article_id > :article ORDER BY article_id LIMIT 5;
