-- name: meter_low :many
SELECT zone_id, number FROM meter WHERE battery IS NULL OR battery < :least ORDER BY zone_id, number;

-- name: meter_check :rows
UPDATE meter SET battery = 100, broken = 0 WHERE zone_id = :zone AND number = :number;

-- name: meter_serials :many
SELECT zone_id, number, CAST(substr(serial, 3) AS INTEGER) AS nr FROM meter ORDER BY zone_id, number;
