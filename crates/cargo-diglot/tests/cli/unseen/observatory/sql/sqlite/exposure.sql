-- name: exposure_recent :many
SELECT id FROM exposure WHERE taken_at >= strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-7 days') ORDER BY id;

-- name: exposure_share :many
SELECT telescope_id, 100 * sum(seconds) / sum(sum(seconds)) OVER () AS percent FROM exposure GROUP BY telescope_id ORDER BY telescope_id;

-- name: exposure_median :one
SELECT avg(seconds) AS seconds FROM (
  SELECT seconds FROM exposure WHERE target_id = :target ORDER BY seconds
   LIMIT 2 - (SELECT count(*) FROM exposure WHERE target_id = :target) % 2
  OFFSET (SELECT (count(*) - 1) / 2 FROM exposure WHERE target_id = :target)
);

-- name: exposure_reject :many
UPDATE exposure SET rejected = 1 WHERE quality < :least AND rejected = 0 RETURNING id;

-- name: exposure_following :many
SELECT id, lead(id) OVER (PARTITION BY telescope_id ORDER BY taken_at, id) AS following FROM exposure ORDER BY id;

-- name: exposure_nightly :many
SELECT date(taken_at, '-12 hours') AS night_on, count(*) AS n FROM exposure GROUP BY 1 ORDER BY 1;

-- name: exposure_week :many
SELECT id FROM exposure WHERE taken_at >= datetime(:now, '-7 days') ORDER BY id;

-- name: exposure_floor :many
-- param: least i64
SELECT id, max(quality, :least) AS quality FROM exposure ORDER BY id;

-- name: exposure_megabytes :many
SELECT id, bytes / 1048576 AS megabytes FROM exposure ORDER BY id;

-- name: exposure_rejected :one
SELECT sum(rejected) AS n FROM exposure WHERE target_id = :target;

-- name: exposure_doubles :many
SELECT a.id, b.id AS other FROM exposure a JOIN exposure b ON b.target_id = a.target_id AND b.taken_at = a.taken_at AND a.id < b.id
 ORDER BY a.id, b.id;

-- name: exposure_running :many
SELECT id, sum(seconds) OVER (PARTITION BY telescope_id ORDER BY taken_at) AS so_far FROM exposure ORDER BY id;

-- name: exposure_clock :many
SELECT id, strftime('%H:%M', taken_at) AS clock FROM exposure WHERE target_id = :target ORDER BY id;
