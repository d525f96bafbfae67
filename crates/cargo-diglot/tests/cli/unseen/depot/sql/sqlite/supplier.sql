-- name: supplier_stars :many
SELECT id, CAST(rating AS INTEGER) AS stars FROM supplier WHERE rating IS NOT NULL ORDER BY id;

-- name: supplier_rounded :many
SELECT id, CAST(round(rating) AS INTEGER) AS stars FROM supplier ORDER BY id;
