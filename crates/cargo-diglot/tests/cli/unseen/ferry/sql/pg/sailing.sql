-- name: sailing_day :many
-- param: day date
SELECT id FROM sailing WHERE (leaves_at AT TIME ZONE 'UTC')::date = :day ORDER BY leaves_at, id;

-- name: sailing_next :many
SELECT id, leaves_at FROM sailing WHERE leaves_at > :after OR leaves_at = :after AND id > :id ORDER BY leaves_at, id LIMIT 3;

-- name: sailing_occupied :many
SELECT s.id, COALESCE(sum(CASE WHEN NOT t.refunded THEN 1 ELSE 0 END), 0)::bigint AS n
  FROM sailing s LEFT JOIN ticket t ON t.sailing_id = s.id GROUP BY s.id ORDER BY s.id;

-- name: sailing_cancel :opt
UPDATE sailing SET cancelled_at = COALESCE(cancelled_at, :now) WHERE id = :id AND cancelled_at IS NULL RETURNING id, sold;

-- name: sailing_gaps :many
SELECT id, floor(extract(epoch FROM leaves_at - lag(leaves_at) OVER (PARTITION BY route_code ORDER BY leaves_at, id)) / 60)::bigint AS minutes
  FROM sailing ORDER BY id;

-- name: sailing_month_later :many
SELECT id, to_char(leaves_at AT TIME ZONE 'UTC' + interval '1 month', 'YYYY-MM-DD') AS day FROM sailing ORDER BY id;

-- name: sailing_weekend :many
SELECT id FROM sailing WHERE extract(isodow FROM leaves_at AT TIME ZONE 'UTC') IN (6, 7) ORDER BY id;

-- name: sailing_full :many
SELECT x.id FROM sailing x JOIN ship s ON s.id = x.ship_id WHERE x.sold * 100.0 / s.capacity > 95 ORDER BY x.id;

-- name: sailing_mean :many
SELECT route_code, round(avg(sold))::bigint AS mean FROM sailing GROUP BY route_code ORDER BY route_code;

-- name: sailing_recent :many
SELECT id FROM sailing WHERE leaves_at > date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' ORDER BY id;

-- name: sailing_drop :rows
DELETE FROM sailing WHERE ship_id = :ship AND cancelled_at <> :spared;
