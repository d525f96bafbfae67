-- name: clipping_shift :rows
-- param: from i32
-- param: to i32
UPDATE clipping SET place = place + CASE WHEN :to > :from THEN -1 ELSE 1 END
 WHERE reader_id = :reader AND place >= LEAST(:from, :to) AND place <= GREATEST(:from, :to);

-- name: clipping_compact :rows
UPDATE clipping c SET place = n.k FROM (
  SELECT article_id, row_number() OVER (ORDER BY saved_at, article_id) AS k FROM clipping WHERE reader_id = :reader
) n WHERE c.reader_id = :reader AND c.article_id = n.article_id;

-- name: clipping_page :many
SELECT article_id, note FROM clipping WHERE reader_id = :reader AND article_id >= :article ORDER BY article_id LIMIT 5;
