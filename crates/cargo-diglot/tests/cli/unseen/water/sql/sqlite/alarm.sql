-- name: alarm_kinds :many
SELECT k.value AS kind, (SELECT count(*) FROM alarm a WHERE a.kind = k.value AND a.cleared_at IS NULL) AS n FROM json_each('["leak","frost","battery"]') k
 ORDER BY k.value;

-- name: alarm_flapping :many
SELECT id FROM (SELECT id, unixepoch(raised_at) - unixepoch(lag(raised_at) OVER (PARTITION BY meter_id ORDER BY raised_at, id)) AS pause FROM alarm)
 WHERE pause <= 600 ORDER BY id;

-- name: alarm_latest :many
SELECT meter_id, id FROM (
  SELECT meter_id, id, row_number() OVER (PARTITION BY meter_id ORDER BY raised_at DESC, id DESC) AS place FROM alarm
) WHERE place = 1 ORDER BY meter_id;

-- name: alarm_lengths :many
SELECT id, unixepoch(coalesce(cleared_at, raised_at)) - unixepoch(raised_at) AS seconds FROM alarm ORDER BY id;

-- name: alarm_serious :many
SELECT id FROM alarm WHERE data ->> '$.level' > 3 ORDER BY id;
