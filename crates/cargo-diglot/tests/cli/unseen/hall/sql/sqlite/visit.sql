-- name: visit_present :many
SELECT c.id, c.name FROM climber c JOIN visit v ON v.climber_id = c.id WHERE v.out_at IS NULL ORDER BY c.id;

-- name: visit_enter :rows
INSERT INTO visit (id, climber_id, in_at) VALUES (:id, :climber, :now) ON CONFLICT (climber_id) WHERE out_at IS NULL DO NOTHING;

-- name: visit_leave :opt
UPDATE visit SET out_at = :now WHERE climber_id = :climber AND out_at IS NULL AND in_at <= :now RETURNING id;

-- name: visit_minutes :many
SELECT id, (unixepoch(out_at) - unixepoch(in_at)) / 60 AS minutes FROM visit WHERE out_at IS NOT NULL ORDER BY id;

-- name: visit_crowd :many
SELECT v.id, (SELECT count(*) FROM visit o WHERE o.id <> v.id AND o.in_at <= v.in_at AND (o.out_at IS NULL OR o.out_at > v.in_at)) AS others
  FROM visit v ORDER BY v.id;

-- name: visit_weekdays :many
SELECT CAST(strftime('%w', in_at) AS INTEGER) AS weekday, count(*) AS n FROM visit GROUP BY weekday ORDER BY n DESC, weekday;

-- name: visit_sitting :many
-- param: now timestamp
SELECT climber_id, sum(unixepoch(coalesce(out_at, :now)) - unixepoch(in_at)) AS seconds FROM visit GROUP BY climber_id ORDER BY climber_id;

-- name: visit_again :rows
INSERT INTO visit (id, climber_id, in_at) VALUES (:id, :climber, :now)
ON CONFLICT (climber_id) WHERE out_at IS NULL DO UPDATE SET in_at = excluded.in_at;

-- name: visit_of_day :many
-- param: day date
SELECT id FROM visit WHERE date(in_at) = :day ORDER BY id;

-- name: visit_hours :many
SELECT id, (unixepoch(out_at) - unixepoch(in_at)) / 3600 AS hours FROM visit WHERE out_at > in_at ORDER BY id;
