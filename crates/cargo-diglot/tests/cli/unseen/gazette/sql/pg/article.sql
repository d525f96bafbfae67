-- name: article_chain :many
WITH RECURSIVE c AS (
  SELECT id, continues FROM article WHERE id = :id
  UNION
  SELECT p.id, p.continues FROM c JOIN article p ON p.id = c.continues
)
SELECT id FROM c ORDER BY id;

-- name: article_by_tag :many
-- param: tag text
SELECT id, headline FROM article WHERE tags @> jsonb_build_array(:tag::text) AND deleted_at IS NULL ORDER BY id DESC;

-- name: article_tag_counts :many
SELECT u.tag, count(*) AS n FROM (SELECT DISTINCT a.id, t.tag FROM article a CROSS JOIN LATERAL jsonb_array_elements_text(a.tags) AS t (tag)) u
 GROUP BY u.tag ORDER BY n DESC, u.tag;

-- name: article_trash :rows
UPDATE article SET deleted_at = CASE WHEN deleted_at IS NULL THEN :now ELSE deleted_at END WHERE id = :id;

-- name: article_purge :exec
DELETE FROM article WHERE deleted_at IS NOT NULL AND deleted_at + make_interval(days => 30) <= now();

-- name: article_search :many
-- param: q text
SELECT id FROM article WHERE deleted_at IS NULL AND headline ILIKE '%' || :q || '%' ESCAPE '\' ORDER BY id LIMIT 20;

-- name: article_share :many
SELECT a.id, (a.words::bigint * 100 / NULLIF(t.words, 0))::bigint AS percent FROM article a JOIN (
  SELECT paper_id, number, sum(words)::bigint AS words FROM article WHERE deleted_at IS NULL GROUP BY paper_id, number
) t USING (paper_id, number) WHERE a.deleted_at IS NULL ORDER BY a.id;

-- name: article_parts :many
WITH RECURSIVE c (id, depth) AS (
  SELECT id, 0 FROM article WHERE id = :id
  UNION ALL
  SELECT a.id, c.depth + 1 FROM article a JOIN c ON a.continues = c.id WHERE c.depth <= 2
)
SELECT id, depth FROM c ORDER BY depth, id;

-- name: article_tagged :many
-- param: tags text[]
SELECT id FROM article WHERE tags ?& :tags::text[] ORDER BY id;

-- name: article_front :many
SELECT DISTINCT ON (paper_id, number) paper_id, number, id FROM article ORDER BY paper_id, number, page, id;

-- name: article_lengths :many
SELECT GREATEST(words - 1, 0) / 500 AS band, count(*) AS n FROM article WHERE section = 'news' GROUP BY 1 ORDER BY 1;

-- name: article_about :many
-- param: q text
SELECT id FROM article WHERE headline LIKE :q || '%' ESCAPE '!' ORDER BY id;

-- name: article_dedupe :rows
DELETE FROM article a USING article o WHERE o.paper_id = a.paper_id AND o.headline = a.headline AND o.id > a.id;

-- name: article_lead :opt
SELECT id, section FROM article WHERE paper_id = :paper AND number = :number
 ORDER BY words DESC, array_position(ARRAY['news', 'sport', 'culture', 'letters'], section), id LIMIT 1;
