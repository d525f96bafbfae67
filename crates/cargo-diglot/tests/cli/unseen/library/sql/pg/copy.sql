-- name: copy_shelve :exec
-- param: price i64 null
INSERT INTO copy (id, book_id, shelf, lost, price_cents, grade)
VALUES (:id, :book, :shelf, :lost, :price, :grade);

-- name: copy_band :many
SELECT id, CASE WHEN price_cents < 100 THEN 'cheap' WHEN price_cents >= 100 THEN 'dear' ELSE 'unknown' END AS band
  FROM copy ORDER BY id;

-- name: copy_cheapest :many
SELECT id, price_cents FROM copy ORDER BY price_cents, id;

-- name: copy_by_shelf :many
SELECT id, shelf FROM copy ORDER BY shelf, id;

-- name: copy_priced :one
SELECT count(price_cents) AS n FROM copy WHERE NOT lost;
