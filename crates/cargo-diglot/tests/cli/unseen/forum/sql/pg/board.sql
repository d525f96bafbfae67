-- name: board_tree :many
WITH RECURSIVE tree AS (SELECT slug, slug AS path, 0 AS depth FROM board WHERE slug = :root UNION ALL SELECT b.slug,
  concat(t.path, '/', b.slug), t.depth + 1 FROM tree t, board b WHERE t.slug = b.parent_slug AND t.depth <= 2) SELECT
  slug, path, depth FROM tree ORDER BY path;

-- name: board_open :many
SELECT b.slug, (SELECT count(*) FROM topic t WHERE t.board_slug = b.slug AND t.state = 'open') AS n FROM board b ORDER
  BY n DESC, b.slug;

-- name: board_order :many
SELECT slug, title FROM board ORDER BY position, slug;

-- name: board_rename :rows
UPDATE board SET slug = :new WHERE slug = :old AND :new NOT IN (SELECT slug FROM board);

-- name: board_insert :rows
UPDATE board SET position = position + 1 WHERE position > :position AND position < 1000;

-- name: board_allowed :many
-- param: rep i64
SELECT slug FROM board WHERE COALESCE(min_rep, 0) <= :rep ORDER BY slug;

-- name: board_sizes :many
SELECT b.slug, count(*) AS n FROM board b LEFT JOIN topic t ON t.board_slug = b.slug GROUP BY b.slug ORDER BY b.slug;

-- name: board_views :many
SELECT board_slug, sum(views) AS views FROM topic GROUP BY board_slug ORDER BY board_slug;
