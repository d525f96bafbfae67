-- name: author_get :opt
SELECT id, name, born, country FROM author WHERE id = :id;

-- name: author_prolific :many
-- param: least i64
SELECT a.id, a.name
  FROM author a
  LEFT JOIN book b ON b.author_id = a.id
 GROUP BY a.id, a.name
HAVING count(b.id) >= :least
 ORDER BY a.id;

-- name: author_decades :many
SELECT born - born % 10 AS decade, count(*) AS n
  FROM author
 WHERE born IS NOT NULL
 GROUP BY 1
 ORDER BY 1;

-- name: author_absent :many
SELECT a.id FROM author a
 WHERE NOT EXISTS (SELECT 1 FROM book b WHERE b.author_id = a.id)
 ORDER BY a.id;

-- name: author_unread :many
SELECT a.id FROM author a
 WHERE NOT EXISTS (SELECT 1 FROM book b WHERE b.author_id = a.id)
 ORDER BY a.id;

-- name: author_of_country :many
SELECT id, name FROM author WHERE country = :country ORDER BY id;

-- name: author_writers :many
SELECT a.id, a.name
  FROM author a JOIN book b ON b.author_id = a.id
 ORDER BY a.id;
