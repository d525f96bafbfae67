-- name: sailing_day :many
-- param: day date
SELECT id FROM sailing WHERE leaves_at >= unixepoch(:day) * 1000 AND leaves_at < unixepoch(:day, '+1 day') * 1000 ORDER BY leaves_at, id;

-- name: sailing_next :many
SELECT id, leaves_at FROM sailing WHERE (leaves_at, id) > (:after, :id) ORDER BY leaves_at, id LIMIT 3;

-- name: sailing_occupied :many
SELECT s.id, count(t.id) FILTER (WHERE t.refunded = 0) AS n
  FROM sailing s LEFT JOIN ticket t ON t.sailing_id = s.id GROUP BY s.id ORDER BY s.id;

-- name: sailing_cancel :opt
UPDATE sailing SET cancelled_at = :now WHERE id = :id AND cancelled_at IS NULL RETURNING id, sold;

-- name: sailing_gaps :many
SELECT id, (leaves_at - lag(leaves_at) OVER (PARTITION BY route_code ORDER BY leaves_at, id)) / 60000 AS minutes
  FROM sailing ORDER BY id;

-- name: sailing_month_later :many
SELECT id, date(leaves_at / 1000, 'unixepoch', '+1 month') AS day FROM sailing ORDER BY id;

-- name: sailing_weekend :many
SELECT id FROM sailing WHERE strftime('%w', leaves_at / 1000, 'unixepoch') IN ('5', '6') ORDER BY id;

-- name: sailing_full :many
SELECT x.id FROM sailing x JOIN ship s ON s.id = x.ship_id WHERE x.sold * 100 / s.capacity >= 95 ORDER BY x.id;

-- name: sailing_mean :many
SELECT route_code, CAST(avg(sold) AS INTEGER) AS mean FROM sailing GROUP BY route_code ORDER BY route_code;

-- name: sailing_recent :many
SELECT id FROM sailing WHERE leaves_at > (unixepoch() - 86400) * 1000 ORDER BY id;

-- name: sailing_drop :rows
DELETE FROM sailing WHERE ship_id = :ship AND cancelled_at IS NOT :spared;
