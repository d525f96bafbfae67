-- name: meter_low :many
-- param: least i64
SELECT zone_id, number FROM meter WHERE NOT COALESCE(battery >= :least, false) ORDER BY zone_id, number;

-- name: meter_check :rows
UPDATE meter SET battery = 100, broken = false FROM zone z WHERE z.id = :zone AND meter.number = :number;

-- name: meter_serials :many
SELECT zone_id, number, COALESCE(NULLIF(regexp_replace(substr(serial, 3), '\D', '', 'g'), '')::bigint, 0) AS nr
  FROM meter ORDER BY zone_id, number;
