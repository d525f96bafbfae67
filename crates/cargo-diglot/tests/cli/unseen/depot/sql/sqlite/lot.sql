-- name: lot_placed :many
SELECT l.id, ifnull(sum(p.qty), 0) AS placed
  FROM lot l LEFT JOIN placement p ON p.lot_id = l.id
 GROUP BY l.id ORDER BY l.id;

-- name: lot_first_out :many
SELECT id, qty, expires_on FROM lot WHERE sku = :sku AND qty > 0 ORDER BY expires_on IS NULL, expires_on, id;

-- name: lot_expiring :many
SELECT id FROM lot WHERE expires_on BETWEEN :today AND date(:today, '+7 days') ORDER BY id;

-- name: lot_remove :rows
DELETE FROM movement WHERE lot_id = :id;
DELETE FROM lot WHERE id = :id;

-- name: lot_ranked :many
SELECT id, rank() OVER (PARTITION BY sku ORDER BY qty DESC) AS place FROM lot ORDER BY id;

-- name: lot_value :many
SELECT sku, COALESCE(sum(qty * cost_cents), 0) AS cents FROM lot GROUP BY sku ORDER BY sku;

-- name: lot_where :many
SELECT l.id, p.shelf_id FROM lot l JOIN placement p ON p.lot_id = l.id ORDER BY l.id, p.shelf_id;

-- name: lot_of_batch :many
-- param: batch text null
SELECT id FROM lot WHERE batch = :batch ORDER BY id;

-- name: lot_drop :rows
DELETE FROM movement WHERE lot_id = :id;
DELETE FROM lot WHERE id = :id;

-- name: lot_month_left :many
-- param: today date
SELECT id FROM lot WHERE expires_on <= date(:today, '+1 month') ORDER BY id;

-- name: lot_age :many
SELECT id, CAST(round((:now_ms - received_ms) / 86400000.0) AS INTEGER) AS days FROM lot WHERE received_ms <= :now_ms ORDER BY id;
