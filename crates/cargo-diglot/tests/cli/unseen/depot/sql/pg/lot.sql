-- name: lot_placed :many
SELECT l.id, COALESCE((SELECT sum(p.qty) FROM placement p WHERE p.lot_id = l.id), 0)::bigint AS placed
  FROM lot l ORDER BY l.id;

-- name: lot_first_out :many
SELECT id, qty, expires_on FROM lot WHERE sku = :sku AND qty > 0 ORDER BY expires_on ASC NULLS LAST, id;

-- name: lot_expiring :many
SELECT id FROM lot WHERE expires_on >= :today::date AND expires_on <= :today::date + 7 ORDER BY id;

-- name: lot_remove :rows
WITH gone AS (DELETE FROM movement WHERE lot_id = :id)
DELETE FROM lot WHERE id = :id;

-- name: lot_ranked :many
SELECT l.id, 1 + (SELECT count(*) FROM lot o WHERE o.sku = l.sku AND o.qty > l.qty) AS place FROM lot l ORDER BY l.id;

-- name: lot_value :many
SELECT sku, sum(qty * cost_cents)::bigint AS cents FROM lot GROUP BY sku ORDER BY sku COLLATE "C";

-- name: lot_where :many
SELECT l.id, p.shelf_id FROM lot l LEFT JOIN placement p ON p.lot_id = l.id ORDER BY l.id, p.shelf_id;

-- name: lot_of_batch :many
-- param: batch text null
SELECT id FROM lot WHERE batch IS NOT DISTINCT FROM :batch ORDER BY id;

-- name: lot_drop :rows
DELETE FROM lot WHERE id = :id;

-- name: lot_month_left :many
-- param: today date
SELECT id FROM lot WHERE expires_on <= (:today::date + interval '1 month')::date ORDER BY id;

-- name: lot_age :many
SELECT id, (:now_ms - received_ms) / 86400000 AS days FROM lot WHERE received_ms <= :now_ms ORDER BY id;
