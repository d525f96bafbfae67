-- name: shelf_get :opt
SELECT id, capacity, cold FROM shelf WHERE zone = :zone AND code = :code;

-- name: shelf_room :many
-- param: room i64
WITH used AS (
  SELECT shelf_id, sum(qty)::bigint AS qty FROM placement GROUP BY shelf_id
)
SELECT s.id, s.capacity - COALESCE(u.qty, 0) AS room
  FROM shelf s LEFT JOIN used u ON u.shelf_id = s.id
 WHERE s.capacity - COALESCE(u.qty, 0) >= :room
 ORDER BY s.id;

-- name: shelf_of_zones :many
SELECT id, zone FROM shelf WHERE zone = ANY(:zones) ORDER BY id;

-- name: shelf_fill :many
SELECT s.id, round(sum(p.qty) * 100.0 / s.capacity)::bigint AS percent
  FROM shelf s JOIN placement p ON p.shelf_id = s.id
 WHERE s.capacity > 0
 GROUP BY s.id, s.capacity ORDER BY s.id;

-- name: shelf_replace :exec
INSERT INTO shelf (id, zone, code, capacity, cold) VALUES (:id, :zone, :code, :capacity, :cold)
ON CONFLICT (id) DO UPDATE SET zone = EXCLUDED.zone, code = EXCLUDED.code, capacity = EXCLUDED.capacity, cold = EXCLUDED.cold;

-- name: shelf_useful :many
SELECT id FROM shelf WHERE zone = :zone AND capacity > 5 OR cold ORDER BY id;

-- name: shelf_coded :many
SELECT id, code FROM shelf WHERE code LIKE '%1%' ORDER BY id;
