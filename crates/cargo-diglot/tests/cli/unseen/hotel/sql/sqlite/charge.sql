-- name: charge_list :many
SELECT id, label, sum(cents) OVER (ORDER BY made_at, id) AS running FROM charge WHERE booking_id = :booking ORDER BY made_at, id;

-- name: charge_categories :many
SELECT ifnull(category, 'other') AS name, sum(cents) AS cents FROM charge GROUP BY name HAVING sum(cents) <> 0 ORDER BY name COLLATE BINARY;

-- name: charge_waive :rows
DELETE FROM charge WHERE booking_id = :booking AND cents < 0 AND made_at >= :now - 86400;

-- name: charge_running :many
SELECT id, sum(cents) OVER (ORDER BY cents, id) AS running FROM charge WHERE booking_id = :booking ORDER BY cents, id;
