-- name: post_thread :many
WITH RECURSIVE t (id, depth) AS (SELECT id, 0 FROM post WHERE id = :root UNION SELECT p.id, t.depth + 1 FROM post p
  JOIN t ON p.reply_to = t.id WHERE t.depth < 4) SELECT p.id, min(t.depth) AS depth FROM t JOIN post p ON p.id = t.id
  WHERE p.removed_at IS NULL GROUP BY p.id ORDER BY depth, p.id;

-- name: post_excerpt :many
SELECT id, CASE WHEN length(body) > 12 THEN substr(body, 1, 12) || '...' ELSE body END AS excerpt FROM post WHERE
  topic_id = :topic ORDER BY id;

-- name: post_edit :opt
UPDATE post SET body = :body, edits = edits + 1 WHERE id = :id AND author_id = :author AND removed_at IS NULL AND body
  <> :body AND datetime(created_at, '+15 minutes') >= :now AND edits < 1000 RETURNING edits;

-- name: post_prune :many
DELETE FROM post WHERE removed_at < datetime(:now, '-30 days') RETURNING id, topic_id;

-- name: post_hours :many
SELECT CAST(strftime('%H', created_at) AS INTEGER) AS hour, count(*) AS n FROM post GROUP BY hour ORDER BY hour;

-- name: post_numbers :many
SELECT id, row_number() OVER (PARTITION BY topic_id ORDER BY created_at, id) AS n FROM post ORDER BY id;

-- name: post_bytes :many
SELECT id, length(body) AS size FROM post ORDER BY id;

-- name: post_best :many
SELECT topic_id, id FROM (SELECT topic_id, id, row_number() OVER (PARTITION BY topic_id ORDER BY score DESC,
  created_at DESC, id) AS n FROM post) WHERE n = 1 ORDER BY topic_id;

-- name: post_running :many
SELECT id, sum(score) OVER (PARTITION BY topic_id ORDER BY created_at) AS total FROM post ORDER BY id;

-- name: post_answered :many
SELECT p.id FROM post p WHERE EXISTS (SELECT 1 FROM post r WHERE r.reply_to = p.id AND r.removed_at IS NULL) ORDER BY
  p.id;

-- name: post_strays :many
SELECT r.id FROM post r JOIN post p ON p.id = r.reply_to WHERE r.topic_id <> p.topic_id ORDER BY r.id;

-- name: post_restore :rows
UPDATE post SET removed_at = NULL WHERE topic_id = :topic AND removed_at >= :since;
