-- name: book_ready :many
SELECT b.id, sum(iif(c.id IS NOT NULL AND NOT c.lost, 1, 0)) AS ready
  FROM book b LEFT JOIN copy c ON c.book_id = b.id
 GROUP BY b.id
 ORDER BY b.id;

-- name: book_tagged :many
-- param: tag text
SELECT id, title FROM book
 WHERE EXISTS (SELECT 1 FROM json_each(book.tags) AS t WHERE t.value = :tag)
 ORDER BY id;

-- name: book_tag_cloud :many
SELECT t.value AS tag, count(*) AS n
  FROM book, json_each(book.tags) AS t
 GROUP BY t.value
 ORDER BY n DESC, tag;

-- name: book_newest :many
SELECT author_id, id, title
  FROM (SELECT author_id, id, title,
               row_number() OVER (PARTITION BY author_id ORDER BY year DESC NULLS LAST, id) AS rn
          FROM book) AS ranked
 WHERE rn = 1 AND author_id IS NOT NULL
 ORDER BY author_id;

-- name: book_search :many
-- param: q text
SELECT id, title FROM book WHERE instr(title, :q) > 0 ORDER BY id;

-- name: book_find_word :many
SELECT id, title FROM book WHERE title LIKE 'the %' ORDER BY id;

-- name: book_recent :many
SELECT id, title, year FROM book WHERE year IS NOT NULL ORDER BY year DESC, id;

-- name: book_authors :many
SELECT b.id, b.title, a.name
  FROM book b LEFT JOIN author a ON a.id = b.author_id
 ORDER BY b.id;

-- name: book_caption :many
SELECT id, title || ' (' || year || ')' AS caption FROM book ORDER BY id;

-- name: book_between_years :many
SELECT id, year FROM book WHERE year BETWEEN :from_year AND :to_year ORDER BY id;
