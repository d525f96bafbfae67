-- name: ascent_best :many
SELECT DISTINCT ON (climber_id, route_id) climber_id, route_id, style AS best FROM ascent
 ORDER BY climber_id, route_id, array_position(ARRAY['flash', 'redpoint', 'toprope', 'fell'], style);

-- name: ascent_log :many
SELECT route_id, style FROM ascent WHERE climber_id = :climber AND :before > tried_at ORDER BY tried_at DESC, route_id ASC LIMIT 4;

-- name: ascent_first :many
SELECT climber_id, route_id, style FROM (
  SELECT climber_id, route_id, style, tried_at, min(tried_at) OVER (PARTITION BY climber_id, route_id) AS first FROM ascent
) t WHERE tried_at = first ORDER BY climber_id, route_id;

-- name: ascent_rate :rows
-- param: stars i32 null
INSERT INTO ascent AS a (climber_id, route_id, tried_at, style, stars) VALUES (:climber, :route, :at, 'redpoint', :stars)
ON CONFLICT (climber_id, route_id, tried_at) DO UPDATE SET stars = COALESCE(EXCLUDED.stars, a.stars);

-- name: ascent_streaks :many
WITH d AS (SELECT DISTINCT (tried_at AT TIME ZONE 'UTC')::date AS day FROM ascent WHERE climber_id = :climber),
     n AS (SELECT day, day - (row_number() OVER (ORDER BY day))::int AS run FROM d)
SELECT min(day) AS begins, count(*) AS days FROM n GROUP BY run ORDER BY begins;

-- name: ascent_flashes :many
SELECT climber_id, round(count(*) FILTER (WHERE style = 'flash') * 100.0 / count(*))::bigint AS percent FROM ascent GROUP BY climber_id ORDER BY climber_id;

-- name: ascent_tally :many
SELECT climber_id, count(route_id) AS n FROM ascent WHERE style <> 'fell' GROUP BY climber_id ORDER BY climber_id;

-- name: ascent_hard :many
SELECT climber_id, route_id, tried_at FROM ascent WHERE falls > 3 OR style = 'fell' AND stars IS NULL ORDER BY climber_id, route_id, tried_at;

-- name: ascent_week :many
SELECT route_id, count(*) AS n FROM ascent WHERE tried_at >= :now::timestamptz - interval '7 days' GROUP BY route_id ORDER BY route_id;
