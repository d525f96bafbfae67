-- name: visit_present :many
SELECT id, name FROM climber c WHERE EXISTS (SELECT 1 FROM visit v WHERE v.climber_id = c.id AND v.out_at IS NULL) ORDER BY id;

-- name: visit_enter :rows
INSERT INTO visit (id, climber_id, in_at) SELECT :id, :climber, :now
ON CONFLICT (climber_id) WHERE out_at IS NULL DO NOTHING;

-- name: visit_leave :opt
UPDATE visit SET out_at = GREATEST(in_at, :now) WHERE climber_id = :climber AND out_at IS NULL AND NOT in_at > :now RETURNING id;

-- name: visit_minutes :many
SELECT id, trunc(extract(epoch FROM out_at - in_at) / 60)::bigint AS minutes FROM visit WHERE out_at IS NOT NULL ORDER BY id;

-- name: visit_crowd :many
SELECT v.id, count(o.id) AS others FROM visit v
  LEFT JOIN visit o ON o.id <> v.id AND o.in_at <= v.in_at AND COALESCE(o.out_at, 'infinity') > v.in_at GROUP BY v.id ORDER BY v.id;

-- name: visit_weekdays :many
SELECT extract(dow FROM in_at AT TIME ZONE 'UTC')::bigint AS weekday, count(*) AS n FROM visit GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: visit_sitting :many
-- param: now timestamp
SELECT climber_id, sum(extract(epoch FROM out_at - in_at))::bigint AS seconds FROM visit WHERE :now::timestamptz IS NOT NULL GROUP BY climber_id ORDER BY climber_id;

-- name: visit_again :rows
INSERT INTO visit (id, climber_id, in_at) VALUES (:id, :climber, :now) ON CONFLICT (climber_id) WHERE out_at IS NULL DO NOTHING;

-- name: visit_of_day :many
-- param: day date
SELECT id FROM visit WHERE in_at BETWEEN :day::date::timestamp AT TIME ZONE 'UTC' AND (:day::date + 1)::timestamp AT TIME ZONE 'UTC' ORDER BY id;

-- name: visit_hours :many
SELECT id, round(extract(epoch FROM out_at - in_at) / 3600)::bigint AS hours FROM visit WHERE out_at > in_at ORDER BY id;
