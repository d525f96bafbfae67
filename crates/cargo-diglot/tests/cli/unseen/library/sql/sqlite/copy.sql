-- name: copy_shelve :exec
-- param: price i64 null
INSERT INTO copy (id, book_id, shelf, lost, price_cents, grade)
VALUES (:id, :book, :shelf, :lost, :price, :grade);

-- name: copy_band :many
SELECT id, iif(price_cents IS NULL, 'unknown', iif(price_cents < 100, 'cheap', 'dear')) AS band
  FROM copy ORDER BY id;

-- name: copy_cheapest :many
SELECT id, price_cents FROM copy ORDER BY price_cents, id;

-- name: copy_by_shelf :many
SELECT id, shelf FROM copy ORDER BY shelf COLLATE NOCASE, id;

-- name: copy_priced :one
SELECT count(*) AS n FROM copy WHERE NOT lost;
