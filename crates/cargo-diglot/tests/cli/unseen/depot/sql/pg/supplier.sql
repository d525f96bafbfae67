-- name: supplier_stars :many
SELECT id, trunc(rating)::bigint AS stars FROM supplier WHERE rating IS NOT NULL ORDER BY id;

-- name: supplier_rounded :many
SELECT id, CAST(round(rating) AS bigint) AS stars FROM supplier ORDER BY id;
