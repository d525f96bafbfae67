-- name: shelf_get :opt
SELECT id, capacity, cold FROM shelf WHERE zone = :zone AND code = :code;

-- name: shelf_room :many
-- param: room i64
SELECT s.id, s.capacity - COALESCE((SELECT sum(p.qty) FROM placement p WHERE p.shelf_id = s.id), 0) AS room
  FROM shelf s
 WHERE s.capacity - COALESCE((SELECT sum(p.qty) FROM placement p WHERE p.shelf_id = s.id), 0) >= :room
 ORDER BY s.id;

-- name: shelf_of_zones :many
SELECT id, zone FROM shelf WHERE zone IN (SELECT value FROM json_each(:zones)) ORDER BY id;

-- name: shelf_fill :many
SELECT s.id, sum(p.qty) * 100 / s.capacity AS percent
  FROM shelf s JOIN placement p ON p.shelf_id = s.id
 WHERE s.capacity > 0
 GROUP BY s.id, s.capacity ORDER BY s.id;

-- name: shelf_replace :exec
INSERT OR REPLACE INTO shelf (id, zone, code, capacity, cold) VALUES (:id, :zone, :code, :capacity, :cold);

-- name: shelf_useful :many
SELECT id FROM shelf WHERE zone = :zone AND (capacity > 5 OR cold) ORDER BY id;

-- name: shelf_coded :many
SELECT id, code FROM shelf WHERE code GLOB '?1*' ORDER BY id;
