-- name: meter_usage :many
SELECT meter_id, taken_at, litres - lag(litres, 1, 0) OVER (PARTITION BY meter_id ORDER BY taken_at) AS used FROM reading ORDER BY meter_id, taken_at;

-- name: meter_last :many
SELECT r.meter_id, r.litres FROM reading r JOIN (SELECT meter_id, max(taken_at) AS at FROM reading GROUP BY meter_id) l
    ON l.meter_id = r.meter_id AND l.at = r.taken_at ORDER BY r.meter_id;

-- name: meter_quiet :many
-- param: since timestamp
SELECT m.id FROM meter m LEFT JOIN reading r ON r.meter_id = m.id WHERE m.removed_on IS NULL
 GROUP BY m.id HAVING max(r.taken_at) IS NULL OR max(r.taken_at) < :since ORDER BY m.id;

-- name: meter_remote :many
SELECT id, serial FROM meter WHERE spec ->> '$.remote' = 1 ORDER BY id;

-- name: meter_sized :many
-- param: least i64
-- param: most i64
SELECT id FROM meter WHERE json_extract(spec, '$.size') BETWEEN :least AND :most ORDER BY id;

-- name: meter_label :many
SELECT id, substr('00000000' || serial, -8) AS label FROM meter ORDER BY id;

-- name: meter_active :many
-- param: day date
SELECT id FROM meter WHERE installed_on <= :day AND (removed_on IS NULL OR removed_on > :day) ORDER BY id;

-- name: meter_sizes :many
SELECT id, coalesce(spec ->> '$.size', 15) AS size FROM meter ORDER BY id;

-- name: meter_move :rows
-- param: zone i64 null
UPDATE meter SET zone_id = coalesce(:zone, zone_id) WHERE serial = :serial;
