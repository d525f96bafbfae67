-- name: ascent_best :many
SELECT climber_id, route_id, CASE min(CASE style WHEN 'flash' THEN 1 WHEN 'redpoint' THEN 2 WHEN 'toprope' THEN 3 ELSE 4 END)
       WHEN 1 THEN 'flash' WHEN 2 THEN 'redpoint' WHEN 3 THEN 'toprope' ELSE 'fell' END AS best
  FROM ascent GROUP BY climber_id, route_id ORDER BY climber_id, route_id;

-- name: ascent_log :many
SELECT route_id, style FROM ascent WHERE climber_id = :climber AND tried_at < :before ORDER BY tried_at DESC, route_id LIMIT 4;

-- name: ascent_first :many
SELECT a.climber_id, a.route_id, a.style FROM ascent a WHERE NOT EXISTS (
  SELECT 1 FROM ascent o WHERE o.climber_id = a.climber_id AND o.route_id = a.route_id AND o.tried_at < a.tried_at
) ORDER BY a.climber_id, a.route_id;

-- name: ascent_rate :rows
-- param: stars i32 null
INSERT INTO ascent (climber_id, route_id, tried_at, style, stars) VALUES (:climber, :route, :at, 'redpoint', :stars)
ON CONFLICT DO UPDATE SET stars = ifnull(excluded.stars, stars);

-- name: ascent_streaks :many
WITH d AS (SELECT DISTINCT date(tried_at / 1000, 'unixepoch') AS day FROM ascent WHERE climber_id = :climber),
     n AS (SELECT day, julianday(day) - row_number() OVER (ORDER BY day) AS run FROM d)
SELECT min(day) AS begins, count(*) AS days FROM n GROUP BY run ORDER BY begins;

-- name: ascent_flashes :many
SELECT climber_id, sum(style = 'flash') * 100 / count(*) AS percent FROM ascent GROUP BY climber_id ORDER BY climber_id;

-- name: ascent_tally :many
SELECT climber_id, count(DISTINCT route_id) AS n FROM ascent WHERE style <> 'fell' GROUP BY climber_id ORDER BY climber_id;

-- name: ascent_hard :many
SELECT climber_id, route_id, tried_at FROM ascent WHERE (falls > 3 OR style = 'fell') AND stars IS NULL ORDER BY climber_id, route_id, tried_at;

-- name: ascent_week :many
SELECT route_id, count(*) AS n FROM ascent WHERE tried_at >= :now - 7 * 86400 GROUP BY route_id ORDER BY route_id;
