-- name: author_get :opt
SELECT id, name, born, country FROM author WHERE id = :id;

-- name: author_prolific :many
-- param: least i64
SELECT a.id, a.name
  FROM author a
 WHERE (SELECT count(*) FROM book b WHERE b.author_id = a.id) >= :least
 ORDER BY a.id;

-- name: author_decades :many
SELECT born / 10 * 10 AS decade, count(*) AS n
  FROM author
 WHERE born IS NOT NULL
 GROUP BY born / 10
 ORDER BY decade;

-- name: author_absent :many
SELECT id FROM author
 WHERE id NOT IN (SELECT author_id FROM book WHERE author_id IS NOT NULL)
 ORDER BY id;

-- name: author_unread :many
SELECT id FROM author
 WHERE id NOT IN (SELECT author_id FROM book)
 ORDER BY id;

-- name: author_of_country :many
SELECT id, name FROM author WHERE country = :country COLLATE NOCASE ORDER BY id;

-- name: author_writers :many
SELECT DISTINCT a.id, a.name
  FROM author a JOIN book b ON b.author_id = a.id
 ORDER BY a.id;
