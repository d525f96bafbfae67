-- name: book_ready :many
SELECT b.id, count(*) FILTER (WHERE c.id IS NOT NULL AND NOT c.lost) AS ready
  FROM book b LEFT JOIN copy c ON c.book_id = b.id
 GROUP BY b.id
 ORDER BY b.id;

-- name: book_tagged :many
-- param: tag text
SELECT id, title FROM book
 WHERE tags @> jsonb_build_array(CAST(:tag AS text))
 ORDER BY id;

-- name: book_tag_cloud :many
SELECT t.tag, count(*) AS n
  FROM book CROSS JOIN LATERAL jsonb_array_elements_text(book.tags) AS t(tag)
 GROUP BY t.tag
 ORDER BY n DESC, t.tag;

-- name: book_newest :many
SELECT DISTINCT ON (author_id) author_id, id, title
  FROM book
 WHERE author_id IS NOT NULL
 ORDER BY author_id, year DESC NULLS LAST, id;

-- name: book_search :many
-- param: q text
SELECT id, title FROM book WHERE strpos(title, :q) > 0 ORDER BY id;

-- name: book_find_word :many
SELECT id, title FROM book WHERE title LIKE 'the %' ORDER BY id;

-- name: book_recent :many
SELECT id, title, year FROM book WHERE year IS NOT NULL ORDER BY year, id;

-- name: book_authors :many
SELECT b.id, b.title, a.name
  FROM book b JOIN author a ON a.id = b.author_id
 ORDER BY b.id;

-- name: book_caption :many
SELECT id, concat(title, ' (', year, ')') AS caption FROM book ORDER BY id;

-- name: book_between_years :many
SELECT id, year FROM book WHERE year >= :from_year AND year < :to_year ORDER BY id;
