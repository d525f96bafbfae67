-- name: session_start :opt
INSERT INTO session (id, zone_id, plate, started_at)
SELECT :id, z.id, :plate, :now FROM zone z LEFT JOIN session s ON s.plate = :plate AND s.ended_at IS NULL
 WHERE z.code = :code AND z.active AND s.id IS NULL
RETURNING id, zone_id;

-- name: session_end :rows
UPDATE session SET ended_at = GREATEST(:now, started_at), paid_cents = :cents WHERE id = :id AND ended_at IS NULL;

-- name: session_revenue :many
SELECT to_char(date_trunc('month', started_at AT TIME ZONE 'UTC'), 'YYYY-MM') AS month, COALESCE(sum(paid_cents), 0)::bigint AS cents
  FROM session WHERE zone_id = :zone GROUP BY 1 ORDER BY 1;

-- name: session_by_hour :many
SELECT extract(hour FROM started_at AT TIME ZONE 'UTC')::bigint AS hour, count(*) AS n FROM session GROUP BY 1 ORDER BY 1;

-- name: session_last :many
SELECT DISTINCT ON (plate) plate, id, zone_id FROM session ORDER BY plate, started_at DESC, id DESC;

-- name: session_forgotten :many
SELECT id, plate FROM session WHERE ended_at IS NULL AND started_at < now() - interval '2 hours' ORDER BY id;

-- name: session_gaps :many
SELECT id, floor(extract(epoch FROM started_at - lag(ended_at) OVER (PARTITION BY plate ORDER BY started_at, id)))::bigint AS gap
  FROM session ORDER BY id;

-- name: session_hours :many
SELECT id, extract(hour FROM ended_at - started_at)::bigint AS hours FROM session WHERE ended_at IS NOT NULL ORDER BY id;

-- name: session_average :many
SELECT zone_id, avg(COALESCE(paid_cents, 0)::double precision) AS cents FROM session GROUP BY zone_id ORDER BY zone_id;

-- name: session_cashless :many
SELECT zone_id, count(*) - count(*) FILTER (WHERE method = 'coin') AS n FROM session GROUP BY zone_id ORDER BY zone_id;

-- name: session_overstay :many
SELECT s.id FROM session s JOIN zone z ON z.id = s.zone_id
 WHERE s.ended_at - s.started_at > make_interval(mins => COALESCE((z.rules ->> 'max_minutes')::int, 0)) ORDER BY s.id;

-- name: session_today :many
SELECT id FROM session WHERE started_at > now() - interval '1 day' AND started_at <= now() ORDER BY id;

-- name: session_page :many
SELECT id, started_at FROM session WHERE started_at <= :before AND id < :id ORDER BY started_at DESC, id DESC LIMIT 4;

-- name: session_takings :one
SELECT sum(paid_cents)::bigint AS cents FROM session WHERE plate = :plate;
