-- name: zone_free :many
SELECT z.id, z.capacity - (SELECT count(*) FROM session s WHERE s.zone_id = z.id AND s.ended_at IS NULL) AS free
  FROM zone z ORDER BY z.id;

-- name: zone_limit :many
SELECT id, COALESCE((rules ->> 'max_minutes')::bigint, 120) AS minutes FROM zone ORDER BY id;

-- name: zone_weekend :many
SELECT id FROM zone WHERE rules -> 'days' ?| ARRAY['sat', 'sun'] ORDER BY id;

-- name: zone_save :opt
INSERT INTO zone (id, code, name, capacity, rate_cents) VALUES (:id, :code, :name, 40, :cents)
ON CONFLICT (code) DO UPDATE SET name = EXCLUDED.name, rate_cents = EXCLUDED.rate_cents
 WHERE (zone.name, zone.rate_cents) IS DISTINCT FROM (EXCLUDED.name, EXCLUDED.rate_cents)
RETURNING id, name, rate_cents;

-- name: zone_rank :many
SELECT z.id, (SELECT count(DISTINCT o.rate_cents) FROM zone o WHERE o.rate_cents > z.rate_cents) + 1 AS place
  FROM zone z ORDER BY place, z.id;

-- name: zone_resident :many
SELECT id, code FROM zone WHERE NOT COALESCE((rules ->> 'resident')::boolean, false) ORDER BY id;

-- name: zone_raise :rows
UPDATE zone SET rate_cents = round(rate_cents * 1.1) WHERE district = :district AND rate_cents < 1800;

-- name: zone_search :many
SELECT id, name FROM zone WHERE starts_with(name, :prefix) ORDER BY id;

-- name: zone_order :many
SELECT id, district FROM zone ORDER BY district, id;
