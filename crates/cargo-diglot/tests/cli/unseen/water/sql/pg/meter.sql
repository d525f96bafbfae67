-- name: meter_usage :many
SELECT r.meter_id, r.taken_at, r.litres - COALESCE(p.litres, 0) AS used FROM reading r LEFT JOIN LATERAL (
  SELECT o.litres FROM reading o WHERE o.meter_id = r.meter_id AND o.taken_at < r.taken_at ORDER BY o.taken_at DESC LIMIT 1
) p ON true ORDER BY r.meter_id, r.taken_at;

-- name: meter_last :many
SELECT DISTINCT ON (meter_id) meter_id, litres FROM reading ORDER BY meter_id, taken_at DESC;

-- name: meter_quiet :many
-- param: since timestamp
SELECT m.id FROM meter m WHERE m.removed_on IS NULL
   AND NOT EXISTS (SELECT 1 FROM reading r WHERE r.meter_id = m.id AND r.taken_at >= :since) ORDER BY m.id;

-- name: meter_remote :many
SELECT id, serial FROM meter WHERE (spec ->> 'remote')::boolean IS TRUE ORDER BY id;

-- name: meter_sized :many
-- param: least i64
-- param: most i64
SELECT id FROM meter WHERE (spec ->> 'size')::bigint >= :least AND (spec ->> 'size')::bigint <= :most ORDER BY id;

-- name: meter_label :many
SELECT id, lpad(serial, 8, '0') AS label FROM meter ORDER BY id;

-- name: meter_active :many
-- param: day date
SELECT id FROM meter WHERE installed_on <= :day AND COALESCE(removed_on, 'infinity') >= :day ORDER BY id;

-- name: meter_sizes :many
SELECT id, COALESCE((spec ->> 'size')::bigint, 20) AS size FROM meter ORDER BY id;

-- name: meter_move :rows
-- param: zone i64 null
UPDATE meter SET zone_id = :zone WHERE serial = :serial;
