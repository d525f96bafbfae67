-- name: alarm_kinds :many
SELECT k.kind, count(a.id) AS n FROM (VALUES ('leak'), ('frost'), ('battery')) AS k (kind) LEFT JOIN alarm a ON a.kind = k.kind AND a.cleared_at IS NULL
 GROUP BY k.kind ORDER BY k.kind;

-- name: alarm_flapping :many
SELECT a.id FROM alarm a WHERE EXISTS (SELECT 1 FROM alarm b WHERE b.meter_id = a.meter_id AND (b.raised_at, b.id) < (a.raised_at, a.id)
   AND b.raised_at >= a.raised_at - interval '10 minutes') ORDER BY a.id;

-- name: alarm_latest :many
SELECT DISTINCT ON (meter_id) meter_id, id FROM alarm ORDER BY meter_id, raised_at DESC, id;

-- name: alarm_lengths :many
SELECT id, extract(epoch FROM cleared_at - raised_at)::bigint AS seconds FROM alarm ORDER BY id;

-- name: alarm_serious :many
SELECT id FROM alarm WHERE data ->> 'level' > '3' ORDER BY id;
