-- name: topic_hot :many
SELECT id, title FROM topic WHERE state = 'open' ORDER BY heat DESC, id LIMIT 10;

-- name: topic_tagged :many
-- param: tags text[]
SELECT t.id FROM topic t WHERE NOT EXISTS (SELECT 1 FROM json_each(:tags) w WHERE w.value NOT IN (SELECT k.value FROM
  json_each(t.tags) k)) ORDER BY t.id;

-- name: topic_cloud :many
SELECT k.value AS tag, count(DISTINCT t.id) AS n FROM topic t, json_each(t.tags) k WHERE t.state = 'open' GROUP BY
  k.value ORDER BY n DESC, tag;

-- name: topic_tag :rows
-- param: tag text
UPDATE topic SET tags = json_insert(tags, '$[#]', :tag) WHERE id = :id AND NOT EXISTS (SELECT 1 FROM
  json_each(topic.tags) WHERE value = :tag);

-- name: topic_last :many
SELECT topic_id, id FROM (SELECT topic_id, id, row_number() OVER (PARTITION BY topic_id ORDER BY created_at DESC, id
  DESC) AS n FROM post WHERE removed_at IS NULL) WHERE n = 1 ORDER BY topic_id;

-- name: topic_replied :rows
UPDATE topic SET replies = replies + 1, bumped_at = max(bumped_at, :now) WHERE id = :id AND state = 'open' AND replies
  < 100000;

-- name: topic_stale :rows
UPDATE topic SET state = 'closed' WHERE state = 'open' AND NOT pinned AND id NOT IN (SELECT topic_id FROM post WHERE
  created_at > :since);

-- name: topic_lonely :many
SELECT t.id FROM topic t LEFT JOIN post p ON p.topic_id = t.id AND p.author_id IS NOT t.author_id WHERE t.state =
  'open' AND p.id IS NULL ORDER BY t.id;

-- name: topic_next :many
-- param: at timestamp
-- param: after i64
SELECT id FROM topic WHERE state = 'open' AND (bumped_at, id) < (:at, :after) ORDER BY bumped_at DESC, id DESC LIMIT
  20;

-- name: topic_list :many
SELECT id, title FROM topic WHERE board_slug = :board ORDER BY pinned DESC, bumped_at DESC, id;

-- name: topic_main :many
SELECT id, tags ->> '$[0]' AS tag FROM topic ORDER BY id;

-- name: topic_untag :rows
-- param: tag text
UPDATE topic SET tags = json_remove(tags, '$[' || (SELECT min(k.key) FROM json_each(topic.tags) k WHERE k.value =
  :tag) || ']') WHERE id = :id AND EXISTS (SELECT 1 FROM json_each(topic.tags) e WHERE e.value = :tag);

-- name: topic_put :rows
INSERT INTO topic (id, board_slug, title, created_at, bumped_at) VALUES (:id, :board, :title, :now, :now) ON CONFLICT
  (id) DO UPDATE SET title = excluded.title WHERE topic.state <> 'hidden';

-- name: topic_daily :many
SELECT date(created_at) AS day, count(*) AS n FROM topic GROUP BY day ORDER BY day;

-- name: topic_average :many
SELECT board_slug, CAST(avg(views) AS INTEGER) AS views FROM topic GROUP BY board_slug ORDER BY board_slug;

-- name: topic_search :many
-- param: q text
SELECT id FROM topic WHERE title LIKE '%' || :q || '%' ORDER BY id;
