-- name: placement_drop :rows
DELETE FROM placement WHERE lot_id = :lot AND shelf_id = :shelf;

-- name: placement_put :one
INSERT INTO placement (lot_id, shelf_id, qty) VALUES (:lot, :shelf, :qty)
ON CONFLICT (lot_id, shelf_id) DO UPDATE SET qty = qty + excluded.qty
RETURNING qty;

-- name: placement_set :exec
INSERT INTO placement (lot_id, shelf_id, qty) VALUES (:lot, :shelf, :qty)
ON CONFLICT (lot_id, shelf_id) DO UPDATE SET qty = excluded.qty;

-- name: placement_clear :rows
DELETE FROM placement WHERE qty = 0 AND shelf_id IN (SELECT id FROM shelf WHERE cold = 1);
