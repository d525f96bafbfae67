-- name: article_chain :many
WITH RECURSIVE c (id) AS (
  SELECT id FROM article WHERE id = :id
  UNION
  SELECT a.continues FROM article a JOIN c ON a.id = c.id WHERE a.continues IS NOT NULL
)
SELECT id FROM c ORDER BY id;

-- name: article_by_tag :many
-- param: tag text
SELECT id, headline FROM article WHERE deleted_at IS NULL
   AND EXISTS (SELECT 1 FROM json_each(article.tags) t WHERE t.value = :tag) ORDER BY id DESC;

-- name: article_tag_counts :many
SELECT t.value AS tag, count(DISTINCT a.id) AS n FROM article a, json_each(a.tags) t GROUP BY t.value ORDER BY n DESC, tag;

-- name: article_trash :rows
UPDATE article SET deleted_at = coalesce(deleted_at, :now) WHERE id = :id;

-- name: article_purge :exec
DELETE FROM article WHERE deleted_at <= unixepoch('now', '-30 days');

-- name: article_search :many
-- param: q text
SELECT id FROM article WHERE headline LIKE '%' || :q || '%' ESCAPE '\' AND deleted_at IS NULL ORDER BY id LIMIT 20;

-- name: article_share :many
SELECT id, words * 100 / nullif(sum(words) OVER (PARTITION BY paper_id, number), 0) AS percent FROM article WHERE deleted_at IS NULL ORDER BY id;

-- name: article_parts :many
WITH RECURSIVE c (id, depth) AS (
  SELECT id, 0 FROM article WHERE id = :id
  UNION ALL
  SELECT a.id, c.depth + 1 FROM article a JOIN c ON a.continues = c.id WHERE c.depth < 2
)
SELECT id, depth FROM c ORDER BY depth, id;

-- name: article_tagged :many
-- param: tags text[]
SELECT id FROM article WHERE EXISTS (SELECT 1 FROM json_each(article.tags) t WHERE t.value IN (SELECT value FROM json_each(:tags))) ORDER BY id;

-- name: article_front :many
SELECT paper_id, number, id FROM (
  SELECT paper_id, number, id, row_number() OVER (PARTITION BY paper_id, number ORDER BY page, id) AS place FROM article WHERE deleted_at IS NULL
) WHERE place = 1 ORDER BY paper_id, number;

-- name: article_lengths :many
SELECT words / 500 AS band, count(*) AS n FROM article WHERE section = 'news' GROUP BY band ORDER BY band;

-- name: article_about :many
-- param: q text
SELECT id FROM article WHERE headline LIKE :q || '%' ESCAPE '!' ORDER BY id;

-- name: article_dedupe :rows
DELETE FROM article WHERE EXISTS (
  SELECT 1 FROM article o WHERE o.paper_id = article.paper_id AND o.headline = article.headline AND o.id < article.id);

-- name: article_lead :opt
SELECT id, section FROM article WHERE paper_id = :paper AND number = :number ORDER BY words DESC, section, id LIMIT 1;
