-- name: exposure_recent :many
SELECT id FROM exposure WHERE taken_at >= now() - interval '7 days' ORDER BY id;

-- name: exposure_share :many
SELECT telescope_id, 100 * sum(seconds)::bigint / (SELECT sum(seconds)::bigint FROM exposure) AS percent
  FROM exposure GROUP BY telescope_id ORDER BY telescope_id;

-- name: exposure_median :one
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds FROM exposure WHERE target_id = :target;

-- name: exposure_reject :many
UPDATE exposure SET rejected = true WHERE quality < :least AND NOT rejected RETURNING id;

-- name: exposure_following :many
SELECT e.id, f.id AS following
  FROM exposure e
  LEFT JOIN LATERAL (SELECT o.id FROM exposure o
                      WHERE o.telescope_id = e.telescope_id AND (o.taken_at, o.id) > (e.taken_at, e.id)
                      ORDER BY o.taken_at, o.id LIMIT 1) AS f ON true
 ORDER BY e.id;

-- name: exposure_nightly :many
SELECT ((taken_at AT TIME ZONE 'UTC') - interval '12 hours')::date AS night_on, count(*) AS n FROM exposure GROUP BY 1 ORDER BY 1;

-- name: exposure_week :many
SELECT id FROM exposure WHERE taken_at >= :now::timestamptz - interval '7 days' ORDER BY id;

-- name: exposure_floor :many
-- param: least i64
SELECT id, GREATEST(quality, :least) AS quality FROM exposure ORDER BY id;

-- name: exposure_megabytes :many
SELECT id, (bytes / 1048576.0)::bigint AS megabytes FROM exposure ORDER BY id;

-- name: exposure_rejected :one
SELECT count(*) FILTER (WHERE rejected) AS n FROM exposure WHERE target_id = :target;

-- name: exposure_doubles :many
SELECT a.id, b.id AS other FROM exposure a JOIN exposure b ON b.target_id = a.target_id AND b.taken_at = a.taken_at AND a.id <> b.id
 ORDER BY a.id, b.id;

-- name: exposure_running :many
SELECT id, (sum(seconds) OVER (PARTITION BY telescope_id ORDER BY taken_at, id ROWS UNBOUNDED PRECEDING))::bigint AS so_far
  FROM exposure ORDER BY id;

-- name: exposure_clock :many
SELECT id, to_char(taken_at AT TIME ZONE 'UTC', 'HH:MI') AS clock FROM exposure WHERE target_id = :target ORDER BY id;
