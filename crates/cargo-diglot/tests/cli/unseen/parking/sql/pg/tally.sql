-- name: tally_bump :one
-- param: day date
INSERT INTO tally AS t (zone_id, day, kind, n) VALUES (:zone, :day, 'entry', 1)
ON CONFLICT (zone_id, day, kind) DO UPDATE SET n = t.n + EXCLUDED.n
RETURNING n;

-- name: tally_weeks :many
SELECT date_trunc('week', day)::date AS monday, sum(n)::bigint AS n FROM tally WHERE kind = 'entry' GROUP BY 1 ORDER BY 1;

-- name: tally_running :many
SELECT t.zone_id, t.day,
       (SELECT sum(o.n)::bigint FROM tally o WHERE o.zone_id = t.zone_id AND o.kind = t.kind AND o.day <= t.day) AS so_far
  FROM tally t WHERE t.kind = 'entry' ORDER BY t.zone_id, t.day;

-- name: tally_fold :rows
-- param: day date
INSERT INTO tally (zone_id, day, kind, n) VALUES (:zone, :day, :kind, :n)
ON CONFLICT (zone_id, day, kind) DO UPDATE SET n = EXCLUDED.n;
