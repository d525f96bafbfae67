-- name: topic_hot :many
SELECT id, title FROM topic WHERE state = 'open' ORDER BY 10 * replies + views DESC, id LIMIT 10;

-- name: topic_tagged :many
-- param: tags text[]
SELECT id FROM topic WHERE tags ?& :tags ORDER BY id;

-- name: topic_cloud :many
SELECT k.tag, count(DISTINCT t.id) AS n FROM topic t CROSS JOIN LATERAL jsonb_array_elements_text(t.tags) AS k (tag)
  WHERE t.state = 'open' GROUP BY k.tag ORDER BY n DESC, k.tag;

-- name: topic_tag :rows
-- param: tag text
UPDATE topic SET tags = tags || jsonb_build_array(:tag::text) WHERE id = :id AND NOT tags ? :tag;

-- name: topic_last :many
SELECT DISTINCT ON (topic_id) topic_id, id FROM post WHERE removed_at IS NULL ORDER BY topic_id, created_at DESC, id
  DESC;

-- name: topic_replied :rows
UPDATE topic SET replies = replies + 1, bumped_at = CASE WHEN :now > bumped_at THEN :now ELSE bumped_at END WHERE id =
  :id AND state = 'open' AND replies <= 99999;

-- name: topic_stale :rows
UPDATE topic t SET state = 'closed' WHERE t.state = 'open' AND t.pinned = false AND NOT EXISTS (SELECT FROM post p
  WHERE p.topic_id = t.id AND p.created_at > :since);

-- name: topic_lonely :many
SELECT t.id FROM topic t WHERE t.state = 'open' AND NOT EXISTS (SELECT 1 FROM post p WHERE p.topic_id = t.id AND
  p.author_id IS DISTINCT FROM t.author_id) ORDER BY t.id;

-- name: topic_next :many
-- param: at timestamp
-- param: after i64
SELECT id FROM topic WHERE state = 'open' AND (bumped_at < :at OR bumped_at = :at AND id > :after) ORDER BY bumped_at
  DESC, id DESC LIMIT 20;

-- name: topic_list :many
SELECT id, title FROM topic WHERE board_slug = :board ORDER BY pinned, bumped_at DESC, id;

-- name: topic_main :many
SELECT id, tags ->> 1 AS tag FROM topic ORDER BY id;

-- name: topic_untag :rows
-- param: tag text
UPDATE topic SET tags = tags - :tag::text WHERE id = :id AND tags ? :tag;

-- name: topic_put :rows
INSERT INTO topic (id, board_slug, title, created_at, bumped_at) VALUES (:id, :board, :title, :now, :now) ON CONFLICT
  (id) DO UPDATE SET title = EXCLUDED.title;

-- name: topic_daily :many
SELECT (created_at AT TIME ZONE 'Europe/Berlin')::date AS day, count(*) AS n FROM topic GROUP BY 1 ORDER BY 1;

-- name: topic_average :many
SELECT board_slug, round(avg(views))::bigint AS views FROM topic GROUP BY board_slug ORDER BY board_slug;

-- name: topic_search :many
-- param: q text
SELECT id FROM topic WHERE title LIKE '%' || :q || '%' ORDER BY id;
