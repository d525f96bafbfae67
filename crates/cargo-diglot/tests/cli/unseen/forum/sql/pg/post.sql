-- name: post_thread :many
WITH RECURSIVE t AS (SELECT p.id, 0 AS depth, p.removed_at FROM post p WHERE p.id = :root UNION ALL SELECT p.id,
  t.depth + 1, p.removed_at FROM t JOIN post p ON p.reply_to = t.id WHERE t.depth + 1 < 5) SELECT id, min(depth) AS
  depth FROM t WHERE removed_at IS NULL GROUP BY id ORDER BY 2, 1;

-- name: post_excerpt :many
SELECT id, left(body, 12) || CASE WHEN char_length(body) <= 12 THEN '' ELSE '...' END AS excerpt FROM post WHERE
  topic_id = :topic ORDER BY id;

-- name: post_edit :opt
UPDATE post SET body = :body, edits = edits + 1 WHERE id = :id AND author_id = :author AND removed_at IS NULL AND NOT
  body = :body AND created_at >= :now::timestamptz - interval '15 minutes' AND edits < 1000 RETURNING edits;

-- name: post_prune :many
DELETE FROM post USING topic t WHERE t.id = post.topic_id AND removed_at < :now::timestamptz - interval '30 days'
  RETURNING post.id, topic_id;

-- name: post_hours :many
SELECT extract(hour FROM created_at AT TIME ZONE 'UTC')::bigint AS hour, count(*) AS n FROM post GROUP BY 1 ORDER BY
  1;

-- name: post_numbers :many
SELECT p.id, (SELECT count(*) FROM post o WHERE o.topic_id = p.topic_id AND (o.created_at < p.created_at OR
  o.created_at = p.created_at AND o.id <= p.id)) AS n FROM post p ORDER BY p.id;

-- name: post_bytes :many
SELECT id, octet_length(body) AS size FROM post ORDER BY id;

-- name: post_best :many
SELECT DISTINCT ON (topic_id) topic_id, id FROM post ORDER BY topic_id, score DESC, created_at, id;

-- name: post_running :many
SELECT id, sum(score) OVER (PARTITION BY topic_id ORDER BY created_at, id) AS total FROM post ORDER BY id;

-- name: post_answered :many
SELECT p.id FROM post p WHERE EXISTS (SELECT 1 FROM post r WHERE r.reply_to = p.id) ORDER BY p.id;

-- name: post_strays :many
SELECT r.id FROM post r JOIN post p ON p.id = r.reply_to WHERE r.author_id <> p.author_id ORDER BY r.id;

-- name: post_restore :rows
UPDATE post SET removed_at = NULL WHERE topic_id = :topic AND removed_at > :since;
