-- name: placement_drop :rows
DELETE FROM placement WHERE lot_id = :lot AND shelf_id = :shelf;

-- name: placement_put :one
INSERT INTO placement AS p (lot_id, shelf_id, qty) VALUES (:lot, :shelf, :qty)
ON CONFLICT (lot_id, shelf_id) DO UPDATE SET qty = p.qty + EXCLUDED.qty
RETURNING p.qty;

-- name: placement_set :exec
INSERT INTO placement (lot_id, shelf_id, qty) VALUES (:lot, :shelf, :qty)
ON CONFLICT (lot_id, shelf_id) DO UPDATE SET qty = placement.qty + excluded.qty;

-- name: placement_clear :rows
DELETE FROM placement USING shelf WHERE shelf.id = placement.shelf_id AND shelf.cold;
