-- name: tally_bump :one
-- param: day date
INSERT INTO tally (zone_id, day, kind, n) VALUES (:zone, :day, 'entry', 1)
ON CONFLICT (zone_id, day, kind) DO UPDATE SET n = n + 1
RETURNING n;

-- name: tally_weeks :many
SELECT date(day, '-6 days', 'weekday 1') AS monday, sum(n) AS n FROM tally WHERE kind = 'entry' GROUP BY monday ORDER BY monday;

-- name: tally_running :many
SELECT zone_id, day, sum(n) OVER (PARTITION BY zone_id ORDER BY day) AS so_far
  FROM tally WHERE kind = 'entry' ORDER BY zone_id, day;

-- name: tally_fold :rows
-- param: day date
INSERT INTO tally (zone_id, day, kind, n) VALUES (:zone, :day, :kind, :n)
ON CONFLICT (zone_id, day, kind) DO UPDATE SET n = max(n, excluded.n);
