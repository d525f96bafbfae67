-- name: session_start :opt
INSERT INTO session (id, zone_id, plate, started_at)
SELECT :id, z.id, :plate, :now FROM zone z
 WHERE z.code = :code AND z.active
   AND NOT EXISTS (SELECT 1 FROM session s WHERE s.plate = :plate AND s.ended_at IS NULL)
RETURNING id, zone_id;

-- name: session_end :rows
UPDATE session SET ended_at = max(:now, started_at), paid_cents = :cents WHERE id = :id AND ended_at IS NULL;

-- name: session_revenue :many
SELECT strftime('%Y-%m', started_at, 'unixepoch') AS month, sum(coalesce(paid_cents, 0)) AS cents
  FROM session WHERE zone_id = :zone GROUP BY month ORDER BY month;

-- name: session_by_hour :many
SELECT started_at % 86400 / 3600 AS hour, count(*) AS n FROM session GROUP BY hour ORDER BY hour;

-- name: session_last :many
SELECT plate, id, zone_id FROM (
  SELECT plate, id, zone_id, row_number() OVER (PARTITION BY plate ORDER BY started_at DESC, id DESC) AS nth FROM session
) WHERE nth = 1 ORDER BY plate;

-- name: session_forgotten :many
SELECT id, plate FROM session WHERE ended_at IS NULL AND started_at < unixepoch() - 7200 ORDER BY id;

-- name: session_gaps :many
SELECT id, started_at - lag(ended_at) OVER (PARTITION BY plate ORDER BY started_at, id) AS gap FROM session ORDER BY id;

-- name: session_hours :many
SELECT id, (ended_at - started_at) / 3600 AS hours FROM session WHERE ended_at IS NOT NULL ORDER BY id;

-- name: session_average :many
SELECT zone_id, avg(paid_cents) AS cents FROM session GROUP BY zone_id ORDER BY zone_id;

-- name: session_cashless :many
SELECT zone_id, count(*) FILTER (WHERE method <> 'coin') AS n FROM session GROUP BY zone_id ORDER BY zone_id;

-- name: session_overstay :many
SELECT s.id FROM session s JOIN zone z ON z.id = s.zone_id
 WHERE s.ended_at - s.started_at > 60 * json_extract(z.rules, '$.max_minutes') ORDER BY s.id;

-- name: session_today :many
SELECT id FROM session WHERE date(started_at, 'unixepoch') = date('now') ORDER BY id;

-- name: session_page :many
SELECT id, started_at FROM session WHERE (started_at, id) < (:before, :id) ORDER BY started_at DESC, id DESC LIMIT 4;

-- name: session_takings :one
SELECT CAST(total(paid_cents) AS INTEGER) AS cents FROM session WHERE plate = :plate;
