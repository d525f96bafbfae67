-- name: board_tree :many
WITH RECURSIVE tree (slug, path, depth) AS (SELECT slug, slug, 0 FROM board WHERE slug = :root UNION ALL SELECT
  b.slug, tree.path || '/' || b.slug, depth + 1 FROM board b JOIN tree ON b.parent_slug = tree.slug WHERE depth < 3)
  SELECT slug, path, depth FROM tree ORDER BY path;

-- name: board_open :many
SELECT b.slug, count(t.id) FILTER (WHERE t.state = 'open') AS n FROM board b LEFT JOIN topic t ON t.board_slug =
  b.slug GROUP BY b.slug ORDER BY n DESC, b.slug;

-- name: board_order :many
SELECT slug, title FROM board ORDER BY position IS NULL, position, slug;

-- name: board_rename :rows
UPDATE board SET slug = :new WHERE slug = :old AND NOT EXISTS (SELECT 1 FROM board o WHERE o.slug = :new);

-- name: board_insert :rows
UPDATE board SET position = position + 1 WHERE position >= :position AND position < 1000;

-- name: board_allowed :many
-- param: rep i64
SELECT slug FROM board WHERE min_rep IS NULL OR min_rep <= :rep ORDER BY slug;

-- name: board_sizes :many
SELECT b.slug, count(t.id) AS n FROM board b LEFT JOIN topic t ON t.board_slug = b.slug GROUP BY b.slug ORDER BY
  b.slug;

-- name: board_views :many
SELECT board_slug, sum(views) AS views FROM topic WHERE state <> 'hidden' GROUP BY board_slug ORDER BY board_slug;
