-- name: zone_free :many
SELECT z.id, z.capacity - count(s.id) AS free
  FROM zone z LEFT JOIN session s ON s.zone_id = z.id AND s.ended_at IS NULL
 GROUP BY z.id ORDER BY z.id;

-- name: zone_limit :many
SELECT id, coalesce(json_extract(rules, '$.max_minutes'), 120) AS minutes FROM zone ORDER BY id;

-- name: zone_weekend :many
SELECT id FROM zone
 WHERE EXISTS (SELECT 1 FROM json_each(zone.rules, '$.days') AS d WHERE d.value IN ('sat', 'sun'))
 ORDER BY id;

-- name: zone_save :opt
INSERT INTO zone (id, code, name, capacity, rate_cents) VALUES (:id, :code, :name, 40, :cents)
ON CONFLICT (code) DO UPDATE SET name = excluded.name, rate_cents = excluded.rate_cents
 WHERE zone.name <> excluded.name OR zone.rate_cents <> excluded.rate_cents
RETURNING id, name, rate_cents;

-- name: zone_rank :many
SELECT id, dense_rank() OVER (ORDER BY rate_cents DESC) AS place FROM zone ORDER BY place, id;

-- name: zone_resident :many
SELECT id, code FROM zone WHERE NOT json_extract(rules, '$.resident') ORDER BY id;

-- name: zone_raise :rows
UPDATE zone SET rate_cents = rate_cents * 110 / 100 WHERE district = :district AND rate_cents < 1800;

-- name: zone_search :many
SELECT id, name FROM zone WHERE name LIKE :prefix || '%' ORDER BY id;

-- name: zone_order :many
SELECT id, district FROM zone ORDER BY district, id;
